package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/internal/contexts"
)

func (c *cli) contextCommand() *cobra.Command {
	g := group("context", "Nodes that this machine asks, by name",
		&cobra.Command{
			Use: "list", Short: "The contexts of the contexts file, and the current one", Args: arguments(),
			RunE: action(func(*cobra.Command, []string) error {
				f, path, err := c.contexts()
				if err != nil {
					return err
				}
				if len(f.Contexts) == 0 {
					fmt.Fprintf(c.err, "note: no context in %s; %s\n", path, contextsHint)
				}
				return c.print(f, func() *table {
					t := &table{head: []string{"CURRENT", "NAME", "ADDRESS", "PROOF"}}
					for _, x := range f.Contexts {
						mark := ""
						if x.Name == f.Current {
							mark = "*"
						}
						t.add(mark, x.Name, x.Address, proof(x))
					}
					return t
				})
			}),
		},
		&cobra.Command{
			Use: "use NAME", Short: "Ask this node when nothing else is said", Args: arguments("the name of a context"),
			RunE: action(func(_ *cobra.Command, args []string) error {
				f, path, err := c.contexts()
				if err != nil {
					return err
				}
				if _, err := f.Find(args[0]); err != nil {
					return noContext(f, path, err)
				}
				f.Current = args[0]
				return f.Write(path)
			}),
		},
		&cobra.Command{
			Use: "show", Short: "The node that commands ask now, and what says so", Args: arguments(),
			RunE: action(func(*cobra.Command, []string) error {
				to, err := c.node()
				if err != nil {
					return err
				}
				return c.print(to, func() *table {
					t := &table{head: []string{"NAME", "ADDRESS", "PROOF"}}
					t.add(to.Name, to.Address, proof(to))
					return t
				})
			}),
		},
	)
	g.Long = `Contexts are nodes by name, so that one machine asks any of them: tandem --context dal-1 node list. They stand in
~/.config/tandem/contexts.yaml, or in the file that TANDEM_CONTEXTS names. Terraform renders it (output contexts), or write it:

  current: dal-1
  contexts:
    - {name: here, address: "unix:/run/tandem/admin.sock"}
    - {name: dal-1, address: "https://dal-1.example.net:8443", token_file: admin.token, ca: ca.pem, server_name: dal-1.CLUSTER.tandem.internal}

Paths start at its directory. A command asks --address or --context, else TANDEM_ADDR, else TANDEM_CONTEXT, else the current one,
else the node of this machine.`
	return g
}

// contextsHint says where a contexts file comes from.
const contextsHint = "tandem context --help says what stands there; TANDEM_CONTEXTS names another file"

// noContext is the failure of a name that the file does not have.
func noContext(f *contexts.File, path string, err error) error {
	hint := "tandem context list"
	if len(f.Contexts) == 0 {
		hint = contextsHint
	}
	return fail(exitNotFound, hint, "%w in %s", err, path)
}

// proof says by what the client proves itself to a node.
func proof(x contexts.Context) string {
	switch {
	case x.Cert != "" && x.TokenFile != "":
		return "certificate and token"
	case x.Cert != "":
		return "certificate"
	case x.TokenFile != "":
		return "token"
	}
	return ""
}

// contexts reads the contexts file.
func (c *cli) contexts() (*contexts.File, string, error) {
	path := c.env("TANDEM_CONTEXTS")
	if path == "" {
		home := c.env("XDG_CONFIG_HOME")
		if home == "" {
			home = filepath.Join(c.env("HOME"), ".config")
		}
		if !filepath.IsAbs(home) {
			return &contexts.File{}, "any file: HOME is not set", nil // nobody's home: a file of the working directory may be a stranger's
		}
		path = filepath.Join(home, "tandem", "contexts.yaml")
	}
	f, err := contexts.Read(path)
	if err != nil {
		return nil, path, fail(exitFailed, "tandem context --help says what stands in it", "%w", err)
	}
	return f, path, nil
}

// node is whom to ask: what the command line says, else the environment, else the current context, else
// the node of this machine.
func (c *cli) node() (contexts.Context, error) {
	if c.client.address != "" && c.client.context != "" {
		return contexts.Context{}, usage("leave one of them out", "--address and --context both name a node")
	}
	address, name := c.client.address, c.client.context
	if address == "" && name == "" {
		address = c.env("TANDEM_ADDR")
	}
	if address != "" {
		if err := contexts.CheckAddress(address); err != nil {
			return contexts.Context{}, usage("for example --address 127.0.0.1:8080 or --address unix:/run/tandem/admin.sock", "%q is not an admin address", address)
		}
		return contexts.Context{Address: address}, nil
	}
	f, path, err := c.contexts()
	if err != nil {
		return contexts.Context{}, err
	}
	if name = cmp.Or(name, c.env("TANDEM_CONTEXT"), f.Current); name == "" {
		return contexts.Context{Address: defaultAddress}, nil
	}
	to, err := f.Find(name)
	if err != nil {
		return contexts.Context{}, noContext(f, path, err)
	}
	return to.Beside(path), nil
}

// clientTLS is how the client of an https address knows the node and proves itself.
func clientTLS(to contexts.Context) (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: cmp.Or(to.ServerName, contexts.Name(to.Address))}
	if to.CA != "" {
		pem, err := os.ReadFile(to.CA)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("ca: " + to.CA + " holds no certificate")
		}
	}
	if to.Cert != "" {
		pair, err := tls.LoadX509KeyPair(to.Cert, to.Key)
		if err != nil {
			return nil, fmt.Errorf("cert: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
