//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// result is one measurement: one line of the output file.
type result struct {
	Time   time.Time          `json:"t"`
	Run    int                `json:"run"`
	SUT    string             `json:"sut"`
	Test   string             `json:"test"`
	Values map[string]float64 `json:"values"`
}

// results keeps all measurements and writes them as they come.
type results struct {
	file *os.File
	list []result
	err  error
}

func openResults(path string) (*results, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	return &results{file: f}, nil
}

func (r *results) add(m result) {
	m.Time = time.Now().UTC()
	r.list = append(r.list, m)
	r.err = errors.Join(r.err, json.NewEncoder(r.file).Encode(m))
}

func (r *results) close() error { return errors.Join(r.err, r.file.Close()) }

// median of one value over the runs; false when it was not measured.
func (r *results) median(sut, test, value string) (float64, bool) {
	var v []float64
	for _, m := range r.list {
		if x, ok := m.Values[value]; ok && m.SUT == sut && m.Test == test {
			v = append(v, x)
		}
	}
	if len(v) == 0 {
		return 0, false
	}
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2, true
}

// column is one column of the table.
type column struct {
	title, test, value string
	added              bool // less what the direct run took
	ratio              bool // a row of ratios shows it
}

var columns = []column{
	{"CPU at 200/s, us/call", "cpu@200", "cpu_us", false, true},
	{"at 600/s", "cpu@600", "cpu_us", false, true},
	{"at maximum", "max", "cpu_us", false, true},
	{"maximum, calls/s", "max", "max_cps", false, true},
	{"goodput at 1.5 x", "overload@1.5", "goodput_cps", false, true},
	{"at 2 x", "overload@2.0", "goodput_cps", false, true},
	{"at 10 x", "overload@10.0", "goodput_cps", false, true},
	{"added PDD at 200/s p50, us", "cpu@200", "pdd_p50_us", true, true},
	{"p99", "cpu@200", "pdd_p99_us", true, false},
	{"at 600/s p50", "cpu@600", "pdd_p50_us", true, true},
	{"p99", "cpu@600", "pdd_p99_us", true, false},
	{"bytes per held call", "hold", "bytes_per_call", false, true},
}

func (r *results) cell(sut string, c column) (float64, bool) {
	v, ok := r.median(sut, c.test, c.value)
	if ok && c.added {
		base, measured := r.median("direct", c.test, c.value)
		if !measured {
			return 0, false
		}
		v -= base
	}
	return v, ok
}

// table is the medians of all runs as markdown, then tandem's ratio to each other
// server.
func (r *results) table(suts []string) string {
	var b strings.Builder
	b.WriteString("| server |")
	for _, c := range columns {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(columns)) + "\n")
	row := func(name string, cell func(c column) string) {
		b.WriteString("| " + name + " |")
		for _, c := range columns {
			b.WriteString(" " + cell(c) + " |")
		}
		b.WriteString("\n")
	}
	for _, sut := range suts {
		if sut == "direct" || !r.has(sut) {
			continue
		}
		row(sut, func(c column) string {
			v, ok := r.cell(sut, c)
			if !ok {
				return "-"
			}
			return fmt.Sprintf("%.0f", v)
		})
	}
	for _, sut := range suts {
		if sut == "direct" || sut == "tandem" || !r.has(sut) || !r.has("tandem") {
			continue
		}
		row("tandem / "+sut, func(c column) string {
			a, okA := r.cell("tandem", c)
			v, okB := r.cell(sut, c)
			if !okA || !okB || !c.ratio || v <= 0 {
				return ""
			}
			return fmt.Sprintf("%.2f", a/v)
		})
	}
	return b.String()
}

func (r *results) has(sut string) bool {
	return slices.ContainsFunc(r.list, func(m result) bool { return m.SUT == sut })
}

// writeTable shows the table and writes it to the file that was asked for.
func (b *bench) writeTable() error {
	text := b.results.table(b.suts)
	b.say("\nmedians of %d runs\n\n%s", b.runs, text)
	if b.options.table == "" {
		return b.results.err
	}
	if err := os.WriteFile(b.options.table, []byte(text), 0o644); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	return b.results.err
}

// show writes values on one line, in the order of their names.
func show(values map[string]float64) string {
	parts := make([]string, 0, len(values))
	for _, k := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, fmt.Sprintf("%s %.4g", k, values[k]))
	}
	return strings.Join(parts, "  ")
}
