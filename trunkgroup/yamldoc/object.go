package yamldoc

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// keys walks a mapping and calls fn for each key that stands there first.
func (d *decoder) keys(n *yaml.Node, path string, fn func(key, value *yaml.Node, path string)) {
	lines := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			d.fault(key, path, "a key is not a word", "write keys as plain words")
			continue
		}
		at := key.Value
		if path != "" {
			at = path + "." + at
		}
		if line, ok := lines[key.Value]; ok {
			d.fault(key, at, fmt.Sprintf("stands already in line %d", line), "keep one of the two")
			continue
		}
		lines[key.Value] = key.Line
		fn(key, value, at)
	}
}

func (d *decoder) object(n *yaml.Node, v reflect.Value, path string) {
	if !d.is(n, yaml.MappingNode, path, "a mapping") {
		return
	}
	d.keys(n, path, func(key, value *yaml.Node, at string) {
		field, ok := fieldOf(v.Type(), key.Value)
		if !ok {
			d.fault(key, at, "is no key here", trunkgroup.Suggest(key.Value, fieldNames(v.Type())))
			return
		}
		d.value(value, v.FieldByIndex(field.Index), at)
		if refusesZero(field) && value.Tag == "!!int" && value.Style&yaml.TaggedStyle == 0 && v.FieldByIndex(field.Index).IsZero() {
			d.fault(value, at, "0 does not mean none here", "leave the key out for the default, or use a number above zero")
		}
	})
}

// refusesZero reports whether a written 0 would silently mean the default.
func refusesZero(f reflect.StructField) bool {
	return f.Type.Kind() == reflect.Int && f.Tag.Get("zero") != "ok"
}

func (d *decoder) dictionary(n *yaml.Node, v reflect.Value, path string) {
	if !d.is(n, yaml.MappingNode, path, "a mapping") {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	d.keys(n, path, func(key, value *yaml.Node, at string) {
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(value, item, at)
		v.SetMapIndex(reflect.ValueOf(key.Value), item)
	})
}

func keyName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	for f := range t.Fields() {
		if keyName(f) == key && key != "" {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func fieldNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = keyName(t.Field(i))
	}
	return names
}
