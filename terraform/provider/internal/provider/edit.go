package provider

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"go.yaml.in/yaml/v3"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/document"
)

// Refusals of an edit.
var (
	// errNoGroup says that the trunk group of a thing is not there, errExists that a thing
	// of that name is, errGone that it is not, and errChanged that it is not as it was when
	// the plan was made.
	errNoGroup = errors.New("there is no such trunk group in the document")
	errExists  = errors.New("is in the document already, and not of this resource")
	errGone    = errors.New("is no longer in the document: plan again")
	errChanged = errors.New("was changed since the plan was made: plan again")
	errOthers  = errors.New("others have something in it")
)

// title is what a thing is called in messages and in the history.
func (t *thing) title(v values) string {
	name := make([]string, len(t.keys))
	for i, k := range t.keys {
		name[i] = v.text(k)
	}
	full := strings.Join(name, "@")
	if t.inside {
		full = v.text(groupAttribute) + "/" + full
	}
	return t.what + " " + full
}

// owner is the mapping in whose list the thing stands.
func (t *thing) owner(d *document.Document, v values) (document.Path, error) {
	if !t.inside {
		return document.Path{}, nil
	}
	p, ok := d.Find(document.Path{}, "trunk_groups", map[string]string{"name": v.text(groupAttribute)})
	if !ok {
		return nil, fmt.Errorf("trunk group %s: %w", v.text(groupAttribute), errNoGroup)
	}
	return p, nil
}

// find is where a thing stands below its owner.
func (t *thing) find(d *document.Document, owner document.Path, v values) (document.Path, bool) {
	keys := make(map[string]string)
	for _, k := range t.keys {
		name := k
		if t.scalar {
			name = ""
		}
		keys[name] = v.text(k)
	}
	return d.Find(owner, t.list, keys)
}

// node is a new thing as the document has it. secrets has what only the configuration says.
func (t *thing) node(v, secrets values) (*yaml.Node, error) {
	if t.scalar {
		return document.Text(v.text(t.keys[0])), nil
	}
	out := document.Mapping()
	for _, k := range t.keys {
		document.Put(out, k, document.Text(v.text(k)))
	}
	if t.secret {
		if err := checkPassword(secrets); err != nil {
			return nil, err
		}
		for i, hash := range hashes(v.text("username"), v.text("realm"), secrets.text(passwordAttribute)) {
			document.Put(out, hashKeys[i], document.Text(hash))
		}
	}
	for i := range t.fields {
		if n := t.fields[i].node(v[t.fields[i].name]); n != nil {
			document.Put(out, t.fields[i].name, n)
		}
	}
	for _, p := range t.parts {
		list := document.List()
		given := p.owned(secrets[p.list])
		for i, item := range p.owned(v[p.list]) {
			n, err := p.node(item, nth(given, i))
			if err != nil {
				return nil, err
			}
			list.Content = append(list.Content, n)
		}
		if len(list.Content) > 0 {
			document.Put(out, p.list, list)
		}
	}
	return out, nil
}

// owned are the things of a list that a resource names.
func (t *thing) owned(v tftypes.Value) []values {
	var out []values
	for _, item := range itemsOf(v) {
		if t.scalar {
			out = append(out, values{t.keys[0]: item})
		} else {
			out = append(out, attributesOf(item))
		}
	}
	return out
}

// nth is what the configuration says of an item; nothing when it says nothing.
func nth(all []values, i int) values {
	if i < len(all) {
		return all[i]
	}
	return values{}
}

// create writes a thing that is not there yet.
func (t *thing) create(d *document.Document, v, secrets values) error {
	owner, err := t.owner(d, v)
	if err != nil {
		return err
	}
	if _, there := t.find(d, owner, v); there {
		return errExists
	}
	n, err := t.node(v, secrets)
	if err != nil {
		return err
	}
	return d.Append(owner, t.list, n)
}

// update changes what differs between two states of a thing.
func (t *thing) update(d *document.Document, old, v, secrets values) error {
	owner, err := t.owner(d, v)
	if err != nil {
		return err
	}
	if _, there := t.find(d, owner, v); !there {
		return errGone
	}
	return t.change(d, owner, old, v, secrets)
}

