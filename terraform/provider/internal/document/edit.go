package document

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Set gives a key of the mapping at p a value, which is written on one line. A comment
// behind the old value on its line stays.
func (d *Document) Set(p Path, key string, v *yaml.Node) error {
	n := d.Node(p)
	if n == nil || n.Kind != yaml.MappingNode {
		return ErrEdit
	}
	want := d.meant(p, func(n *yaml.Node) { set(n, key, v) })
	k, old := entry(n, key)
	if k == nil {
		text, ok := d.insertKey(n, key, flow(v))
		return d.prove(text, ok, want)
	}
	from := d.offset(old)
	if to, ok := d.valueEnd(old); ok {
		return d.prove(d.text[:from]+flow(v)+d.text[to:], true, want)
	}
	line := d.lines[k.Line-1]
	head := line[:d.offset(k)-d.start(k.Line-1)+len(d.keyText(k))]
	to := d.entryEnd(k, old)
	return d.prove(d.join(k.Line-1, to, head+": "+flow(v)+"\n"), true, want)
}

// keyText is a key as it is written, with its quotes.
func (d *Document) keyText(k *yaml.Node) string {
	at := d.offset(k)
	if d.text[at] == '"' || d.text[at] == '\'' {
		return d.text[at : quoted(d.text, at)+1]
	}
	return k.Value
}

// insertKey writes a new key behind the last one of a mapping. Lists of things get one
// line for each thing where the mapping is not in brackets.
func (d *Document) insertKey(n *yaml.Node, key, value string) (string, bool) {
	switch {
	case isFlow(n):
		what := key + ": " + value
		if len(n.Content) > 0 {
			what = ", " + what
		}
		return d.before(n, '}', what)
	case len(n.Content) == 0:
		return "", false
	}
	last := len(n.Content) - 2
	k, v := n.Content[last], n.Content[last+1]
	indent := strings.Repeat(" ", n.Content[0].Column-1)
	at := d.entryEnd(k, v)
	return d.join(at, at, indent+key+": "+value+"\n"), true
}

// Unset takes a key out of the mapping at p.
func (d *Document) Unset(p Path, key string) error {
	n := d.Node(p)
	k, v := entry(n, key)
	if k == nil {
		return nil
	}
	want := d.meant(p, func(n *yaml.Node) { set(n, key, nil) })
	if isFlow(n) {
		text, ok := d.cut(d.offset(k))
		return d.prove(text, ok, want)
	}
	to := d.entryEnd(k, v)
	line := d.lines[k.Line-1]
	if strings.TrimSpace(line[:k.Column-1]) == "" {
		return d.prove(d.join(k.Line-1, to, ""), true, want)
	}
	// It is the first key, behind the dash of an item: the next one takes its place.
	i := slices.Index(n.Content, k)
	if i+2 >= len(n.Content) || n.Content[i+2].Line-1 != to {
		return ErrEdit
	}
	next := n.Content[i+2]
	return d.prove(d.join(k.Line-1, to+1, line[:k.Column-1]+d.lines[to][next.Column-1:]), true, want)
}

// Append writes an item at the end of a list below the mapping at p, and the list when
// there is none.
func (d *Document) Append(p Path, list string, v *yaml.Node) error {
	n := d.Node(p)
	if n == nil || n.Kind != yaml.MappingNode {
		return ErrEdit
	}
	want := d.meant(p, func(n *yaml.Node) {
		_, have := entry(n, list)
		if have == nil {
			set(n, list, List(v))
			return
		}
		have.Content = append(have.Content, v)
	})
	_, items := entry(n, list)
	switch {
	case items == nil && isFlow(n):
		text, ok := d.insertKey(n, list, "["+flow(v)+"]")
		return d.prove(text, ok, want)
	case items == nil:
		text, ok := d.insertList(n, list, v)
		return d.prove(text, ok, want)
	case items.Kind != yaml.SequenceNode:
		return ErrEdit
	case isFlow(items):
		what := flow(v)
		if len(items.Content) > 0 {
			what = ", " + what
		}
		text, ok := d.before(items, ']', what)
		return d.prove(text, ok, want)
	}
	first, last := items.Content[0], items.Content[len(items.Content)-1]
	dash := d.dash(last)
	if dash < 0 || d.dash(first) != dash {
		return ErrEdit
	}
	at := d.blockEnd(last.Line-1, dash)
	return d.prove(d.join(at, at, item(v, dash)), true, want)
}

