package config

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestEveryKeyIsDocumented keeps docs/configuration.md whole: each key that holds a value stands there
// by its path, in code type.
func TestEveryKeyIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var walk func(typ reflect.Type, path string)
	walk = func(typ reflect.Type, path string) {
		if typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct {
			walk(typ.Elem(), path+"[]")
			return
		}
		if typ.Kind() != reflect.Struct {
			if !strings.Contains(string(text), "`"+path+"`") {
				t.Errorf("docs/configuration.md says nothing of `%s`", path)
			}
			return
		}
		for field := range typ.Fields() {
			walk(field.Type, join(path, field.Tag.Get("mapstructure")))
		}
	}
	walk(reflect.TypeFor[file](), "")
}
