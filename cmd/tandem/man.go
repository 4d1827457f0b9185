package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand writes the manual pages that packages carry. It is hidden: who builds packages asks for it.
func (c *cli) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIRECTORY", Short: "Write the manual pages of all commands", Hidden: true, Args: arguments("a directory"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			// Pages are the same whenever they are built: their date is the source's, when the builder says it.
			date := ""
			if seconds := c.env("SOURCE_DATE_EPOCH"); seconds != "" {
				var s int64
				if _, err := fmt.Sscan(seconds, &s); err != nil {
					return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
				}
				date = time.Unix(s, 0).UTC().Format(time.DateOnly)
			}
			return manPages(cmd.Root(), args[0], date)
		}),
	}
}

// manPages writes one page for cmd and each command below it.
func manPages(cmd *cobra.Command, dir, date string) error {
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	if err := os.WriteFile(filepath.Join(dir, name+".1"), manPage(cmd, date), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			if err := manPages(sub, dir, date); err != nil {
				return err
			}
		}
	}
	return nil
}

// manPage is the manual page of one command, in the macros of man(7).
func manPage(cmd *cobra.Command, date string) []byte {
	var b bytes.Buffer
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %q 1 %q \"Tandem\" \"User Commands\"\n", strings.ToUpper(name), date)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", roff(cmd.UseLine()))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", paragraphs(cmp.Or(cmd.Long, cmd.Short+".")))
	if subs := commands(cmd); len(subs) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range subs {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(sub.CommandPath()), roff(sub.Short))
		}
	}
	flags(&b, "OPTIONS", cmd.NonInheritedFlags())
	flags(&b, "GLOBAL OPTIONS", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	var see []string
	if cmd.HasParent() {
		see = append(see, manRef(cmd.Parent()))
	}
	for _, sub := range commands(cmd) {
		see = append(see, manRef(sub))
	}
	fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(see, ",\n"))
	return b.Bytes()
}

// commands are those below cmd that a page names.
func commands(cmd *cobra.Command) (list []*cobra.Command) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			list = append(list, sub)
		}
	}
	return list
}

func manRef(cmd *cobra.Command) string {
	return ".BR " + roff(strings.ReplaceAll(cmd.CommandPath(), " ", "-")) + " (1)"
}

// flags writes a section of flags, if there are any.
func flags(b *bytes.Buffer, title string, set *pflag.FlagSet) {
	if !set.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %q\n", title)
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		head := "--" + f.Name
		if f.Shorthand != "" {
			head = "-" + f.Shorthand + ", " + head
		}
		value, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(b, ".TP\n.B %s\n%s", roff(strings.TrimSpace(head+" "+value)), roff(usage))
		if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "0s" && d != "[]" {
			fmt.Fprintf(b, " (default %s)", roff(d))
		}
		b.WriteString("\n")
	})
}

// paragraphs sets text that has empty lines between its paragraphs.
func paragraphs(text string) string {
	parts := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range parts {
		parts[i] = roff(p)
	}
	return strings.Join(parts, "\n.PP\n")
}

// roff escapes text: a backslash and a hyphen mean something to troff, a dot or an apostrophe does at the start of a line.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
