package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// What far ends name themselves becomes no formula, and numbers stay as they are.
func TestCSVHoldsNoFormulas(t *testing.T) {
	tab := &table{head: []string{"CALL ID", "CALLER"}}
	tab.add("=HYPERLINK(\"x\")", "+12145550100")
	tab.add("@x", "-1+2")
	tab.add("a,\"b\"\r\nc", "")
	var b bytes.Buffer
	if err := tab.writeCSV(&b); err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"call_id", "caller"}, {"'=HYPERLINK(\"x\")", "+12145550100"}, {"'@x", "'-1+2"}, {"a,\"b\"\nc", ""}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

func TestYAMLReadsAsTheJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"list":[{"x":"+1","y":[]},{"x":null}],"deep":{"no":true,"Key 1":[[1,2],[3]]},"e":{}}`: "a: 1\nlist:\n  - x: \"+1\"\n    \"y\": []\n  - x: null\n" +
			"deep:\n  \"no\": true\n  \"Key 1\":\n    - - 1\n      - 2\n    - - 3\ne: {}\n",
		`[]`: "[]\n", `"x"`: "\"x\"\n",
	} {
		var b bytes.Buffer
		if err := writeYAML(&b, json.RawMessage(text)); err != nil || b.String() != want {
			t.Errorf("%s is %v\n%s", text, err, b.String())
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := value(3).Draw(t, "value")
		var b bytes.Buffer
		if err := writeYAML(&b, v); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var fromYAML, fromJSON any
		if err := yaml.Unmarshal(b.Bytes(), &fromYAML); err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		again, err := json.Marshal(fromYAML)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &fromJSON); err != nil {
			t.Fatal(err)
		}
		var back any
		if err := json.Unmarshal(again, &back); err != nil || !reflect.DeepEqual(back, fromJSON) {
			t.Fatalf("%s\nas YAML\n%s\nreads as %s", text, b.String(), again)
		}
	})
}

// value makes anything that JSON can say.
func value(depth int) *rapid.Generator[any] {
	word := rapid.SampledFrom([]string{"", "a", "yes", "+1", "x: y", "# no", "line\nbreak", "\u2028", "0x1", "~", "no"})
	return rapid.Custom(func(t *rapid.T) any {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth == 0 {
			kind %= 4
		}
		switch kind {
		case 0:
			return word.Draw(t, "word")
		case 1:
			return rapid.IntRange(-5, 1e6).Draw(t, "number")
		case 2:
			return rapid.Bool().Draw(t, "bool")
		case 3:
			return nil
		case 4:
			return rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "list")
		}
		return rapid.MapOfN(word, value(depth-1), 0, 3).Draw(t, "object")
	})
}

func TestOutputsThatACommandDoesNotKnow(t *testing.T) {
	for args, hint := range map[string]string{
		"version -o csv": "write -o table or -o json", "cdr search -o xml": "write -o table, -o json, -o csv or -o yaml",
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(args), console{in: strings.NewReader(""), out: &out, err: &errs, env: func(string) string { return "" }})
		if code != exitUsage || !strings.Contains(errs.String(), hint) {
			t.Errorf("%s: %d, %s", args, code, errs.String())
		}
	}
}
