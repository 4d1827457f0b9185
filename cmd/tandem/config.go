package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

func (c *cli) configCommand() *cobra.Command {
	return group("config", "The cluster document", c.configCheckCommand(), c.configPlanCommand(), c.configApplyCommand(), c.configShowCommand(),
		c.configHistoryCommand(), c.configDiffCommand(), c.configRollbackCommand(),
		c.configCanaryCommand(), c.configVerdictCommand(true), c.configVerdictCommand(false),
		c.configBackupCommand(), c.configRestoreCommand(), c.configRescueCommand())
}

func (c *cli) configCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check FILE", Short: "Check a cluster document, without a node",
		Long:    "Reads a cluster document and prints every fault with file, line, path and remedy. FILE may be - for\nstandard input.",
		Example: "  tandem config check configs/cluster.example.yaml",
		Args:    arguments("FILE"),
		RunE: action(func(_ *cobra.Command, args []string) error {
			doc, _, err := c.readDocument(args[0])
			if c.output == "json" {
				return c.printCheck(args[0], err)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.out, "%s: ok, %s\n", args[0], contents(doc))
			return err
		}),
	}
}

// readDocument reads and checks a document. Its error may be trunkgroup.Faults.
func (c *cli) readDocument(path string) (*trunkgroup.Document, []byte, error) {
	text, err := c.read(path)
	if err != nil {
		return nil, nil, err
	}
	doc, err := yamldoc.Decode(path, text)
	if err != nil {
		return nil, text, err
	}
	for _, advice := range doc.Advice(time.Now()) {
		fmt.Fprintf(c.err, "note: %s\n", advice)
	}
	return doc, text, nil
}

// maxInput bounds what read takes, in octets: more than any document or backup.
const maxInput = 128 << 20

// read returns the content of a file, or of standard input for "-".
func (c *cli) read(path string) ([]byte, error) {
	in, err := c.open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if len(text) > maxInput {
		return nil, fmt.Errorf("%s: more than %d octets, which is no document and no backup", path, maxInput)
	}
	return text, err
}

// open opens a file, or standard input for "-".
func (c *cli) open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(c.in), nil
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, &failure{code: exitNotFound, err: err}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// contents says in a few words what a document holds.
func contents(doc *trunkgroup.Document) string {
	members, numbers := 0, 0
	for _, g := range doc.TrunkGroups {
		members += len(g.Members)
		numbers += len(g.Numbers)
	}
	return fmt.Sprintf("cluster %s: %s, %s, %s, %s, %s", doc.Cluster,
		count(len(doc.Sites), "site"), count(len(doc.TrunkGroups), "trunk group"), count(members, "member"),
		count(numbers, "number pattern"), count(len(doc.RoutePlans), "route plan"))
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// check is the JSON answer of config check.
type check struct {
	File   string             `json:"file"`
	OK     bool               `json:"ok"`
	Faults []trunkgroup.Fault `json:"faults"`
}

// printCheck prints faults as JSON. They are still a failure, whose text is then the count alone.
func (c *cli) printCheck(path string, err error) error {
	faults, ok := errors.AsType[trunkgroup.Faults](err)
	if err != nil && !ok {
		return err
	}
	if err := c.print(check{File: path, OK: err == nil, Faults: append([]trunkgroup.Fault{}, faults...)}, nil); err != nil {
		return err
	}
	if len(faults) > 0 {
		return fail(exitFailed, "", "%s in %s", count(len(faults), "fault"), path)
	}
	return nil
}
