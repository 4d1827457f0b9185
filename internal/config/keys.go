package config

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ClusterTLS names the files by which this node proves itself to the others, in PEM.
type ClusterTLS struct {
	// Cert is the node's certificate with its chain and Key its private key; empty: streams between nodes are without TLS.
	Cert, Key string
	// CA holds the authorities that certificates of nodes must come from.
	CA string
	// AuthorityKey is the private key of one of them, on nodes that admit others by join tokens; mostly empty.
	AuthorityKey string
	// Plain: streams without TLS are taken too, for the time in which a cluster changes over.
	Plain bool
}

// seedMark begins the line of a key file that keeps the seed.
const seedMark = "seed="

// KeyFile is what stands in a file of cluster keys.
type KeyFile struct {
	// Keys are the secrets; the first is the one in use.
	Keys []Secret
	// Seed keys the hashes that all nodes compute alike; it stays when the key that it came from goes. 0: it is that of the first key.
	Seed uint64
}

// ParseKeyFile reads the text of a key file: one key a line, the one to use first, and at most one line
// seed=HEX. Its error does not repeat the text.
func ParseKeyFile(text string) (KeyFile, error) {
	var f KeyFile
	for word := range strings.FieldsSeq(text) {
		if digits, ok := strings.CutPrefix(word, seedMark); ok {
			n, err := strconv.ParseUint(digits, 16, 64)
			if err != nil || n == 0 || f.Seed != 0 {
				return KeyFile{}, fmt.Errorf("the line %s must be there once, with 16 hexadecimal digits", seedMark)
			}
			f.Seed = n
			continue
		}
		k, err := ParseKey(word)
		if err != nil {
			return KeyFile{}, fmt.Errorf("key %d: %w", len(f.Keys)+1, err)
		}
		f.Keys = append(f.Keys, k)
	}
	if len(f.Keys) == 0 {
		return KeyFile{}, fmt.Errorf("there is no key in it")
	}
	return f, nil
}

// Format is the text of a key file. It gives the secrets away.
func (f KeyFile) Format() string {
	var b strings.Builder
	for _, k := range f.Keys {
		b.WriteString(encodeSecret(k.b) + "\n")
	}
	if f.Seed != 0 {
		fmt.Fprintf(&b, "%s%016x\n", seedMark, f.Seed)
	}
	return b.String()
}

// ReadKeyFile reads a key file that nobody else on this machine may use.
func ReadKeyFile(path string) (KeyFile, error) {
	text, err := readSecret(path)
	if err != nil {
		return KeyFile{}, err
	}
	f, err := ParseKeyFile(text)
	if err != nil {
		return KeyFile{}, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// ReadPrivate reads a file that must not be open to everybody on this machine, such as a private key.
func ReadPrivate(path string) ([]byte, error) {
	if err := private(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// private fails when everybody on this machine may use a file.
func private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o007 != 0 {
		return fmt.Errorf("everybody on this machine may use %s (mode %04o): chmod 600 it, and think of who has read it", path, info.Mode().Perm())
	}
	return nil
}

// clusterTLS converts the names of the certificate files. That they fit the node is checked where they are
// read, at the start and at each reload.
func (c *checker) clusterTLS(f *fileClusterTLS) ClusterTLS {
	out := ClusterTLS{
		Cert: c.file("cluster.tls.cert", f.Cert), Key: c.private("cluster.tls.key", f.Key),
		CA: c.file("cluster.tls.ca", f.CA), AuthorityKey: c.private("cluster.tls.ca_key", f.CAKey),
	}
	named := 0
	for _, path := range []string{f.Cert, f.Key, f.CA} {
		if path != "" {
			named++
		}
	}
	switch {
	case named == 0 && (f.CAKey != "" || f.Mode != ""):
		c.add("cluster.tls", "name cert, key and ca, or remove the section", "there is no certificate")
	case named != 0 && named != 3:
		c.add("cluster.tls", "name all of cert, key and ca; `tandem cluster cert` makes them", "one of cert, key and ca is missing")
	}
	c.pair("cluster.tls", TLS{Cert: out.Cert, Key: out.Key})
	switch f.Mode {
	case "", "required":
	case "optional":
		out.Plain = true
	default:
		c.add("cluster.tls.mode", "write required or optional", "%q is not a mode", f.Mode)
	}
	return out
}

// private is a path that must name a readable file which is not open to everybody.
func (c *checker) private(key, value string) string {
	p := c.file(key, value)
	if p != "" {
		if err := private(p); err != nil {
			c.add(key, "chmod 600 it", "%v", err)
		}
	}
	return p
}
