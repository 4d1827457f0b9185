package contexts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tandem-sbc/tandem/internal/durable"
)

// maxFile bounds the file in bytes: some thousand nodes.
const maxFile = 1 << 20

// Context is one node, or one address behind which nodes answer.
type Context struct {
	Name string `yaml:"name" json:"name"`
	// Address is unix:/path, ip:port of loopback, or https://host:port for admin.remote of a node.
	Address string `yaml:"address" json:"address"`
	// TokenFile holds the token of the node's admin.token_file.
	TokenFile string `yaml:"token_file,omitempty" json:"token_file,omitempty"`
	// CA is a PEM file of authorities in place of the system's; for https.
	CA string `yaml:"ca,omitempty" json:"ca,omitempty"`
	// Cert and Key prove the client; for https.
	Cert string `yaml:"cert,omitempty" json:"cert,omitempty"`
	Key  string `yaml:"key,omitempty" json:"key,omitempty"`
	// ServerName is the name in the node's certificate, where it is not the host of Address.
	ServerName string `yaml:"server_name,omitempty" json:"server_name,omitempty"`
}

// File is the content of a contexts file.
type File struct {
	Current  string    `yaml:"current,omitempty" json:"current,omitempty"`
	Contexts []Context `yaml:"contexts" json:"contexts"`
}

// Read reads a contexts file. A file that is not there is an empty one. Files that it names by
// relative paths are beside it.
func Read(path string) (*File, error) {
	in, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("contexts: %w", err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("contexts: %w", err)
	case len(text) > maxFile:
		return nil, fmt.Errorf("contexts: %s: larger than %d bytes", path, maxFile)
	}
	f, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("contexts: %s: %w", path, err)
	}
	return f, nil
}

// Parse reads the text of a contexts file. Unknown keys, names that repeat and addresses that are
// none are faults, and all of them are told.
func Parse(text []byte) (*File, error) {
	f := &File{}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(f); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("a second document stands behind the first one: nobody would read it")
	}
	var faults []error
	seen := map[string]bool{}
	for i, c := range f.Contexts {
		at := fmt.Sprintf("contexts[%d]", i)
		if c.Name == "" || strings.ContainsAny(c.Name, " \t\n") {
			faults = append(faults, fmt.Errorf("%s.name: %q is not one word", at, c.Name))
		}
		if seen[c.Name] {
			faults = append(faults, fmt.Errorf("%s.name: %q stands there twice", at, c.Name))
		}
		seen[c.Name] = true
		if err := c.check(); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", at, err))
		}
	}
	if f.Current != "" && !seen[f.Current] {
		faults = append(faults, fmt.Errorf("current: there is no context %q; there are %s", f.Current, f.names()))
	}
	return f, errors.Join(faults...)
}

// check says what is wrong with a context.
func (c Context) check() error {
	if err := CheckAddress(c.Address); err != nil {
		return err
	}
	switch secure := strings.HasPrefix(c.Address, "https://"); {
	case !secure && (c.CA != "" || c.Cert != "" || c.Key != "" || c.ServerName != ""):
		return errors.New("ca, cert, key and server_name are for addresses that begin with https://")
	case (c.Cert == "") != (c.Key == ""):
		return errors.New("name both cert and key, or neither")
	}
	return nil
}

// CheckAddress says why a text is no address of an admin API.
func CheckAddress(address string) error {
	const right = "write unix:/run/tandem/admin.sock, 127.0.0.1:8080 or https://sbc.example.com:8443"
	if path, unix := strings.CutPrefix(address, "unix:"); unix {
		if path == "" {
			return fmt.Errorf("address: no path behind unix: ; %s", right)
		}
		return nil
	}
	if strings.HasPrefix(address, "https://") {
		u, err := url.Parse(address)
		if err == nil && u.User != nil {
			return fmt.Errorf("address: a name or a password stands before the host; %s", right) // and is not told on
		}
		if err != nil || u.Hostname() == "" || u.Port() == "" || strings.TrimRight(address, "/") != "https://"+u.Host {
			return fmt.Errorf("address: %q has more or less than a host and a port; %s", address, right)
		}
		if port, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
			return fmt.Errorf("address: %q has no port between 1 and 65535; %s", address, right)
		}
		return nil
	}
	if _, err := netip.ParseAddrPort(address); err != nil {
		return fmt.Errorf("address: %q is not an admin address; %s", address, right)
	}
	return nil
}

// names lists the contexts for a person.
func (f *File) names() string {
	if len(f.Contexts) == 0 {
		return "none"
	}
	list := make([]string, len(f.Contexts))
	for i, c := range f.Contexts {
		list[i] = c.Name
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// Find returns the context of a name; the error names those that are there.
func (f *File) Find(name string) (Context, error) {
	for _, c := range f.Contexts {
		if c.Name == name {
			return c, nil
		}
	}
	return Context{}, fmt.Errorf("there is no context %q; there are %s", name, f.names())
}

// Beside makes the paths of a context start at the directory of the contexts file.
func (c Context) Beside(file string) Context {
	for _, p := range []*string{&c.TokenFile, &c.CA, &c.Cert, &c.Key} {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(filepath.Dir(file), *p)
		}
	}
	return c
}

// Write replaces a contexts file in one step.
func (f *File) Write(path string) error {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(f), enc.Close()); err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	if err := durable.Replace(path, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("contexts: %w", err)
	}
	return nil
}

// Host is the host and port of an https address.
func Host(address string) string {
	return strings.TrimRight(strings.TrimPrefix(address, "https://"), "/")
}

// Name is the host of an https address without its port.
func Name(address string) string {
	host, _, err := net.SplitHostPort(Host(address))
	if err != nil {
		return Host(address)
	}
	return host
}
