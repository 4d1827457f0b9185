package main

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/sbc/auth"
)

func (c *cli) clusterCommand() *cobra.Command {
	key := &cobra.Command{
		Use: "key", Short: "Make a new cluster key; its commands change the key of a running cluster",
		Long:    "Prints 32 random bytes in base64: the secret that all nodes of a cluster share. Keep it in a\nfile of mode 0600 and name that file in cluster.key_file of every node.",
		Example: "  (umask 077; tandem cluster key > cluster.key)",
		Args:    arguments(),
		RunE: action(func(*cobra.Command, []string) error {
			key, err := newKey()
			if err == nil {
				_, err = fmt.Fprintln(c.out, key)
			}
			return err
		}),
	}
	key.AddCommand(c.keyCommands()...)
	return group("cluster", "What the nodes of a cluster share", key, c.caCommand(), c.certCommand(), c.tokenCommand(), c.joinCommand(), c.clusterRecoverCommand(), c.clusterRejoinCommand())
}

// newKey makes a cluster key in base64.
func newKey() (string, error) {
	b := make([]byte, config.KeySize)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("cluster key: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b), nil
}

// credential is an entry of trunk_groups[].credentials.
type credential struct {
	Username string `json:"username"`
	Realm    string `json:"realm"`
	SHA256   string `json:"ha1_sha256"`
	SHA512   string `json:"ha1_sha512_256"`
	MD5      string `json:"ha1_md5"`
}

func (c *cli) credentialCommand() *cobra.Command {
	var username, realm string
	hash := &cobra.Command{
		Use: "hash --username NAME --realm REALM", Short: "Hash a password for the cluster document",
		Long: `Reads a password from the terminal, or one line from standard input, and prints the entry for
trunk_groups[].credentials. The document holds the hashes only, never the password; whoever
has a hash can pass as the user in this realm, so keep the document private.`,
		Example: "  tandem credential hash --username acme --realm sip.example.net < password.txt",
		Args:    arguments(),
		RunE: action(func(*cobra.Command, []string) error {
			if username == "" || realm == "" {
				return usage("for example --username acme --realm sip.example.net", "--username and --realm are needed")
			}
			if strings.ContainsAny(username, ":\"\\\r\n") || strings.ContainsAny(realm, "\"\\\r\n") {
				return usage("choose another name", "a colon in the username, and quotes, backslashes and line ends in either, cannot be used in digest authentication")
			}
			password, err := c.password()
			if err != nil {
				return err
			}
			return c.printCredential(hashed(username, realm, password))
		}),
	}
	hash.Flags().StringVar(&username, "username", "", "user name, as the PBX sends it")
	hash.Flags().StringVar(&realm, "realm", "", "realm: sip.realm of the node files, or a domain of the customer's own that its PBX sends to")
	return group("credential", "Digest credentials of customers", hash)
}

func (c *cli) printCredential(h credential) error {
	if c.output == "json" {
		return c.print(h, nil)
	}
	_, err := fmt.Fprintf(c.out, "- username: %q\n  realm: %q\n  ha1_sha256: %s\n  ha1_sha512_256: %s\n  ha1_md5: %s\n",
		h.Username, h.Realm, h.SHA256, h.SHA512, h.MD5)
	return err
}

// hashed computes HA1 of RFC 7616 section 3.4.2 for each algorithm that nodes challenge with.
func hashed(username, realm, password string) credential {
	ha1 := func(a auth.Algorithm) string { return a.HA1(username, realm, password) }
	return credential{Username: username, Realm: realm, SHA256: ha1(auth.SHA256), SHA512: ha1(auth.SHA512256), MD5: ha1(auth.MD5)}
}

// password asks on a terminal without echo, twice, or takes one line of a pipe. It is never an
// argument: arguments are visible to everybody on the machine.
func (c *cli) password() (string, error) {
	f, ok := c.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		line, err := bufio.NewReader(io.LimitReader(c.in, 4096)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read the password: %w", err)
		}
		return checkPassword(strings.TrimRight(line, "\r\n"))
	}
	ask := func(prompt string) (string, error) {
		fmt.Fprint(c.err, prompt)
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(c.err)
		return string(b), err
	}
	first, err := ask("password: ")
	if err != nil {
		return "", err
	}
	second, err := ask("again: ")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", fail(exitFailed, "nothing was hashed; type it again", "the two differ")
	}
	return checkPassword(first)
}

func checkPassword(p string) (string, error) {
	if p == "" {
		return "", usage("give it on standard input, for example from a file of mode 0600", "the password is empty")
	}
	return p, nil
}
