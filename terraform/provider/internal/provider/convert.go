package provider

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"go.yaml.in/yaml/v3"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/document"
)

// values are the attributes of a thing, by name.
type values map[string]tftypes.Value

// attributesOf takes a value apart; none when it is null or unknown.
func attributesOf(v tftypes.Value) values {
	out := map[string]tftypes.Value{}
	if v.IsNull() || !v.IsKnown() || v.As(&out) != nil {
		return values{}
	}
	return out
}

// itemsOf are the items of a list, or nil.
func itemsOf(v tftypes.Value) []tftypes.Value {
	var out []tftypes.Value
	if v.IsNull() || !v.IsKnown() || v.As(&out) != nil {
		return nil
	}
	return out
}

// text is a text attribute; empty when it is null.
func (v values) text(name string) string {
	var s string
	if x, ok := v[name]; ok && x.IsKnown() && !x.IsNull() {
		_ = x.As(&s) // the schema says that it is one
	}
	return s
}

// node writes a field's value as the document has it; nil for what stands for nothing:
// null, an empty list, an object without values.
func (f *field) node(v tftypes.Value) *yaml.Node {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	switch f.kind {
	case number, numbers, flag, text, texts, shares:
		return plainNode(v)
	case object:
		return mapping(f.fields, attributesOf(v))
	}
	out := document.List()
	for _, item := range itemsOf(v) {
		if n := mapping(f.fields, attributesOf(item)); n != nil {
			out.Content = append(out.Content, n)
		}
	}
	return orNil(out)
}

func orNil(n *yaml.Node) *yaml.Node {
	if len(n.Content) == 0 {
		return nil
	}
	return n
}

// mapping writes the fields that have a value.
func mapping(fields []field, from values) *yaml.Node {
	out := document.Mapping()
	for i := range fields {
		if n := fields[i].node(from[fields[i].name]); n != nil {
			document.Put(out, fields[i].name, n)
		}
	}
	return orNil(out)
}

// plainNode writes a value without fields.
func plainNode(v tftypes.Value) *yaml.Node {
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	var s string
	if v.As(&s) == nil {
		return document.Text(s)
	}
	var b bool
	if v.As(&b) == nil {
		return document.Word("!!bool", strconv.FormatBool(b))
	}
	n := new(big.Float)
	if v.As(&n) == nil {
		return document.Word("!!int", n.Text('f', -1))
	}
	if items := itemsOf(v); items != nil {
		out := document.List()
		for _, item := range items {
			if x := plainNode(item); x != nil {
				out.Content = append(out.Content, x)
			}
		}
		return orNil(out)
	}
	by := attributesOf(v)
	out := document.Mapping()
	for _, name := range sorted(by) {
		if x := plainNode(by[name]); x != nil {
			document.Put(out, name, x)
		}
	}
	return orNil(out)
}

func sorted(by values) []string {
	names := make([]string, 0, len(by))
	for name := range by {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// value reads a field from the document. Where the document says the same as before, the
// value stays as it was: an empty list and none are the same there.
func (f *field) value(n *yaml.Node, before tftypes.Value, as tftypes.Type) (tftypes.Value, error) {
	v, err := f.read(n, as)
	if err == nil && document.Canon(f.node(v)) == document.Canon(f.node(before)) && before.Type() != nil {
		return before, nil
	}
	return v, err
}

func (f *field) read(n *yaml.Node, as tftypes.Type) (tftypes.Value, error) {
	if n == nil {
		return tftypes.NewValue(as, nil), nil
	}
	wrong := fmt.Errorf("%s: the document says what a %s cannot be", f.name, f.name)
	switch t := as.(type) {
	case tftypes.Object:
		if n.Kind != yaml.MappingNode {
			return tftypes.Value{}, wrong
		}
		out := values{}
		for i := range f.fields {
			g := &f.fields[i]
			v, err := g.read(document.Value(n, g.name), t.AttributeTypes[g.name])
			if err != nil {
				return v, fmt.Errorf("%s.%w", f.name, err)
			}
			out[g.name] = v
		}
		return tftypes.NewValue(t, map[string]tftypes.Value(out)), nil
	case tftypes.List:
		if n.Kind != yaml.SequenceNode {
			return tftypes.Value{}, wrong
		}
		out := []tftypes.Value{}
		for _, item := range n.Content {
			v, err := f.read(item, t.ElementType)
			if err != nil {
				return v, err
			}
			out = append(out, v)
		}
		return tftypes.NewValue(t, out), nil
	case tftypes.Map:
		if n.Kind != yaml.MappingNode {
			return tftypes.Value{}, wrong
		}
		out := map[string]tftypes.Value{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := f.read(n.Content[i+1], t.ElementType)
			if err != nil {
				return v, err
			}
			out[n.Content[i].Value] = v
		}
		return tftypes.NewValue(t, out), nil
	}
	return scalar(n, as, wrong)
}

// scalar reads one word.
func scalar(n *yaml.Node, as tftypes.Type, wrong error) (tftypes.Value, error) {
	switch {
	case n.Kind != yaml.ScalarNode:
		return tftypes.Value{}, wrong
	case as.Is(tftypes.String):
		return tftypes.NewValue(as, n.Value), nil
	case as.Is(tftypes.Bool):
		b, err := strconv.ParseBool(n.Value)
		if err != nil {
			return tftypes.Value{}, wrong
		}
		return tftypes.NewValue(as, b), nil
	}
	i, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		return tftypes.Value{}, wrong
	}
	return tftypes.NewValue(as, i), nil
}
