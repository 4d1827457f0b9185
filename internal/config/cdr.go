package config

import (
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CDR is where call records go.
type CDR struct {
	// Path is the file of JSON Lines that records are appended to: the spool, from which
	// sinks take them.
	Path string
	// RotateSize is the size in bytes at which the file is renamed and a new one begun.
	RotateSize int64
	// CloseAfter is for how long another node must be gone before this one writes records of its calls
	// (DEC-24).
	CloseAfter time.Duration
	// Interim is how often a call that is up has a record of kind interim; 0 = never.
	Interim time.Duration
	// Keep is for how long files of the spool stay that all sinks have; 0 = for ever.
	Keep  time.Duration
	Sinks []Sink
	Index CDRIndex
}

// Sink is where records are passed on to. What does not belong to its type is zero.
type Sink struct {
	Name string
	// Type is file, http or syslog; Format jsonl, json or csv; Profile one of Profiles.
	Type, Format, Profile string
	// Kinds are kinds of records; empty = those of the profile.
	Kinds []string
	// Oldest has a new sink begin with the oldest record there is.
	Oldest bool
	// Batch is how many records are passed on at once at most.
	Batch   int
	Timeout time.Duration

	// Path, RotateSize in bytes and RotateEvery (0 = never) are of type file.
	Path        string
	RotateSize  int64
	RotateEvery time.Duration

	// URL and Authorization are of type http; the latter is that header's value.
	URL           string
	Authorization Secret

	// Address is host:port and Transport udp, tcp or tls, of type syslog.
	Address, Transport string

	// TLS names the files of the authorities that vouch for the other side, and of a
	// certificate of our own.
	TLS TLS
}

type fileCDR struct {
	Path       string     `mapstructure:"path"`
	RotateSize string     `mapstructure:"rotate_size"`
	CloseAfter string     `mapstructure:"close_after"`
	Interim    string     `mapstructure:"interim"`
	Keep       string     `mapstructure:"keep"`
	Sinks      []fileSink `mapstructure:"sinks"`

	Index fileCDRIndex `mapstructure:"index"`
}

type fileSink struct {
	Name        string        `mapstructure:"name"`
	Type        string        `mapstructure:"type"`
	Format      string        `mapstructure:"format"`
	Profile     string        `mapstructure:"profile"`
	Kinds       []string      `mapstructure:"kinds"`
	From        string        `mapstructure:"from"`
	Batch       int           `mapstructure:"batch"`
	Timeout     string        `mapstructure:"timeout"`
	Path        string        `mapstructure:"path"`
	RotateSize  string        `mapstructure:"rotate_size"`
	RotateEvery string        `mapstructure:"rotate_every"`
	URL         string        `mapstructure:"url"`
	AuthFile    string        `mapstructure:"auth_file"`
	Address     string        `mapstructure:"address"`
	Transport   string        `mapstructure:"transport"`
	TLS         fileClientTLS `mapstructure:"tls"`
}

// defaultCDR is what an empty section stands for.
func defaultCDR() fileCDR {
	return fileCDR{RotateSize: "100MiB", CloseAfter: "60s", Interim: "0s", Keep: "0s", Index: defaultCDRIndex()}
}

// Profiles are the words of cdr.sinks[].profile.
var Profiles = []string{"46labs", "asterisk", "cgrates", "freeswitch", "libresbc", "tandem"}

// longest is the longest of durations that mean days.
const longest = 10 * 365 * 24 * time.Hour

func (c *checker) cdr(f *fileCDR, dataDir string) CDR {
	out := CDR{
		Path:       c.path(f.Path),
		RotateSize: c.size("cdr.rotate_size", f.RotateSize, 1<<20, 1<<40),
		CloseAfter: c.duration("cdr.close_after", f.CloseAfter, time.Second, 24*time.Hour),
		Interim:    c.duration("cdr.interim", f.Interim, 0, 24*time.Hour),
		Keep:       c.duration("cdr.keep", f.Keep, 0, longest),
	}
	if out.Path == "" {
		out.Path = filepath.Join(dataDir, "cdr.jsonl")
	}
	if out.Interim > 0 && out.Interim < 10*time.Second {
		c.add("cdr.interim", "write 10s or more, or 0s for none", "%s would fill the disk", f.Interim)
	}
	out.Index = c.cdrIndex(&f.Index, dataDir, out.Path)
	names, paths := map[string]string{}, map[string]string{out.Path: "cdr.path"}
	for i := range f.Sinks {
		key := index("cdr.sinks", i)
		s := c.sink(key, &f.Sinks[i])
		c.unique(names, join(key, "name"), s.Name)
		if s.Name == "jsonl" {
			c.add(join(key, "name"), "write another name", "the spool bears it in metrics")
		}
		c.unique(paths, join(key, "path"), s.Path)
		out.Sinks = append(out.Sinks, s)
	}
	return out
}

func (c *checker) sink(key string, f *fileSink) Sink {
	s := Sink{
		Name: c.name(join(key, "name"), f.Name, "billing"),
		Type: c.word(join(key, "type"), f.Type, "", "file", "http", "syslog"), Profile: c.word(join(key, "profile"), f.Profile, "tandem", Profiles...),
		Oldest: c.word(join(key, "from"), f.From, "now", "now", "oldest") == "oldest",
		Batch:  c.number(join(key, "batch"), orNumber(f.Batch, 500), 1, 10_000), Timeout: c.duration(join(key, "timeout"), or(f.Timeout, "10s"), 100*time.Millisecond, 5*time.Minute),
	}
	for n, k := range f.Kinds {
		s.Kinds = append(s.Kinds, c.word(index(join(key, "kinds"), n), k, "", "call", "handoff", "interim"))
	}
	formats := []string{"jsonl", "csv"}
	if f.Type == "http" {
		formats = append(formats, "json")
	}
	s.Format = c.word(join(key, "format"), f.Format, "jsonl", formats...)
	// What is only for other types must not be there: it would look as if it did something.
	c.only(key, f, "file", map[string]string{"path": f.Path, "rotate_size": f.RotateSize, "rotate_every": f.RotateEvery})
	c.only(key, f, "http", map[string]string{"url": f.URL, "auth_file": f.AuthFile})
	c.only(key, f, "syslog", map[string]string{"address": f.Address, "transport": f.Transport})
	switch f.Type {
	case "file":
		c.sinkFile(key, f, &s)
	case "http":
		c.sinkURL(key, f, &s)
	case "syslog":
		s.Address = c.hostPort(join(key, "address"), f.Address, "syslog.example.net:6514")
		s.Transport = c.word(join(key, "transport"), f.Transport, "udp", "udp", "tcp", "tls")
	}
	c.sinkTLS(key, f, &s)
	return s
}

func (c *checker) sinkFile(key string, f *fileSink, s *Sink) {
	if f.Path == "" {
		c.add(join(key, "path"), "name the file to write", "missing")
	}
	s.Path = c.path(f.Path)
	s.RotateSize = c.size(join(key, "rotate_size"), or(f.RotateSize, "100MiB"), 1<<20, 1<<40)
	s.RotateEvery = c.duration(join(key, "rotate_every"), or(f.RotateEvery, "0s"), 0, longest)
	if s.RotateEvery > 0 && s.RotateEvery < time.Minute {
		c.add(join(key, "rotate_every"), "write 1m or more, or 0s for never", "%s is too often", f.RotateEvery)
	}
}

func (c *checker) sinkURL(key string, f *fileSink, s *Sink) {
	u, err := url.Parse(f.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		c.add(join(key, "url"), "for example https://billing.example.net/cdrs, without a user: auth_file names a file for that", "not an address of http or https")
		return
	}
	s.URL = f.URL
	if f.AuthFile == "" {
		return
	}
	value, err := readSecret(c.path(f.AuthFile))
	switch {
	case err != nil:
		c.add(join(key, "auth_file"), "name a file of mode 0600 that holds the value of the Authorization header alone", "%v", err)
	case value == "" || strings.ContainsAny(value, "\r\n\x00"):
		c.add(join(key, "auth_file"), "write one line, such as Bearer and a token", "it holds no value of a header")
	}
	s.Authorization = NewSecret([]byte(value))
}

func (c *checker) sinkTLS(key string, f *fileSink, s *Sink) {
	key = join(key, "tls")
	if f.TLS == (fileClientTLS{}) {
		return
	}
	if !strings.HasPrefix(f.URL, "https:") && f.Transport != "tls" {
		c.add(key, "remove it, or write an https url or transport: tls", "only for connections with TLS")
	}
	if (f.TLS.Cert == "") != (f.TLS.Key == "") {
		c.add(key, "name both cert and key, or neither", "one of cert and key is missing")
	}
	s.TLS = TLS{Cert: c.file(join(key, "cert"), f.TLS.Cert), Key: c.file(join(key, "key"), f.TLS.Key), CA: c.file(join(key, "ca"), f.TLS.CA)}
	c.pair(key, s.TLS)
}

// only notes values that are for one type of sink and stand at another one.
func (c *checker) only(key string, f *fileSink, kind string, values map[string]string) {
	if f.Type == kind {
		return
	}
	for name, v := range values {
		if v != "" {
			c.add(join(key, name), "remove it, or write type: "+kind, "only for sinks of type %s", kind)
		}
	}
}

// word is one of several; an empty one is the default, which is "" where one is needed.
func (c *checker) word(key, value, standard string, words ...string) string {
	switch {
	case value == "" && standard != "":
		return standard
	case value == "":
		c.add(key, "write "+strings.Join(words, ", "), "missing")
	case !slices.Contains(words, value):
		c.add(key, "write one of "+strings.Join(words, ", "), "%s is none of these", strconv.Quote(value))
	}
	return value
}

func or(value, standard string) string {
	if value == "" {
		return standard
	}
	return value
}

func orNumber(value, standard int) int {
	if value == 0 {
		return standard
	}
	return value
}