// insertList writes a new list of one item behind the last key of a mapping.
func (d *Document) insertList(n *yaml.Node, list string, v *yaml.Node) (string, bool) {
	if len(n.Content) == 0 {
		return "", false
	}
	last := len(n.Content) - 2
	indent := n.Content[0].Column - 1
	at := d.entryEnd(n.Content[last], n.Content[last+1])
	return d.join(at, at, strings.Repeat(" ", indent)+list+":\n"+item(v, indent+2)), true
}

// Remove takes the item at p out of its list, with the comment that stands right above
// it, and the key of the list when it was the last one.
func (d *Document) Remove(p Path) error {
	i, ok := p[len(p)-1].(int)
	if !ok || len(p) < 2 {
		return ErrEdit
	}
	list, _ := p[len(p)-2].(string)
	owner := p[:len(p)-2]
	items := d.Node(p[:len(p)-1])
	if items == nil || i >= len(items.Content) {
		return nil
	}
	if len(items.Content) == 1 {
		return d.Unset(owner, list)
	}
	want := d.meant(p[:len(p)-1], func(n *yaml.Node) { n.Content = slices.Delete(n.Content, i, i+1) })
	node := items.Content[i]
	if isFlow(items) {
		text, ok := d.cut(d.offset(node))
		return d.prove(text, ok, want)
	}
	dash := d.dash(node)
	if dash < 0 {
		return ErrEdit
	}
	from, to := node.Line-1, d.blockEnd(node.Line-1, dash)
	for i > 0 && from > 0 && strings.HasPrefix(strings.TrimSpace(d.lines[from-1]), "#") {
		from-- // what is said above the first item may be about all of them
	}
	return d.prove(d.join(from, to, ""), true, want)
}

// item writes a new item of a list that is not in brackets: a thing with lists of things
// of its own key by key, everything else on one line.
func item(v *yaml.Node, dash int) string {
	indent := strings.Repeat(" ", dash)
	if v.Kind != yaml.MappingNode || !slices.ContainsFunc(v.Content, long) {
		return indent + "- " + flow(v) + "\n"
	}
	var b strings.Builder
	for i := 0; i+1 < len(v.Content); i += 2 {
		lead := indent + "  "
		if i == 0 {
			lead = indent + "- "
		}
		key, value := v.Content[i].Value, v.Content[i+1]
		if !long(value) || value.Kind != yaml.SequenceNode {
			b.WriteString(lead + key + ": " + flow(value) + "\n")
			continue
		}
		b.WriteString(lead + key + ":\n")
		for _, x := range value.Content {
			b.WriteString(indent + "    - " + flow(x) + "\n")
		}
	}
	return b.String()
}

// long reports that a node does not fit on a line with others: a mapping, or a list of them.
func long(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && len(n.Content) > 0 || n.Kind == yaml.SequenceNode && slices.ContainsFunc(n.Content, long)
}

// flow writes a node on one line.
func flow(n *yaml.Node) string {
	c := List(copied(n)) // quotes are needed in brackets that are not needed outside
	bracketed(c)
	text, err := yaml.Marshal(c)
	if err != nil {
		return "" // not provable, so refused
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(string(text), "\n", ""), "["), "]")
}

func bracketed(n *yaml.Node) {
	switch n.Kind {
	case yaml.ScalarNode:
		if strings.ContainsAny(n.Value, "\n\r") {
			n.Style = yaml.DoubleQuotedStyle
		}
	default:
		n.Style = yaml.FlowStyle
	}
	for _, c := range n.Content {
		bracketed(c)
	}
}
