package provider

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/document"
)

const text1 = `cluster: c
trunk_groups:
  - name: a
    role: pstn-provider
    limits:
      calls: 5 # few
      future: 1   # a key that this provider does not know
    charging: {online: true}
    members:
      - {id: mine, site: dallas, address: "192.0.2.1:5060", account: {aor: "sip:x@y"}}
      - {id: theirs, site: dallas, address: "192.0.2.2:5060"} # by hand
`

// of makes a value from JSON, with the types of a thing.
func of(t *testing.T, th *thing, text string) values {
	t.Helper()
	as, ok := th.schema().Type().TerraformType(t.Context()).(tftypes.Object)
	if !ok {
		t.Fatal("no object")
	}
	return attributesOf(valueOf(t, as, []byte(text)))
}

// valueOf is a value of a type from JSON; what is left out is null.
func valueOf(t *testing.T, as tftypes.Type, text []byte) tftypes.Value {
	t.Helper()
	if len(text) == 0 {
		return tftypes.NewValue(as, nil)
	}
	decode := func(into any) {
		t.Helper()
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	switch kind := as.(type) {
	case tftypes.Object:
		var v map[string]json.RawMessage
		decode(&v)
		out := map[string]tftypes.Value{}
		for name, a := range kind.AttributeTypes {
			out[name] = valueOf(t, a, v[name])
		}
		return tftypes.NewValue(as, out)
	case tftypes.List:
		var v []json.RawMessage
		decode(&v)
		out := []tftypes.Value{}
		for _, x := range v {
			out = append(out, valueOf(t, kind.ElementType, x))
		}
		return tftypes.NewValue(as, out)
	}
	if as.Is(tftypes.Number) {
		var n int64
		decode(&n)
		return tftypes.NewValue(as, n)
	}
	var s string
	decode(&s)
	return tftypes.NewValue(as, s)
}

func parsed(t *testing.T, text string) *document.Document {
	t.Helper()
	d, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Keys that no field has, and things that a resource does not name, stay.
func TestUpdateKeepsWhatIsNotItsOwn(t *testing.T) {
	d := parsed(t, text1)
	old := of(t, trunkGroup, `{"name":"a","role":"pstn-provider","limits":{"calls":5},"members":[{"id":"mine","site":"dallas","address":"192.0.2.1:5060"}]}`)
	now := of(t, trunkGroup, `{"name":"a","role":"pstn-provider","limits":{"calls":6,"cps":2},"members":[{"id":"new","site":"dallas","address":"192.0.2.3:5060"},{"id":"mine","site":"dallas","address":"192.0.2.9:5060"}]}`)
	if err := trunkGroup.update(d, old, now, values{}); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("calls: 5 # few", "calls: 6 # few", "this provider does not know\n", "this provider does not know\n      cps: 2\n", "192.0.2.1", "192.0.2.9",
		"} # by hand\n", "} # by hand\n      - {id: new, site: dallas, address: '192.0.2.3:5060'}\n").Replace(text1)
	if got := string(d.Bytes()); strings.ReplaceAll(got, `"`, "'") != strings.ReplaceAll(want, `"`, "'") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRefusalsOfEdits(t *testing.T) {
	group := of(t, trunkGroup, `{"name":"a","role":"pstn-provider","limits":{"calls":5}}`)
	mine := `{"trunk_group":"a","id":"mine","site":"dallas","address":"192.0.2.1:5060"}`
	for _, x := range []struct {
		name string
		edit func(d *document.Document) error
		want error
	}{
		{"there already", func(d *document.Document) error { return member.create(d, of(t, member, mine), nil) }, errExists},
		{"no group", func(d *document.Document) error {
			return member.create(d, of(t, member, `{"trunk_group":"b","id":"x"}`), nil)
		}, errNoGroup},
		{"gone", func(d *document.Document) error {
			v := of(t, member, `{"trunk_group":"a","id":"x"}`)
			return member.update(d, v, v, nil)
		}, errGone},
		{"its own part was changed", func(d *document.Document) error {
			return member.update(d, of(t, member, strings.Replace(mine, ".1:", ".7:", 1)), of(t, member, strings.Replace(mine, ".1:", ".8:", 1)), nil)
		}, errChanged},
		{"its own part was changed before it goes", func(d *document.Document) error {
			return member.remove(d, of(t, member, strings.Replace(mine, ".1:", ".7:", 1)))
		}, errChanged},
		{"others are inside", func(d *document.Document) error { return trunkGroup.remove(d, group) }, errOthers},
		{"a member of others", func(d *document.Document) error {
			now := of(t, trunkGroup, `{"name":"a","role":"pstn-provider","limits":{"calls":5},"members":[{"id":"theirs","site":"dallas","address":"192.0.2.2:5060"}]}`)
			return trunkGroup.update(d, group, now, values{})
		}, errExists},
		{"no change", func(d *document.Document) error { return trunkGroup.update(d, group, group, values{}) }, nil},
		{"gone already", func(d *document.Document) error {
			return member.remove(d, of(t, member, `{"trunk_group":"b","id":"x"}`))
		}, nil},
	} {
		d := parsed(t, text1)
		if err := x.edit(d); !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", x.name, err, x.want)
		}
		if string(d.Bytes()) != text1 {
			t.Errorf("%s: the document was changed:\n%s", x.name, d.Bytes())
		}
	}
}

// What is read says what was written, for every field of every thing.
func TestSchemas(t *testing.T) {
	for _, th := range things() {
		s := th.schema()
		if d := s.ValidateImplementation(t.Context()); d.HasError() {
			t.Errorf("%s: %v", th.name, d)
		}
		for name, a := range s.Attributes {
			if a.GetDescription() == "" {
				t.Errorf("%s.%s has no description", th.name, name)
			}
		}
	}
}

func TestImportIDs(t *testing.T) {
	for _, x := range []struct {
		of        *thing
		id, title string
		all, ok   bool
	}{
		{trunkGroup, "a", "trunk group a", false, true},
		{trunkGroup, "a/*", "trunk group a", true, true},
		{member, "a/m", "member a/m", false, true},
		{member, "m", "", false, false},
		{member, "a/", "", false, false},
		{numberRange, `a//^\+1800[0-9]{7}$/`, `number a//^\+1800[0-9]{7}$/`, false, true},
		{credential, "a/u@x@realm", "credential a/u@x@realm", false, true},
		{credential, "a/u", "", false, false},
		{routePlan, "", "", false, false},
	} {
		v, all, ok := x.of.importID(x.id)
		if ok != x.ok || all != x.all || ok && x.of.title(v) != x.title {
			t.Errorf("%s %q: %v %v %v", x.of.name, x.id, v, all, ok)
		}
	}
}

// The hashes are those that nodes make.
func TestHashesAreThoseOfTheProgram(t *testing.T) {
	bin := os.Getenv("TANDEM_BIN")
	if bin == "" {
		t.Skip("TANDEM_BIN names the tandem program")
	}
	cmd := exec.Command(bin, "credential", "hash", "--username", "acme", "--realm", "sip.example.net")
	cmd.Stdin = strings.NewReader("correct horse\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range hashes("acme", "sip.example.net", "correct horse") {
		if !slices.Contains(strings.Fields(string(out)), h) {
			t.Errorf("%s: %s is not in\n%s", hashKeys[i], h, out)
		}
	}
	short, err := document.Parse([]byte("ha1_md5: ABC\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f := fingerprint(short.Node(nil)); len(f) != 3 {
		t.Errorf("a fingerprint of more than 12 bits: %s", f)
	}
}
