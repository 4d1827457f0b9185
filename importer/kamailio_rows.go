package importer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The kinds of input.
type kind int

const (
	kindList kind = iota
	kindRows
	kindSQL
	kindConfig
)

// first is greater for what has to be read before the rest.
func (k kind) first() int {
	if k == kindConfig {
		return 1
	}
	return 0
}

// sniffed is how much of an input tells its kind.
const sniffed = 64 << 10

// sniff tells the kind of an input by its content.
func sniff(text []byte) kind {
	configSign := regexp.MustCompile(`(?m)^\s*(#!KAMAILIO|loadmodule\b|modparamx?\s*\(|request_route\b|route\s*[{\[])`)
	insertSign := regexp.MustCompile(`(?im)\b(insert|replace)\s([a-z_]+\s+)*into\b|^copy\s+\S+\s*[(f]|^create\s+table\b|^-- (mysql|mariadb|postgresql)`)
	// A head, or an id before a set.
	rowSign := regexp.MustCompile(`(?i)^\s*("?id"?\s*[,;\t]|"?\d+"?\s*[,;\t]\s*"?\d+"?\s*[,;\t]|[^#\n]*[,;\t]\s*"?setid\b|"?setid"?\s*[,;\t])`)
	head := text[:min(len(text), sniffed)]
	switch {
	case configSign.Match(head):
		return kindConfig
	case insertSign.Match(head):
		return kindSQL
	case rowSign.Match(head) && !tabbedList(head):
		return kindRows
	}
	return kindList
}

// tabbedList tells a dispatcher.list with tabs from rows with tabs: its second
// column is the destination.
func tabbedList(head []byte) bool {
	first, _, _ := bytes.Cut(head, []byte("\n"))
	columns := bytes.Split(first, []byte("\t"))
	return len(columns) > 1 && bytes.Contains(columns[1], []byte("sip"))
}

// dispatcherColumns are those of the table dispatcher (version 4), in its order.
func dispatcherColumns() []string {
	return []string{"id", "setid", "destination", "flags", "priority", "attrs", "description"}
}

// table reads rows with commas or tabs between columns, with or without a head.
func (k *kamailio) table(in Input) error {
	r := csv.NewReader(bytes.NewReader(in.Text))
	r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace, r.Comment, r.ReuseRecord = -1, true, true, '#', true
	r.Comma = comma(in.Text)
	columns := dispatcherColumns()
	for first := true; ; first = false {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
		line, _ := r.FieldPos(0)
		if first && slices.ContainsFunc(record, func(s string) bool { return strings.EqualFold(s, "destination") }) {
			columns = columnNames(record)
			continue
		}
		if err := k.record(place{in.Name, line}, columns, record); err != nil {
			return err
		}
	}
}

// comma tells what stands between columns: what the first line has most of. Attributes
// have semicolons too, but in one column.
func comma(text []byte) rune {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	best, most := ',', bytes.Count(first, []byte(","))
	for _, c := range "\t;" {
		if n := bytes.Count(first, []byte(string(c))); n > most {
			best, most = c, n
		}
	}
	return best
}

func columnNames(record []string) []string {
	var out []string
	for _, s := range record {
		out = append(out, strings.ToLower(strings.Trim(s, " `\"'")))
	}
	return out
}

// record takes one row of the table.
func (k *kamailio) record(at place, columns, values []string) error {
	d := destination{place: at}
	bad := ""
	integer := func(s string) int {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil && s != "" && !strings.EqualFold(s, "NULL") {
			bad = s
		}
		return n
	}
	for i, name := range columns {
		if i >= len(values) {
			break
		}
		v := values[i]
		if v == `\N` || strings.EqualFold(v, "NULL") {
			v = ""
		}
		switch name {
		case "setid":
			d.set = integer(v)
		case "destination":
			d.uri = strings.TrimSpace(v)
		case "flags":
			d.flags = integer(v)
		case "priority":
			d.priority = integer(v)
		case "attrs":
			d.attrs = v
		case "id", "description":
		default:
			if v != "" {
				k.Report.lost(at, name+"="+v, "is no column of the table dispatcher", "add it to attrs where the module reads it (ds_db_extra_attrs)")
			}
		}
	}
	switch {
	case bad != "":
		k.Report.lost(at, strings.Join(values, ","), fmt.Sprintf("%q is not a number", clip(bad)), "columns are: "+strings.Join(dispatcherColumns(), ", "))
		return nil
	case d.uri == "":
		k.Report.lost(at, strings.Join(values, ","), "there is no destination", "columns are: "+strings.Join(dispatcherColumns(), ", "))
		return nil
	}
	return k.addRow(d)
}
