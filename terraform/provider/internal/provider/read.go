package provider

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"go.yaml.in/yaml/v3"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/document"
)

// reading is how a thing is read from the document.
type reading struct {
	marks map[string]string // fingerprints of the hashes that were written, by user
	all   bool              // the resource takes everything that stands in its lists
}

// state is what the document says of a thing, as a value of the type as; before is what was known.
func (r *reading) state(t *thing, n *yaml.Node, before values, as tftypes.Object) (values, error) {
	out := values{}
	for name, kind := range as.AttributeTypes {
		out[name] = tftypes.NewValue(kind, nil)
		if v, ok := before[name]; ok {
			out[name] = v
		}
	}
	for i := range t.fields {
		f := &t.fields[i]
		v, err := f.value(document.Value(n, f.name), before[f.name], as.AttributeTypes[f.name])
		if err != nil {
			return nil, err
		}
		out[f.name] = v
	}
	if mark, ok := r.marks[userName(before)]; t.secret && ok && mark != fingerprint(n) {
		out[versionAttribute] = tftypes.NewValue(tftypes.Number, nil)
	}
	for _, p := range t.parts {
		v, err := r.parts(p, document.Value(n, p.list), out[p.list], as.AttributeTypes[p.list])
		if err != nil {
			return nil, err
		}
		out[p.list] = v
	}
	return out, nil
}

// parts are the things of a list that the resource owns, in the order in which it names them.
func (r *reading) parts(t *thing, list *yaml.Node, before tftypes.Value, as tftypes.Type) (tftypes.Value, error) {
	of, ok := as.(tftypes.List)
	if !ok || list == nil && len(itemsOf(before)) == 0 {
		return before, nil
	}
	owned := t.owned(before)
	if r.all && list != nil {
		owned = nil
		for _, item := range list.Content {
			owned = append(owned, t.named(item))
		}
	}
	var out []tftypes.Value
	for _, o := range owned {
		item := t.itemOf(list, o)
		switch {
		case item == nil:
			continue
		case t.scalar:
			out = append(out, o[t.keys[0]])
			continue
		}
		element, _ := of.ElementType.(tftypes.Object) // the schema says so
		v, err := r.state(t, item, o, element)
		if err != nil {
			return before, err
		}
		out = append(out, tftypes.NewValue(element, map[string]tftypes.Value(v)))
	}
	if len(out) == 0 && before.IsNull() {
		return before, nil
	}
	return tftypes.NewValue(as, out), nil
}

// itemOf is the item of a list that has the name of v.
func (t *thing) itemOf(list *yaml.Node, v values) *yaml.Node {
	if list == nil {
		return nil
	}
	for _, item := range list.Content {
		if t.same(t.named(item), v) {
			return item
		}
	}
	return nil
}

// marks are the fingerprints of all users of a thing in the document.
func marks(t *thing, n *yaml.Node, v values, into map[string]string) {
	if t.secret {
		into[userName(v)] = fingerprint(n)
	}
	for _, p := range t.parts {
		for _, item := range p.owned(v[p.list]) {
			if x := p.itemOf(document.Value(n, p.list), item); x != nil {
				marks(p, x, item, into)
			}
		}
	}
}

// importID takes the name of a thing apart: NAME, NAME/* for all that is inside too,
// GROUP/NAME of what stands in a trunk group, GROUP/USER@REALM of a digest user.
func (t *thing) importID(id string) (v values, all, ok bool) {
	v = values{}
	if t.inside {
		group, rest, found := strings.Cut(id, "/")
		if !found || group == "" {
			return nil, false, false
		}
		v[groupAttribute] = tftypes.NewValue(tftypes.String, group)
		id = rest
	} else if len(t.parts) > 0 {
		id, all = strings.CutSuffix(id, "/*")
	}
	names := []string{id}
	if len(t.keys) == 2 {
		i := strings.LastIndexByte(id, '@')
		if i < 0 {
			return nil, false, false
		}
		names = []string{id[:i], id[i+1:]}
	}
	for i, k := range t.keys {
		if names[i] == "" {
			return nil, false, false
		}
		v[k] = tftypes.NewValue(tftypes.String, names[i])
	}
	return v, all, true
}
