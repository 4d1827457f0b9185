package yamldoc

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Decode reads one cluster document. file stands in the faults only. The error
// is trunkgroup.Faults, in the order of lines.
func Decode(file string, data []byte) (*trunkgroup.Document, error) {
	d := &decoder{positions: make(map[string]position)}
	doc := &trunkgroup.Document{}
	if root := d.parse(data); root != nil {
		d.value(root, reflect.ValueOf(doc).Elem(), "")
		d.validate(doc)
	}
	if len(d.faults) == 0 {
		return doc, nil
	}
	slices.SortStableFunc(d.faults, func(a, b trunkgroup.Fault) int { return a.Line - b.Line })
	for i := range d.faults {
		d.faults[i].File = file
	}
	return nil, d.faults
}

// decoder walks the nodes of one document.
type decoder struct {
	faults    trunkgroup.Faults
	positions map[string]position // of each path that stands in the text
}

type position struct{ line, column int }

func (d *decoder) fault(n *yaml.Node, path, problem, remedy string) {
	d.faults = append(d.faults, trunkgroup.Fault{
		Line: n.Line, Column: n.Column, Path: path, Problem: problem, Remedy: remedy,
	})
}

// parse returns the top node, or nil after a fault.
func (d *decoder) parse(data []byte) *yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err != nil {
		d.syntax(err)
		return nil
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		d.fault(&second, "", "a second document begins here", "keep the whole cluster in one document")
	case !errors.Is(err, io.EOF):
		d.syntax(err)
	}
	if len(first.Content) == 0 {
		d.fault(&first, "", "the document is empty", "begin with: cluster: NAME")
		return nil
	}
	return first.Content[0]
}

// syntax reports what the YAML parser says. It tells the line in its text only.
func (d *decoder) syntax(err error) {
	if errors.Is(err, io.EOF) {
		d.faults = append(d.faults, trunkgroup.Fault{Problem: "the document is empty", Remedy: "begin with: cluster: NAME"})
		return
	}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	f := trunkgroup.Fault{Problem: "is not YAML: " + text, Remedy: "look at indents, colons and quotes in and above this line"}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, rest, ok := strings.Cut(rest, ": "); ok {
			f.Line, f.Problem = atoi(number), "is not YAML: "+rest
		}
	}
	d.faults = append(d.faults, f)
}

func atoi(s string) int {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || n > 1e8 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// validate adds the faults of the content, except in what the text had a fault
// for already.
func (d *decoder) validate(doc *trunkgroup.Document) {
	reported := make(map[string]bool)
	for _, f := range d.faults {
		reported[f.Path] = true
	}
	for _, f := range doc.Validate() {
		if within(reported, f.Path) {
			continue
		}
		at := d.find(f.Path)
		f.Line, f.Column = at.line, at.column
		d.faults = append(d.faults, f)
	}
}

// within reports whether the path or anything around it is in the set.
func within(set map[string]bool, path string) bool {
	for path != "" {
		if set[path] {
			return true
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return false
}

// find returns where a path stands, or the nearest thing around it that stands
// in the text.
func (d *decoder) find(path string) position {
	for {
		if at, ok := d.positions[path]; ok {
			return at
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return d.positions[""]
		}
		path = path[:cut]
	}
}
