package yamldoc_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

// TestEncodeReadsBack: the example document comes back whole, with comments where
// they belong and nothing else than comments in them.
func TestEncodeReadsBack(t *testing.T) {
	text, err := os.ReadFile("../../configs/cluster.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := yamldoc.Decode("example", text)
	if err != nil {
		t.Fatal(err)
	}
	out, err := yamldoc.Encode(doc, map[string]string{
		"trunk_groups[0]":            "first\nrole: second\r\u2028- third",
		"trunk_groups[0].members[1]": "\x00\xff#",
		"trunk_groups[99]":           "nowhere",
	})
	if err != nil {
		t.Fatal(err)
	}
	again, err := yamldoc.Decode("encoded", out)
	if err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	if !reflect.DeepEqual(again, doc) {
		t.Errorf("reads back as\n%+v, not\n%+v", again, doc)
	}
	for _, want := range []string{"  # first\n  # role: second  - third\n  - name: acme-in\n", "      #  ?#\n      - {id: acme-dal-2,"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "nowhere") {
		t.Error("a comment on nothing is written")
	}
}
