package main

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// TestEveryKeyOfTheDocumentIsDocumented looks for each key of the cluster document in the operator's
// guides.
func TestEveryKeyOfTheDocumentIsDocumented(t *testing.T) {
	var text strings.Builder
	for _, name := range []string{"configuration.md", "monitoring.md", "digest.md", "registration.md", "fraud.md", "quality.md", "lcr.md", "decks.md", "shaping.md", "hooks.md", "charging.md"} {
		b, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(b)
	}
	seen := map[reflect.Type]bool{}
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Slice || typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		for field := range typ.Fields() {
			key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			if key == "" || key == "-" {
				continue
			}
			if !regexp.MustCompile("[`.]" + key + "[`.[]").MatchString(text.String()) {
				t.Errorf("no guide says anything of `%s` (%s.%s)", key, typ.Name(), field.Name)
			}
			walk(field.Type)
		}
	}
	walk(reflect.TypeFor[trunkgroup.Document]())
}