// change brings a thing that is there from old to v.
func (t *thing) change(d *document.Document, owner document.Path, old, v, secrets values) error {
	at, there := t.find(d, owner, v)
	if !there {
		return errGone
	}
	if err := merge(d, at, t.fields, old, v); err != nil {
		return err
	}
	if t.rehash(old, v) {
		if err := checkPassword(secrets); err != nil {
			return err
		}
		for i, hash := range hashes(v.text("username"), v.text("realm"), secrets.text(passwordAttribute)) {
			if err := d.Set(at, hashKeys[i], document.Text(hash)); err != nil {
				return err
			}
		}
	}
	for _, p := range t.parts {
		if err := p.changeParts(d, at, old[p.list], v[p.list], secrets[p.list]); err != nil {
			return err
		}
	}
	return nil
}

// rehash reports that the password of a user that is there is to be hashed anew.
func (t *thing) rehash(old, v values) bool {
	return t.secret && !v[versionAttribute].IsNull() && !v[versionAttribute].Equal(old[versionAttribute])
}

// changeParts brings the things that a resource owns in a list from old to v, and leaves
// the others alone. What comes goes before what leaves: a list that must not be empty never is.
func (t *thing) changeParts(d *document.Document, owner document.Path, old, v, secrets tftypes.Value) error {
	was, given := t.owned(old), t.owned(secrets)
	now := t.owned(v)
	for i, item := range now {
		before := slices.IndexFunc(was, func(o values) bool { return t.same(o, item) })
		_, there := t.find(d, owner, item)
		var err error
		switch {
		case before >= 0 && there:
			err = t.change(d, owner, was[before], item, nth(given, i))
		case before >= 0:
			err = errGone
		case there:
			err = errExists
		default:
			var n *yaml.Node
			if n, err = t.node(item, nth(given, i)); err == nil {
				err = d.Append(owner, t.list, n)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.nameOf(item), err)
		}
	}
	for _, o := range was {
		if slices.ContainsFunc(now, func(n values) bool { return t.same(o, n) }) {
			continue
		}
		if err := t.drop(d, owner, o); err != nil {
			return fmt.Errorf("%s: %w", t.nameOf(o), err)
		}
	}
	return nil
}

// nameOf is the title of a part without its trunk group.
func (t *thing) nameOf(v values) string { return (&thing{what: t.what, keys: t.keys}).title(v) }

// same reports whether two things have the same name.
func (t *thing) same(a, b values) bool {
	return !slices.ContainsFunc(t.keys, func(k string) bool { return a.text(k) != b.text(k) })
}

// remove takes a thing out that is still as it was; one that is gone already is no error.
func (t *thing) remove(d *document.Document, old values) error {
	owner, err := t.owner(d, old)
	if errors.Is(err, errNoGroup) {
		return nil
	}
	if err != nil {
		return err
	}
	return t.drop(d, owner, old)
}

func (t *thing) drop(d *document.Document, owner document.Path, old values) error {
	at, there := t.find(d, owner, old)
	if !there {
		return nil
	}
	n := d.Node(at)
	for i := range t.fields {
		f := &t.fields[i]
		if document.Canon(f.known(document.Value(n, f.name))) != document.Canon(f.node(old[f.name])) {
			return fmt.Errorf("%s: %w", f.name, errChanged)
		}
	}
	for _, p := range t.parts {
		if foreign := p.foreign(n, old[p.list]); len(foreign) > 0 {
			return fmt.Errorf("%w: %s %s; take them out first, or with terraform state rm leave the %s to people",
				errOthers, p.list, strings.Join(foreign, ", "), t.what)
		}
	}
	return d.Remove(at)
}

// foreign are the names of the things in a list of n that a resource does not own.
func (t *thing) foreign(n *yaml.Node, owned tftypes.Value) []string {
	list := document.Value(n, t.list)
	if list == nil {
		return nil
	}
	var out []string
	for _, item := range list.Content {
		v := t.named(item)
		if !slices.ContainsFunc(t.owned(owned), func(o values) bool { return t.same(o, v) }) {
			out = append(out, strings.TrimPrefix(t.nameOf(v), t.what+" "))
		}
	}
	return out
}

// named are the keys of a thing in the document.
func (t *thing) named(item *yaml.Node) values {
	out := values{}
	for _, k := range t.keys {
		n := item
		if !t.scalar {
			n = document.Value(item, k)
		}
		if n != nil {
			out[k] = tftypes.NewValue(tftypes.String, n.Value)
		}
	}
	return out
}
