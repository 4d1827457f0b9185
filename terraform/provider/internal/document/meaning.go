package document

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Canon writes what a node says in one way: the same for all styles, and for all orders
// of keys. Two nodes that say the same have the same canon.
func Canon(n *yaml.Node) string {
	var b strings.Builder
	canon(&b, n)
	return b.String()
}

func canon(b *strings.Builder, n *yaml.Node) {
	if n == nil {
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		keys := make([]string, 0, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			keys = append(keys, strconv.Quote(n.Content[i].Value)+":"+Canon(n.Content[i+1]))
		}
		slices.Sort(keys)
		b.WriteString("{" + strings.Join(keys, ",") + "}")
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			canon(b, item)
		}
		b.WriteByte(']')
	default:
		b.WriteString(strconv.Quote(n.Value))
	}
}

// copied is a deep copy of a node.
func copied(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, x := range n.Content {
		c.Content[i] = copied(x)
	}
	return &c
}

// meant is a copy of the tree in which the part at a path is what f makes of it.
func (d *Document) meant(p Path, f func(n *yaml.Node)) string {
	c := &Document{root: copied(d.root)}
	f(c.Node(p))
	return Canon(c.root)
}

// prove takes an edited text when it says what was meant, and nothing else.
func (d *Document) prove(text string, ok bool, want string) error {
	if !ok {
		return ErrEdit
	}
	next := &Document{}
	if err := next.load(text); err != nil || Canon(next.root) != want {
		return ErrEdit
	}
	*d = *next
	return nil
}

// set puts a value under a key, nil takes the key out.
func set(n *yaml.Node, key string, v *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != key {
			continue
		}
		if v == nil {
			n.Content = slices.Delete(n.Content, i, i+2)
		} else {
			n.Content[i+1] = v
		}
		return
	}
	if v != nil {
		n.Content = append(n.Content, Text(key), v)
	}
}

// Text is a node of text.
func Text(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}

// Word is a node of a number or of true and false, which stand without quotes.
func Word(tag, s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: s} }

// List is a list of nodes.
func List(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: items}
}

// Mapping is an empty mapping, to which Put adds.
func Mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode} }

// Put adds a key to a mapping, or gives it another value; nil takes it out.
func Put(n *yaml.Node, key string, v *yaml.Node) { set(n, key, v) }
