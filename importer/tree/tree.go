package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of one document beside its size: what aliases may make of it, in nodes,
// and how deep it may be.
const (
	maxAliased = 100_000
	maxDepth   = 64
)

// Node is a part of a text: a mapping, a list, or a scalar. Its methods may be
// called on nil, which has nothing.
type Node struct {
	Line  int
	value string
	kind  yaml.Kind
	null  bool
	keys  []string
	items []*Node
	asked bool
}

// Parse reads all documents of a text. Empty ones are left out. The error names
// the line.
func Parse(text []byte) ([]*Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var out []*Node
	for {
		var root yaml.Node
		err := d.Decode(&root)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		b := builder{left: maxAliased}
		n, err := b.build(&root, 0, false)
		if err != nil {
			return nil, err
		}
		if n != nil && !n.null {
			out = append(out, n)
		}
	}
}

// builder makes nodes of what the YAML library read.
type builder struct {
	left int // nodes that aliases may still make
}

func (b *builder) build(y *yaml.Node, depth int, aliased bool) (*Node, error) {
	if aliased {
		b.left--
	}
	if b.left < 0 || depth > maxDepth {
		return nil, fmt.Errorf("line %d: too deep, or too much by aliases", y.Line)
	}
	switch y.Kind {
	case yaml.AliasNode:
		return b.build(y.Alias, depth+1, true)
	case yaml.DocumentNode:
		if len(y.Content) == 0 {
			return nil, nil
		}
		return b.build(y.Content[0], depth, aliased)
	}
	n := &Node{Line: y.Line, kind: y.Kind, value: y.Value, null: y.Kind == yaml.ScalarNode && y.Tag == "!!null"}
	if n.null {
		n.value = ""
	}
	for i, c := range y.Content {
		if y.Kind == yaml.MappingNode && i%2 == 0 {
			n.keys = append(n.keys, c.Value)
			continue
		}
		child, err := b.build(c, depth+1, aliased)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, child)
	}
	return n, nil
}

// At follows keys, and returns nil where there is nothing.
func (n *Node) At(path ...string) *Node {
	for _, name := range path {
		n = n.key(name)
	}
	if n != nil {
		n.asked = true
	}
	return n
}

// key returns a value of a mapping; of a key that stands twice, the last one.
func (n *Node) key(name string) *Node {
	if n == nil || n.kind != yaml.MappingNode {
		return nil
	}
	for i, key := range slices.Backward(n.keys) {
		if key == name {
			return n.items[i]
		}
	}
	return nil
}

// Text returns a scalar as it stands, and nothing of everything else.
func (n *Node) Text() string {
	if n == nil || n.kind != yaml.ScalarNode {
		return ""
	}
	n.asked = true
	return n.value
}

// Int returns a whole number; ok is false when there is none.
func (n *Node) Int() (value int, ok bool) {
	i, err := strconv.ParseInt(n.Text(), 10, 32)
	return int(i), err == nil
}

// Bool returns true or false, and otherwise what is neither.
func (n *Node) Bool(otherwise bool) bool {
	switch strings.ToLower(n.Text()) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	return otherwise
}

// List returns the entries of a list, and nothing of everything else.
func (n *Node) List() []*Node {
	if n == nil || n.kind != yaml.SequenceNode {
		return nil
	}
	n.asked = true
	return n.items
}

// IsMap tells whether the node is a mapping.
func (n *Node) IsMap() bool { return n != nil && n.kind == yaml.MappingNode }

// Keys returns the keys of a mapping in their order.
func (n *Node) Keys() []string {
	if n == nil {
		return nil
	}
	return n.keys
}

// Pass marks a node and all in it as asked for.
func (n *Node) Pass() {
	if n == nil || n.asked && len(n.items) == 0 {
		return
	}
	n.asked = true
	for _, c := range n.items {
		c.Pass()
	}
}

// Rest calls fn for the parts that nobody asked for, with their paths, from the
// outermost one: of a mapping that was not looked at, not its keys.
func (n *Node) Rest(fn func(path string, n *Node)) { n.rest("", fn) }

func (n *Node) rest(path string, fn func(path string, n *Node)) {
	if n == nil {
		return
	}
	if path != "" && !n.asked && !n.touched() {
		fn(path, n)
		return
	}
	for i, c := range n.items {
		at := path + "[" + strconv.Itoa(i) + "]"
		if n.kind == yaml.MappingNode {
			at = strings.TrimPrefix(path+"."+n.keys[i], ".")
		}
		c.rest(at, fn)
	}
}

// touched tells whether something inside was asked for.
func (n *Node) touched() bool {
	if n == nil {
		return false
	}
	for _, c := range n.items {
		if c != nil && (c.asked || c.touched()) {
			return true
		}
	}
	return false
}
