package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/cluster/join"
	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) tokenCommand() *cobra.Command {
	var life time.Duration
	var replace bool
	var author string
	cmd := &cobra.Command{
		Use: "token NODE", Short: "Make a token by which one new node may join",
		Long: `Prints a token, which is a secret: whoever uses it first becomes the node of that name and is given the cluster keys. It
is good for one use, for --life, at the node that made it, which must hold an authority's key (cluster.tls.ca_key). Pass it on
by a way that nobody else reads, to a file of mode 0600.`,
		Example: "  (umask 077; tandem cluster token ash-3 > ash-3.token)",
		Args:    arguments("NODE"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if !config.IsName(args[0]) {
				return usage("use a-z, 0-9 and '-'", "%q is not a name of a node", args[0])
			}
			if life < time.Second || life > join.MaxLife {
				return usage(fmt.Sprintf("at most %s", join.MaxLife), "--life %s makes no sense", life)
			}
			body, err := json.Marshal(admin.TokenOrder{Node: args[0], Seconds: int(life / time.Second), Replace: replace, Author: cmp.Or(author, whoami())})
			if err != nil {
				return err
			}
			var t admin.Token
			if err := c.ask(cmd.Context(), request{method: http.MethodPost, path: "/v1/tokens", contentType: "application/json", body: body}, &t); err != nil {
				return err
			}
			if c.output == "json" {
				return c.print(t, nil)
			}
			fmt.Fprintf(c.err, "note: token %s is for %s, good until %s, once\n", t.ID, t.Node, t.Until.UTC().Format(time.RFC3339))
			_, err = fmt.Fprintln(c.out, t.Token)
			return err
		}),
	}
	cmd.Flags().DurationVar(&life, "life", join.DefaultLife, "how long it is good")
	cmd.Flags().BoolVar(&replace, "replace", false, "a node of this name is up: the token is for another machine in its place")
	cmd.Flags().StringVar(&author, "author", "", "who; the user of this process unless given")
	return cmd
}

// joined is what a newcomer was given, without what is secret.
type joined struct {
	Cluster string      `json:"cluster"`
	Node    string      `json:"node"`
	Files   []string    `json:"files"`
	Peers   []join.Peer `json:"peers"`
}

func (c *cli) joinCommand() *cobra.Command {
	var dir, via string
	cmd := &cobra.Command{
		Use: "join FILE --dir DIR", Short: "Use a join token: get this machine's certificate and the cluster keys",
		Long: `Reads a token from FILE, or from standard input when FILE is -, and writes what the cluster gives for it: NODE.pem, NODE.key,
ca.pem and cluster.key. It prints the section of the node file that names them, with the other nodes. The private key is
made here and does not leave. The cluster proves itself by the fingerprint in the token before anything is sent to it.`,
		Example: "  tandem cluster join ash-3.token --dir /etc/tandem",
		Args:    arguments("FILE"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if dir == "" {
				return usage("for example --dir /etc/tandem", "--dir is needed")
			}
			text, err := c.tokenText(args[0])
			if err != nil {
				return err
			}
			t, err := join.Parse(text)
			if err != nil {
				return fail(exitFailed, "tandem cluster token NODE makes one, on a node that is in", "%w", err)
			}
			names := []file{{t.Node + ".pem", nil, 0o644}, {t.Node + ".key", nil, 0o600}, {caCertFile, nil, 0o644}, {clusterFile, nil, 0o600}}
			// A token is used once: what can fail here fails before.
			if err := clearFor(dir, false, moveAway, names...); err != nil {
				return err
			}
			a, key, err := join.Join(cmd.Context(), t, via)
			if err != nil {
				return fail(exitFailed, fmt.Sprintf("the log of %s says more; a token that was used is worth nothing: make another one", t.Issuer), "%w", err)
			}
			out := joined{Cluster: t.Cluster, Node: t.Node, Peers: a.Peers}
			for i, text := range [][]byte{[]byte(a.Certificate), key, []byte(a.Authorities), []byte(a.Keys)} {
				path := filepath.Join(dir, names[i].name)
				if err := writeWhole(path, text, names[i].mode, -1, -1); err != nil {
					return err
				}
				out.Files = append(out.Files, path)
			}
			if c.output == "json" {
				return c.print(out, nil)
			}
			fmt.Fprintf(c.err, "note: this is the cluster section of the node file of %s; add gossip and the other sections, check it with tandem server --check, and start it\n", t.Node)
			// Relative paths of a node file start at its directory, which is not known here.
			if dir, err = filepath.Abs(dir); err != nil {
				return fmt.Errorf("directory of the files: %w", err)
			}
			_, err = io.WriteString(c.out, section(t.Cluster, dir, t.Node)+peersSection(a.Peers))
			return err
		}),
	}
	cmd.Flags().StringVar(&dir, "dir", "", "where to write the files")
	cmd.Flags().StringVar(&via, "via", "", "host:port to dial in place of the address in the token, behind a relay or a NAT")
	return cmd
}

// tokenText reads a token. It is never an argument: arguments are visible to everybody on the machine.
func (c *cli) tokenText(path string) (string, error) {
	if path == "-" {
		b, err := io.ReadAll(io.LimitReader(c.in, 4096))
		return string(b), err
	}
	if strings.HasPrefix(path, "tandem-join-") {
		return "", usage("write it to a file of mode 0600 and name that, or - for standard input; and take this one for known", "a token does not belong on the command line, where everybody on the machine sees it")
	}
	b, err := config.ReadPrivate(path)
	if os.IsNotExist(err) {
		return "", fail(exitNotFound, "FILE holds the token; - is standard input", "%w", err)
	}
	return string(b), err
}

func peersSection(peers []join.Peer) string {
	var b strings.Builder
	b.WriteString("  peers:\n")
	for _, p := range peers {
		fmt.Fprintf(&b, "    - {name: %s, site: %s, gossip: %q, interconnect: %q}\n", p.Name, p.Site, p.Gossip, p.Interconnect)
	}
	return b.String()
}
