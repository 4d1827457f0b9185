package yamldoc_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

// Whatever the text is: no panic; either a document or faults that say
// something; and what was accepted survives Encode and Compile.
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("../../configs/bad/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, exampleFile) {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("cluster: c\nsites: [{name: d}]\ntrunk_groups: [{name: a, role: pstn-provider, sources: [{ip: 192.0.2.1}]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := yamldoc.Decode("fuzz", data)
		if err != nil {
			var faults trunkgroup.Faults
			if doc != nil || !errors.As(err, &faults) || len(faults) == 0 || faults[0].Problem == "" {
				t.Fatalf("document %v with error %#v", doc, err)
			}
			return
		}
		text, err := encode(doc)
		if err != nil {
			t.Fatal(err)
		}
		again, err := yamldoc.Decode("again", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !reflect.DeepEqual(normal(doc), normal(again)) {
			t.Fatalf("the document changed:\n%s", text)
		}
		if _, err := trunkgroup.Compile(doc, trunkgroup.Version{}); err != nil {
			t.Fatalf("valid but not compiled: %v", err)
		}
	})
}

// normal drops the difference between an empty list and none, which the text
// may say and encode does not keep.
func normal(d *trunkgroup.Document) string {
	text, err := encode(d)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
