package main

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// moreOutputs marks commands that also write CSV and YAML.
const moreOutputs = "outputs"

// outputsOf returns the words that -o takes.
func outputsOf(cmd *cobra.Command) []string {
	words := []string{"table", "json"}
	if more := cmd.Annotations[moreOutputs]; more != "" {
		words = append(words, strings.Fields(more)...)
	}
	return words
}

func (c *cli) knownOutput(cmd *cobra.Command) error {
	words := outputsOf(cmd)
	if slices.Contains(words, c.output) {
		return nil
	}
	last := len(words) - 1
	return usage("write -o "+strings.Join(words[:last], ", -o ")+" or -o "+words[last], "unknown output %q", c.output)
}

// writeCSV writes a table as CSV (RFC 4180). What far ends name themselves must not become
// a formula in a spreadsheet: a cell that begins like one gets an apostrophe, save a
// plain number such as +12145550100.
func (t *table) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	head := make([]string, len(t.head))
	for i, h := range t.head {
		head[i] = strings.ReplaceAll(strings.ToLower(h), " ", "_")
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for _, r := range t.rows {
		cells := make([]string, len(r))
		for i, cell := range r {
			cells[i] = unformula(cell)
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func unformula(cell string) string {
	if cell == "" || !strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return cell
	}
	if digits := cell[1:]; (cell[0] == '+' || cell[0] == '-') && digits != "" && strings.Trim(digits, "0123456789.") == "" {
		return cell
	}
	return "'" + cell
}

// writeYAML writes JSON as YAML in block style. Strings stay as JSON writes them, in double
// quotes, which mean the same in YAML.
func writeYAML(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var b strings.Builder
	y := &yamlWriter{out: &b, in: json.NewDecoder(strings.NewReader(string(text)))}
	y.in.UseNumber()
	if err := y.value(0, ""); err != nil {
		return err
	}
	_, err = io.WriteString(w, b.String())
	return err
}

type yamlWriter struct {
	out *strings.Builder
	in  *json.Decoder
}

// value writes the next value. lead is what stands before it in its line: "" at the
// beginning, " " behind a colon, "- " behind the mark of a list.
func (y *yamlWriter) value(depth int, lead string) error {
	t, err := y.in.Token()
	if err != nil {
		return err
	}
	if d, ok := t.(json.Delim); ok {
		return y.inside(depth, lead, d)
	}
	scalar, err := json.Marshal(t)
	if err != nil {
		return err
	}
	y.out.WriteString(strings.TrimPrefix(lead, "-") + string(scalar) + "\n")
	return nil
}

// inside writes what is in an object or a list.
func (y *yamlWriter) inside(depth int, lead string, d json.Delim) error {
	if !y.in.More() {
		y.out.WriteString(strings.TrimPrefix(lead, "-") + string(d) + string(d+2) + "\n")
		_, err := y.in.Token()
		return err
	}
	first := lead == "- " // goes on in the line of the mark
	if lead == " " {
		y.out.WriteByte('\n')
	}
	for y.in.More() {
		if first {
			y.out.WriteByte(' ')
		} else {
			y.out.WriteString(strings.Repeat("  ", depth))
		}
		first = false
		next := "- "
		if d == '{' {
			key, err := y.in.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string)
			y.out.WriteString(plainKey(name) + ":")
			next = " "
		} else {
			y.out.WriteByte('-')
		}
		if err := y.value(depth+1, next); err != nil {
			return err
		}
	}
	_, err := y.in.Token()
	return err
}

// plainKey is a key of an object: as it is when it is a word, else in quotes.
func plainKey(name string) string {
	for _, r := range name {
		if (r < 'a' || r > 'z') && r != '_' {
			return strconv.QuoteToASCII(name)
		}
	}
	if name == "" || slices.Contains([]string{"n", "y", "no", "yes", "on", "off", "true", "false", "null"}, name) {
		return strconv.Quote(name)
	}
	return name
}
