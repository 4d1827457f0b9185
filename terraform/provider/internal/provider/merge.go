package provider

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/document"
)

// known is a node without the keys that are no fields: what people wrote beside them.
func (f *field) known(n *yaml.Node) *yaml.Node {
	if n == nil || n.Kind == yaml.ScalarNode {
		return n
	}
	if f.kind != object || n.Kind != yaml.MappingNode {
		return orNil(n)
	}
	out := document.Mapping()
	for i := range f.fields {
		if v := f.fields[i].known(document.Value(n, f.fields[i].name)); v != nil {
			document.Put(out, f.fields[i].name, v)
		}
	}
	return orNil(out)
}

// strange reports that a mapping has keys that are no fields.
func (f *field) strange(n *yaml.Node) bool {
	for i := 0; i < len(n.Content); i += 2 {
		if !slices.ContainsFunc(f.fields, func(g field) bool { return g.name == n.Content[i].Value }) {
			return true
		}
	}
	return false
}

// merge brings the fields of the mapping at a path from old to v. A field is only changed
// where the document has what old says.
func merge(d *document.Document, at document.Path, fields []field, old, v values) error {
	for i := range fields {
		f := &fields[i]
		was, want := document.Canon(f.node(old[f.name])), document.Canon(f.node(v[f.name]))
		if was == want {
			continue
		}
		have := d.Node(at.Child(f.name))
		if f.kind == object && have != nil && have.Kind == yaml.MappingNode && (want != "" || f.strange(have)) {
			if err := merge(d, at.Child(f.name), f.fields, attributesOf(old[f.name]), attributesOf(v[f.name])); err != nil {
				return fmt.Errorf("%s.%w", f.name, err)
			}
			continue
		}
		switch is := document.Canon(f.known(have)); is {
		case want:
			continue
		case was:
		default:
			return fmt.Errorf("%s: %w", f.name, errChanged)
		}
		var err error
		if n := f.node(v[f.name]); n != nil {
			err = d.Set(at, f.name, n)
		} else {
			err = d.Unset(at, f.name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}
