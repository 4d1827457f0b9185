package trunkgroup

import (
	"fmt"
	"strings"
)

// Fault is one thing that is wrong with a document, and what to do about it.
type Fault struct {
	File    string `json:"file,omitempty"`   // where it was read from; empty when unknown
	Line    int    `json:"line,omitempty"`   // from 1; 0 = unknown
	Column  int    `json:"column,omitempty"` // from 1; 0 = unknown
	Path    string `json:"path"`             // like trunk_groups[2].members[0].address
	Problem string `json:"problem"`          // what is wrong
	Remedy  string `json:"remedy,omitempty"` // what to do
}

// String returns "file:line: path: problem; remedy", without the unknown parts.
func (f Fault) String() string {
	var b strings.Builder
	switch {
	case f.File != "" && f.Line > 0:
		fmt.Fprintf(&b, "%s:%d: ", f.File, f.Line)
	case f.File != "":
		fmt.Fprintf(&b, "%s: ", f.File)
	case f.Line > 0:
		fmt.Fprintf(&b, "line %d: ", f.Line)
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Problem)
	if f.Remedy != "" {
		b.WriteString("; " + f.Remedy)
	}
	return b.String()
}

// Faults is every fault of a document. As an error it has one line per fault.
type Faults []Fault

// Error returns one line per fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the faults as an error, and nil when there is none.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// add appends one fault.
func (f *Faults) add(path, problem, remedy string) {
	*f = append(*f, Fault{Path: path, Problem: problem, Remedy: remedy})
}

// addf appends one fault with a formatted problem.
func (f *Faults) addf(path, remedy, format string, args ...any) {
	f.add(path, fmt.Sprintf(format, args...), remedy)
}
