package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ErrEdit says that the text is written in a way in which no place for an edit is
// found; whoever wrote it can make the change by hand.
var ErrEdit = errors.New("the document is written in a way that cannot be edited here: change it by hand, with config show and config apply")

// Path leads from the top of the document to a part: keys of mappings as string,
// places in lists as int.
type Path []any

// Child is the path to a key or a place below p.
func (p Path) Child(steps ...any) Path { return append(slices.Clone(p), steps...) }

// String writes a path as nodes write it in faults: trunk_groups[0].name.
func (p Path) String() string {
	var b strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		}
	}
	return b.String()
}

// Document is a text and what stands where in it.
type Document struct {
	text  string
	lines []string // each with its end
	root  *yaml.Node
}

// Parse reads one document.
func Parse(text []byte) (*Document, error) {
	d := &Document{}
	return d, d.load(string(text))
}

// Bytes is the text.
func (d *Document) Bytes() []byte { return []byte(d.text) }

// Clone is a copy whose edits do not show in d.
func (d *Document) Clone() *Document {
	c := *d
	return &c
}

func (d *Document) load(text string) error {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	var top, more yaml.Node
	if err := decoder.Decode(&top); err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the document: %w", ErrEdit)
	}
	if len(top.Content) != 1 || top.Content[0].Kind != yaml.MappingNode || !plain(top.Content[0]) {
		return fmt.Errorf("read the document: %w", ErrEdit)
	}
	d.text, d.lines, d.root = text, slices.Collect(strings.Lines(text)), top.Content[0]
	return nil
}

// plain reports that nothing in n is an alias, an anchor, tagged, or a key twice: nodes refuse these too.
func plain(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return false
	}
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]bool)
		for i := 0; i < len(n.Content); i += 2 {
			if seen[n.Content[i].Value] || n.Content[i].Kind != yaml.ScalarNode {
				return false
			}
			seen[n.Content[i].Value] = true
		}
	}
	return !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !plain(c) })
}

// Node is what stands at a path; nil when nothing does.
func (d *Document) Node(p Path) *yaml.Node {
	n := d.root
	for _, step := range p {
		switch s := step.(type) {
		case string:
			_, n = entry(n, s)
		case int:
			if n == nil || n.Kind != yaml.SequenceNode || s >= len(n.Content) {
				return nil
			}
			n = n.Content[s]
		}
	}
	return n
}

// Find is the path of the item of a list below p in which all of these keys have these
// values. A list of scalars is searched with the key "".
func (d *Document) Find(p Path, list string, keys map[string]string) (Path, bool) {
	n := d.Node(p.Child(list))
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil, false
	}
	for i, item := range n.Content {
		if matches(item, keys) {
			return p.Child(list, i), true
		}
	}
	return nil, false
}

func matches(item *yaml.Node, keys map[string]string) bool {
	for k, want := range keys {
		v := item
		if k != "" {
			_, v = entry(item, k)
		}
		if v == nil || v.Kind != yaml.ScalarNode || v.Value != want {
			return false
		}
	}
	return true
}

// entry is a key of a mapping and its value; nil when it has none.
func entry(n *yaml.Node, key string) (k, v *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// Value is the value of a key of a mapping; nil when it has none.
func Value(n *yaml.Node, key string) *yaml.Node {
	_, v := entry(n, key)
	return v
}
