package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// A schema is what the mirror holds of the provider.
type schema struct {
	Provider    block
	Resources   map[string]block
	DataSources map[string]block
}

// A block is what stands between two braces of a configuration.
type block struct {
	Attributes []attribute       `json:",omitempty"`
	Blocks     map[string]nested `json:",omitempty"`
}

// An attribute is one that a configuration sets (Needed, or at will), or one that only the provider sets (Told).
type attribute struct {
	Name   string
	Type   json.RawMessage // as Terraform writes types: ["list","string"]
	Needed bool            `json:",omitempty"`
	Told   bool            `json:",omitempty"`
}

// nested is a block inside a block.
type nested struct {
	Block  block
	Many   string // list, set, or single
	Needed bool   `json:",omitempty"`
	One    bool   `json:",omitempty"` // at most one
}

// A use is a type that a configuration names.
type use struct {
	data bool
	name string
}

var useLine = regexp.MustCompile(`(?m)^\s*(resource|data)\s+"(google_\w+)"`)

// usesIn finds the types that the configurations below a directory name.
func usesIn(dir string) (map[use]bool, error) {
	uses := map[use]bool{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".tf" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range useLine.FindAllStringSubmatch(string(text), -1) {
			uses[use{data: m[1] == "data", name: m[2]}] = true
		}
		return nil
	})
	return uses, err
}

// extract makes the schema of the types that are used, from the bindings in a directory.
func extract(bindings string, uses map[use]bool) (schema, error) {
	s := schema{Resources: map[string]block{}, DataSources: map[string]block{}}
	for u := range uses {
		folder := strings.ReplaceAll(strings.TrimPrefix(u.name, "google_"), "_", "-")
		into := s.Resources
		if u.data {
			folder, into = "data-google-"+folder, s.DataSources
		}
		b, err := typeIn(filepath.Join(bindings, "lib", folder, "index.js"), u.name)
		if err != nil {
			return s, err
		}
		into[u.name] = b
	}
	b, err := typeIn(filepath.Join(bindings, "lib", "provider", "index.js"), "google")
	// alias is Terraform's own word, which a provider must not have.
	b.Attributes = slices.DeleteFunc(b.Attributes, func(a attribute) bool { return a.Name == "alias" })
	s.Provider = b
	return s, err
}

// typeIn is the block of one type, which a file of the bindings describes.
func typeIn(path, name string) (block, error) {
	classes, err := readClasses(path)
	if os.IsNotExist(err) {
		return block{}, fmt.Errorf("%s: the provider has no such type", name)
	}
	if err != nil {
		return block{}, err
	}
	for _, c := range classes {
		if c.typeName == name {
			return blockOf(c, classes)
		}
	}
	return block{}, fmt.Errorf("%s: no class of %s is of that type", name, path)
}

// blockOf turns a class into a block. A block that nobody can write is an attribute that the provider tells.
func blockOf(c *class, classes map[string]*class) (block, error) {
	b := block{Blocks: map[string]nested{}}
	for _, key := range c.order {
		p := c.properties[key]
		if p.name == "" {
			continue // a method of the bindings that is no property of the provider
		}
		if p.class != "" && p.set {
			inner, err := blockOf(classes[p.class], classes)
			if err != nil {
				return b, err
			}
			many := p.many
			if p.name == "timeouts" {
				many = "single"
			}
			b.Blocks[p.name] = nested{Block: inner, Many: many, Needed: !p.reset, One: p.single}
			continue
		}
		t, err := typeOf(p, classes)
		if err != nil {
			return b, fmt.Errorf("%s.%s: %w", c.name, key, err)
		}
		raw, err := json.Marshal(t)
		if err != nil {
			return b, err
		}
		b.Attributes = append(b.Attributes, attribute{Name: p.name, Type: raw, Needed: p.set && !p.reset, Told: !p.set})
	}
	sort.Slice(b.Attributes, func(i, j int) bool { return b.Attributes[i].Name < b.Attributes[j].Name })
	return b, nil
}

// typeOf is the type of a property as Terraform writes it in JSON.
func typeOf(p *property, classes map[string]*class) (any, error) {
	var of any = p.kind
	switch {
	case p.class != "":
		c := classes[p.class]
		if c == nil {
			return nil, fmt.Errorf("there is no class %s", p.class)
		}
		fields := map[string]any{}
		for _, key := range c.order {
			inner := c.properties[key]
			if inner.name == "" {
				continue
			}
			t, err := typeOf(inner, classes)
			if err != nil {
				return nil, err
			}
			fields[inner.name] = t
		}
		of = []any{"object", fields}
	case p.kind == "":
		return nil, fmt.Errorf("its kind is not known")
	}
	if p.many == "" {
		return of, nil
	}
	return []any{p.many, of}, nil
}

// protocol is the block in the form of the plugin protocol. What is optional may also be filled in by the provider:
// the bindings do not say by which, and a mock's answers are refused for what only a configuration may set.
func (b block) protocol() (*tfprotov5.SchemaBlock, error) {
	out := &tfprotov5.SchemaBlock{}
	for _, a := range b.Attributes {
		t, err := tftypes.ParseJSONType(a.Type) //nolint:staticcheck // the only reader of such types there is
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
		out.Attributes = append(out.Attributes, &tfprotov5.SchemaAttribute{
			Name: a.Name, Type: t, Required: a.Needed, Optional: !a.Needed && !a.Told, Computed: !a.Needed,
		})
	}
	names := make([]string, 0, len(b.Blocks))
	for name := range b.Blocks {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		n := b.Blocks[name]
		inner, err := n.Block.protocol()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		nb := &tfprotov5.SchemaNestedBlock{TypeName: name, Block: inner}
		switch n.Many {
		case "single":
			nb.Nesting = tfprotov5.SchemaNestedBlockNestingModeSingle
			for _, a := range inner.Attributes {
				a.Computed = false // timeouts are Terraform's own
			}
		case "set":
			nb.Nesting = tfprotov5.SchemaNestedBlockNestingModeSet
		default:
			nb.Nesting = tfprotov5.SchemaNestedBlockNestingModeList
		}
		if n.Needed {
			nb.MinItems = 1
		}
		if n.One && n.Many != "single" {
			nb.MaxItems = 1
		}
		out.BlockTypes = append(out.BlockTypes, nb)
	}
	return out, nil
}
