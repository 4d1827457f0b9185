package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tandem-sbc/tandem/importer"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func (c *cli) importCommand() *cobra.Command {
	return group("import", "Make a cluster document of another system's configuration",
		c.importKamailioCommand(), c.importSiphonCommand(), c.importRoutrCommand())
}

// importFlags are those of all imports.
type importFlags struct {
	cluster, site string
	out, report   string
	strict        bool
}

func (f *importFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.cluster, "cluster", "imported", "name of the cluster in the document")
	flags.StringVar(&f.site, "site", "main", "site where all members stand")
	flags.StringVar(&f.out, "out", "", "file for the document; standard output unless given")
	flags.StringVar(&f.report, "report", "", "file for the report; standard error unless given")
	flags.BoolVar(&f.strict, "strict", false, "fail when anything was lost")
}

func (f *importFlags) target() importer.Target {
	return importer.Target{Cluster: f.cluster, Site: f.site, Hash: func(username, realm, password string) trunkgroup.CredentialSpec {
		h := hashed(username, realm, password)
		return trunkgroup.CredentialSpec{Username: username, Realm: realm, HA1SHA256: h.SHA256, HA1SHA512256: h.SHA512, HA1MD5: h.MD5}
	}}
}

// inputs reads the files of an import.
func (c *cli) inputs(paths []string) ([]importer.Input, error) {
	var in []importer.Input
	for _, path := range paths {
		text, err := c.read(path)
		if err != nil {
			return nil, err
		}
		in = append(in, importer.Input{Name: path, Text: text})
	}
	return in, nil
}

// imported is the JSON answer of an import.
type imported struct {
	Document string          `json:"document,omitempty"` // YAML; empty when it went into a file
	Lost     int             `json:"lost"`
	Items    []importer.Item `json:"items"`
}

// writeImport writes document and report where they belong.
func (c *cli) writeImport(f *importFlags, r *importer.Result, err error) error {
	if err != nil {
		if r != nil {
			_ = c.writeReport(f, &r.Report)
		}
		return fmt.Errorf("import: %w", err)
	}
	text, err := r.YAML()
	if err != nil {
		return err
	}
	lost := r.Report.Count(importer.Lost)
	answer := imported{Lost: lost, Items: r.Report.Items}
	switch {
	case f.out != "":
		err = os.WriteFile(f.out, text, 0o600) // it has hashes of passwords
	case c.output == "json":
		answer.Document = string(text)
	default:
		_, err = c.out.Write(text)
	}
	if err != nil {
		return err
	}
	if c.output == "json" {
		err = c.print(answer, nil)
	} else {
		err = c.writeReport(f, &r.Report)
	}
	if err == nil && f.strict && lost > 0 {
		return fail(exitFailed, "see the report; without --strict this is no error", "%s lost", count(lost, "thing"))
	}
	return err
}

// writeReport writes what became of everything, what was lost first.
func (c *cli) writeReport(f *importFlags, r *importer.Report) error {
	if f.report == "" {
		return printReport(c.err, r)
	}
	var b strings.Builder
	var err error
	if strings.HasSuffix(f.report, ".json") {
		e := json.NewEncoder(&b)
		e.SetIndent("", "  ")
		err = e.Encode(imported{Lost: r.Count(importer.Lost), Items: r.Items})
	} else {
		err = printReport(&b, r)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(f.report, []byte(b.String()), 0o600)
}

func printReport(w io.Writer, r *importer.Report) error {
	var err error
	say := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format, args...)
		}
	}
	for _, part := range []struct {
		outcome importer.Outcome
		title   string
	}{
		{importer.Lost, "lost: it has no equal, or could not be read"},
		{importer.Adapted, "adapted: nearly the same"},
		{importer.Elsewhere, "elsewhere: no matter of this document"},
		{importer.Same, "the same"},
	} {
		n := r.Count(part.outcome)
		if n == 0 {
			continue
		}
		say("%s (%d)\n", part.title, n)
		for i := range r.Items {
			if it := &r.Items[i]; it.Outcome == part.outcome {
				say("  %s\n", printable(reportLine(it)))
			}
		}
	}
	say("%d read: %d the same, %d adapted, %d elsewhere, %d lost\n", len(r.Items), r.Count(importer.Same), r.Count(importer.Adapted), r.Count(importer.Elsewhere), r.Count(importer.Lost))
	return err
}

// reportLine says what became of one thing.
func reportLine(it *importer.Item) string {
	var b strings.Builder
	if it.File != "" {
		b.WriteString(it.File)
		if it.Line > 0 {
			b.WriteString(":" + strconv.Itoa(it.Line))
		}
		b.WriteString(": ")
	}
	b.WriteString(it.Item)
	if it.Became != "" {
		b.WriteString(" -> " + it.Became)
	}
	if it.Why != "" {
		b.WriteString(": " + it.Why)
	}
	if it.Remedy != "" {
		b.WriteString("; " + it.Remedy)
	}
	return b.String()
}

// errPair means that a flag is not NAME=VALUE.
var errPair = errors.New("is not NAME=VALUE")

// pairs reads NAME=VALUE flags.
func pairs(flag string, list []string, take func(name, value string) error) error {
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		err := errPair
		if ok {
			err = take(name, value)
		}
		if err != nil {
			return usage("see tandem import --help", "--%s %q: %w", flag, text, err)
		}
	}
	return nil
}

// roleOf reads the name of a role.
func roleOf(name string) (trunkgroup.Role, error) {
	var role trunkgroup.Role
	if err := role.UnmarshalText([]byte(name)); err != nil {
		return 0, fmt.Errorf("%w; %s", err, trunkgroup.Suggest(name, trunkgroup.RoleNames()))
	}
	return cmp.Or(role, trunkgroup.PSTNProvider), nil
}
