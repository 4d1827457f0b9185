package trunkgroup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// trees compares everything of two documents but numbers and sources, field by
// field over their JSON form: a key that the document gains later is compared
// without a line here.
func (d *Diff) trees(was, would *Document) {
	d.object(place{what: "document"}, tree(was), tree(would))
}

// tree returns a document as JSON values.
func tree(doc *Document) map[string]any {
	bare := *doc
	bare.TrunkGroups = slices.Clone(doc.TrunkGroups)
	for i := range bare.TrunkGroups {
		bare.TrunkGroups[i].Numbers, bare.TrunkGroups[i].Sources = nil, nil
	}
	out := make(map[string]any)
	text, err := json.Marshal(&bare)
	if err != nil {
		return out // never: the document was read from text
	}
	r := json.NewDecoder(bytes.NewReader(text))
	r.UseNumber()
	if r.Decode(&out) != nil {
		return map[string]any{}
	}
	return out
}

// place says where in the document something stands.
type place struct {
	what, name string
	field      string // path below the thing
	group      string
}

// listOf names the lists of things: the key that tells their elements apart,
// and what an element is. Both are empty for anything else.
func listOf(what, field string) (key, element string) {
	switch what + "." + field {
	case "document.sites":
		return "name", "site"
	case "document.trunk_groups":
		return "name", "group"
	case "document.route_plans":
		return "name", "route_plan"
	case "document.customers":
		return "name", "customer"
	case "group.members":
		return "id", "member"
	case "group.credentials":
		return "username", "credential"
	case "route_plan.routes":
		return "prefix", "route"
	}
	return "", ""
}

// object compares the fields of one thing.
func (d *Diff) object(p place, was, would map[string]any) {
	keys := slices.Sorted(maps.Keys(was))
	for key := range would {
		if _, known := was[key]; !known {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		old, now := was[key], would[key]
		if id, element := listOf(p.what, key); id != "" && p.field == "" {
			d.things(p, id, element, elements(old), elements(now))
			continue
		}
		at := p
		at.field = strings.TrimPrefix(p.field+"."+key, ".")
		a, isA := old.(map[string]any)
		b, isB := now.(map[string]any)
		if (isA || old == nil) && (isB || now == nil) {
			d.object(at, a, b)
			continue
		}
		if x, y := plain(old), plain(now); x != y {
			if isSecret(key) {
				x, y = "", ""
			} else {
				x, y = plain(shown(old)), plain(shown(now))
			}
			d.add(Difference{Op: Changed, What: at.what, Name: at.name, Group: at.group, Field: at.field, Was: short(x), Would: short(y)})
		}
	}
}

// things compares two lists whose elements have a key.
func (d *Diff) things(p place, key, what string, was, would []any) {
	old, oldOrder := keyed(was, key)
	now, nowOrder := keyed(would, key)
	for _, k := range oldOrder {
		if _, kept := now[k]; !kept {
			at := place{what: what, name: p.below(what, k), group: p.owner(what)}
			d.add(Difference{Op: Removed, What: what, Name: at.name, Group: at.group})
			if what == "group" {
				d.things(at, "id", "member", elements(old[k]["members"]), nil)
			}
		}
	}
	for _, k := range nowOrder {
		at := place{what: what, name: p.below(what, k), group: p.owner(what)}
		before, known := old[k]
		if !known {
			d.add(Difference{Op: Added, What: what, Name: at.name, Group: at.group, Would: summary(now[k])})
			if what == "group" {
				d.things(at, "id", "member", nil, elements(now[k]["members"]))
			}
			continue
		}
		d.object(at, before, now[k])
	}
	d.order(p, what, slices.DeleteFunc(oldOrder, absentIn(now)), slices.DeleteFunc(nowOrder, absentIn(old)))
}

// order compares the order of the things that both lists hold.
func (d *Diff) order(p place, what string, was, would []string) {
	if slices.Equal(was, would) {
		return
	}
	d.add(Difference{
		Op: Reordered, What: p.what, Name: p.name, Field: what + "s",
		Was: short(strings.Join(was, ", ")), Would: short(strings.Join(would, ", ")),
	})
}

func absentIn(m map[string]map[string]any) func(string) bool {
	return func(k string) bool { _, ok := m[k]; return !ok }
}

// below names an element of a list of the place.
func (p *place) below(what, key string) string {
	if p.name == "" || what == "credential" {
		return key
	}
	return p.name + "/" + key
}

// owner is the group that a thing of the place belongs to, where its name does
// not say it.
func (p *place) owner(what string) string {
	if what == "credential" {
		return p.name
	}
	return ""
}

func elements(v any) []any {
	list, _ := v.([]any)
	return list
}

// keyed returns the elements of a list by key, and the keys in order.
func keyed(list []any, key string) (map[string]map[string]any, []string) {
	m, order := make(map[string]map[string]any, len(list)), make([]string, 0, len(list))
	for _, v := range list {
		o, ok := v.(map[string]any)
		if !ok {
			continue
		}
		k := plain(o[key])
		if realm, ok := o["realm"]; ok {
			k += "@" + plain(realm)
		}
		if _, twice := m[k]; !twice {
			order = append(order, k)
		}
		m[k] = o
	}
	return m, order
}

// summary says in a few words what a new thing is.
func summary(o map[string]any) string {
	var parts []string
	for _, key := range []string{"role", "site", "address", "fqdn", "transport", "priority", "weight"} {
		if v, ok := o[key]; ok {
			parts = append(parts, key+" "+plain(v))
		}
	}
	if r, ok := o["registration"].(map[string]any); ok {
		parts = append(parts, "registers as "+plain(r["aor"]))
	}
	return strings.Join(parts, ", ")
}

// plain writes a value as a person reads it.
func plain(v any) string {
	var parts []string
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		for i := range v {
			parts = append(parts, plain(v[i]))
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, key+" "+plain(v[key]))
		}
	default:
		return fmt.Sprint(v)
	}
	return strings.Join(parts, ", ")
}

// isSecret tells the keys whose values are shown to nobody: a password, or what is as
// good as one.
func isSecret(key string) bool {
	return strings.HasPrefix(key, "ha1_") || key == "auth_header" || key == "secret"
}

// shown is a value without what is secret in it: the values of such keys, and what an
// address says behind its path, where keys of an API stand.
func shown(v any) any {
	switch v := v.(type) {
	case string:
		return ShownURL(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = shown(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if isSecret(key) {
				value = "..."
			}
			out[key] = shown(value)
		}
		return out
	}
	return v
}

// short cuts a text that nobody would read to its end.
func short(s string) string {
	const most = 200
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
