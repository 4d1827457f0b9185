package yamldoc

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Refusals of an edit.
var (
	// ErrNoGroup says that the document has no such group, ErrNoMember that the group
	// has no such member, ErrMember that it has one of that id already.
	ErrNoGroup  = errors.New("no such group")
	ErrNoMember = errors.New("no such member")
	ErrMember   = errors.New("the group has a member of that id")
	// ErrEdit says that the text is written in a way in which no place for the edit is
	// found; whoever wrote it can make the change by hand.
	ErrEdit = errors.New("the document is written in a way that cannot be edited here: change it by hand, with config show and config apply")
)

// AddMember writes a member at the end of a group's members, on a line of its own
// or, where they stand in brackets, behind the last one. Nothing else of the text
// changes. The error may be trunkgroup.Faults, of the document as it would be.
func AddMember(file string, text []byte, group string, m trunkgroup.MemberSpec) ([]byte, error) {
	doc, g, err := find(file, text, group)
	if err != nil {
		return nil, err
	}
	spec := &doc.TrunkGroups[g.index]
	if slices.ContainsFunc(spec.Members, func(o trunkgroup.MemberSpec) bool { return o.ID == m.ID }) {
		return nil, fmt.Errorf("%s/%s: %w", group, m.ID, ErrMember)
	}
	line, err := flow(&m)
	if err != nil {
		return nil, err
	}
	spec.Members = append(spec.Members, m)
	return proven(file, g.add(newPage(text), line), doc)
}

// RemoveMember takes a member out of a group, with the comment that stands above
// it. Nothing else of the text changes.
func RemoveMember(file string, text []byte, group, id string) ([]byte, error) {
	doc, g, err := find(file, text, group)
	if err != nil {
		return nil, err
	}
	spec := &doc.TrunkGroups[g.index]
	i := slices.IndexFunc(spec.Members, func(o trunkgroup.MemberSpec) bool { return o.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("%s/%s: %w", group, id, ErrNoMember)
	}
	spec.Members = slices.Delete(spec.Members, i, i+1)
	return proven(file, g.remove(newPage(text), i), doc)
}

// proven returns an edited text when it says what was meant, and nothing else.
func proven(file string, text []byte, want *trunkgroup.Document) ([]byte, error) {
	if text == nil {
		return nil, ErrEdit
	}
	got, err := Decode(file, text)
	switch {
	case err != nil && len(want.Validate()) == 0:
		return nil, ErrEdit // what is meant is good, how it was written is not
	case err != nil:
		return nil, err
	}
	for _, d := range []*trunkgroup.Document{got, want} {
		for i := range d.TrunkGroups {
			if len(d.TrunkGroups[i].Members) == 0 {
				d.TrunkGroups[i].Members = nil
			}
		}
	}
	if !reflect.DeepEqual(got, want) {
		return nil, ErrEdit
	}
	return text, nil
}

// flow writes a member on one line.
func flow(m *trunkgroup.MemberSpec) (string, error) {
	var n yaml.Node
	if err := n.Encode(m); err != nil {
		return "", fmt.Errorf("write a member: %w", err)
	}
	n.Style = yaml.FlowStyle
	for _, v := range n.Content {
		if v.Kind != yaml.ScalarNode {
			v.Style = yaml.FlowStyle
		}
	}
	text, err := yaml.Marshal(&n)
	if err != nil {
		return "", fmt.Errorf("write a member: %w", err)
	}
	return string(slices.DeleteFunc(text, func(c byte) bool { return c == '\n' })), nil
}

// place is where a group stands in the text.
type place struct {
	index   int
	mapping *yaml.Node
	key     *yaml.Node // of its members; nil when it has none
	members *yaml.Node
}

// find reads a document and finds a group in it.
func find(file string, text []byte, group string) (*trunkgroup.Document, *place, error) {
	doc, err := Decode(file, text)
	if err != nil {
		return nil, nil, err
	}
	d := &decoder{}
	root := d.parse(text)
	groups := valueOf(root, "trunk_groups")
	if groups == nil {
		return nil, nil, fmt.Errorf("%s: %w", group, ErrNoGroup)
	}
	for i, n := range groups.Content {
		if name := valueOf(n, "name"); name == nil || name.Value != group {
			continue
		}
		p := &place{index: i, mapping: n}
		for j := 0; j+1 < len(n.Content); j += 2 {
			if n.Content[j].Value == "members" {
				p.key, p.members = n.Content[j], n.Content[j+1]
			}
		}
		return doc, p, nil
	}
	return nil, nil, fmt.Errorf("%s: %w", group, ErrNoGroup)
}

// valueOf is the value of a key of a mapping.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
