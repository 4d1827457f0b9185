package document_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/document"
)

func parse(t *testing.T, text string) *document.Document {
	t.Helper()
	d, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return d
}

func node(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return n.Content[0]
}

const base = `# our cluster
cluster: c
trunk_groups:
  # the first customer
  - name: acme
    role: origination-customer   # takes calls
    monitoring: {profile: off} # not yet
    timers:
      b_timer: 4s # quick
      ring: 30s
    members:
      # the old rack
      - {id: a, address: "192.0.2.1:5060"} # keep
      # the new rack
      - id: b
        address: "192.0.2.2:5060"
        # trailing
  - {name: gw, role: pstn-provider, members: [{id: "x, [1"}, # it's here
      {id: y}]}
  - role: pstn-provider
    name: bare
route_plans:
- name: left
  routes: []
# the end
`

// Each edit changes the lines that it names and no octet of any other.
func TestEdits(t *testing.T) {
	find := func(d *document.Document, list, name string) document.Path {
		p, ok := d.Find(document.Path{}, list, map[string]string{"name": name})
		if !ok {
			t.Fatalf("no %s %s", list, name)
		}
		return p
	}
	group := func(d *document.Document, name string) document.Path { return find(d, "trunk_groups", name) }
	for _, x := range []struct {
		name string
		edit func(d *document.Document) error
		want string // lines lost and got
	}{
		{"a value keeps the comment behind it", func(d *document.Document) error {
			return d.Set(group(d, "acme"), "monitoring", node(t, "{profile: kamailio, interval: 5s}"))
		}, "-    monitoring: {profile: off} # not yet\n+    monitoring: {profile: kamailio, interval: 5s} # not yet"},
		{"a key inside of a mapping", func(d *document.Document) error {
			return d.Set(group(d, "acme").Child("timers"), "b_timer", node(t, "2s"))
		}, "-      b_timer: 4s # quick\n+      b_timer: 2s # quick"},
		{"a new key stands last", func(d *document.Document) error {
			return d.Set(group(d, "acme"), "numbers", node(t, `["+1214*"]`))
		}, "+    numbers: [\"+1214*\"]"},
		{"a new key inside of a mapping", func(d *document.Document) error {
			return d.Set(group(d, "acme").Child("timers"), "max_pdd", node(t, "9s"))
		}, "+      max_pdd: 9s"},
		{
			"a key goes", func(d *document.Document) error { return d.Unset(group(d, "acme"), "timers") },
			"-    timers:\n-      b_timer: 4s # quick\n-      ring: 30s",
		},
		{
			"the first key of an item goes", func(d *document.Document) error { return d.Unset(group(d, "bare"), "role") },
			"-  - role: pstn-provider\n-    name: bare\n+  - name: bare",
		},
		{
			"an item in lines", func(d *document.Document) error { return d.Append(group(d, "acme"), "members", node(t, "{id: n}")) },
			"+      - {id: n}",
		},
		{
			"an item in brackets", func(d *document.Document) error { return d.Append(group(d, "gw"), "members", node(t, "{id: n}")) },
			"-      {id: y}]}\n+      {id: y}, {id: n}]}",
		},
		{
			"a first item", func(d *document.Document) error { return d.Append(group(d, "bare"), "members", node(t, "{id: n}")) },
			"+    members:\n+      - {id: n}",
		},
		{"an item of a list on the left", func(d *document.Document) error {
			return d.Append(document.Path{}, "route_plans", node(t, "{name: right, routes: [{prefix: '*'}]}"))
		}, "+- name: right\n+  routes:\n+    - {prefix: '*'}"},
		{
			"an empty list", func(d *document.Document) error {
				return d.Append(find(d, "route_plans", "left"), "routes", node(t, "{prefix: '911'}"))
			},
			"-  routes: []\n+  routes: [{prefix: '911'}]",
		},
		{
			"an item goes with what is said of it", func(d *document.Document) error { return d.Remove(group(d, "acme").Child("members", 1)) },
			"-      # the new rack\n-      - id: b\n-        address: \"192.0.2.2:5060\"",
		},
		{
			"an item in brackets goes", func(d *document.Document) error { return d.Remove(group(d, "gw").Child("members", 1)) },
			"-      {id: y}]}\n+      ]}",
		},
		{
			"the last item goes with its key", func(d *document.Document) error { return d.Remove(find(d, "route_plans", "left")) },
			"-route_plans:\n-- name: left\n-  routes: []",
		},
		{"a new list at the top", func(d *document.Document) error {
			return d.Append(document.Path{}, "number_policies", node(t, "{name: p, headers: {from: e164}}"))
		}, "+number_policies:\n+  - name: p\n+    headers: {from: e164}"},
	} {
		d := parse(t, base)
		if err := x.edit(d); err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if got := diff(base, string(d.Bytes())); got != x.want {
			t.Errorf("%s:\n%s\nwant\n%s", x.name, got, x.want)
		}
	}
}

// diff is what lines a text lost and got, from the first that differs to the last.
func diff(was, is string) string {
	old, now := strings.Split(was, "\n"), strings.Split(is, "\n")
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	var out []string
	for _, l := range old {
		out = append(out, "-"+l)
	}
	for _, l := range now {
		out = append(out, "+"+l)
	}
	return strings.Join(out, "\n")
}

// What cannot be edited safely is refused, and the document stays as it was.
func TestRefusals(t *testing.T) {
	for _, text := range []string{"", "- a\n", "a: &x 1\nb: *x\n", "a: 1\na: 2\n", "a: !!str 1\n", "a: 1\n---\nb: 2\n", "a: [1\n"} {
		if _, err := document.Parse([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	text := "trunk_groups:\n  - role: x\n    # about the name\n    name: y\n"
	d := parse(t, text)
	if err := d.Unset(document.Path{"trunk_groups", 0}, "role"); !errors.Is(err, document.ErrEdit) || string(d.Bytes()) != text {
		t.Errorf("a comment would be lost: %v\n%s", err, d.Bytes())
	}
}

// writer makes documents as different people write them.
type writer struct{ *rand.Rand }

func (w writer) pick(s ...string) string { return s[w.IntN(len(s))] }

// group is the text of one group, with members of a name of its own.
func (w writer) group(i, members int) string {
	var b strings.Builder
	name := fmt.Sprintf("g%d", i)
	if w.IntN(3) == 0 {
		fmt.Fprintf(&b, "  # about %s\n", name)
	}
	if w.IntN(3) == 0 { // all in brackets
		var m []string
		for j := range members {
			m = append(m, fmt.Sprintf("{id: m%d, address: %s}", j, w.pick(`"192.0.2.1:5060"`, `'[2001:db8::1]:5060'`, "a.example")))
		}
		fmt.Fprintf(&b, "  - {name: %s, role: r, weight: 1, members: [%s]}%s\n", name, strings.Join(m, w.pick(", ", ",", ",\n      ")), w.pick("", " # so"))
		return b.String()
	}
	fmt.Fprintf(&b, "  - name: %s%s\n    role: %s\n", w.pick(name, `"`+name+`"`), w.pick("", "   # it's a name, [really]"), w.pick("r", "'r'"))
	if w.IntN(2) == 0 {
		b.WriteString(w.pick("    weight: 1 # heavy\n", "    weight: 1\n\n", "\n    weight: 1\n    # after\n"))
	}
	if w.IntN(2) == 0 {
		b.WriteString(w.pick("    note: |\n      many # lines\n\n      - of text\n", "    note: \"a # b\"\n", "    note: 'it''s'   # ok\n", "    numbers: [\"+1*\",\n      \"+2*\"] # two\n"))
	}
	indent := w.pick("    ", "      ")
	b.WriteString("    members:\n")
	for j := range members {
		if w.IntN(3) == 0 {
			fmt.Fprintf(&b, "%s# about m%d\n", indent, j)
		}
		fmt.Fprintf(&b, w.pick("%[1]s- {id: m%[2]d, address: 'x'} # one\n", "%[1]s- id: m%[2]d\n%[1]s  address: x\n", "%[1]s- id: m%[2]d # two\n\n%[1]s  address: \"é x\"\n"), indent, j)
	}
	return b.String()
}

// TestForeignPartsStay makes random documents and random edits of one group: the text of all
// other groups stays octet for octet, the edited one says what was meant, and what was added
// and removed again leaves what was there.
func TestForeignPartsStay(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	w := writer{rand.New(rand.NewPCG(seed, 1))}
	for range 400 {
		n := 2 + w.IntN(4)
		chunks := make([]string, n)
		for i := range chunks {
			chunks[i] = w.group(i, 1+w.IntN(3))
		}
		text := w.pick("# top\n", "") + "cluster: c\ntrunk_groups:\n" + strings.Join(chunks, w.pick("", "\n")) + w.pick("", "# end\n", "route_plans: []\n")
		mine := w.IntN(n)
		name := fmt.Sprintf("g%d", mine)
		d := parse(t, text)
		p, ok := d.Find(document.Path{}, "trunk_groups", map[string]string{"name": name})
		if !ok {
			t.Fatalf("no %s in\n%s", name, text)
		}
		check := func(what string, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v in\n%s", what, err, text)
			}
			for i, c := range chunks {
				if i != mine && !strings.Contains(string(d.Bytes()), c) {
					t.Fatalf("%s of %s changed g%d:\n%s\nto\n%s", what, name, i, text, d.Bytes())
				}
			}
		}
		check("add", d.Append(p, "members", node(t, "{id: new, address: '192.0.2.7:5060'}")))
		at, ok := d.Find(p, "members", map[string]string{"id": "new"})
		if !ok {
			t.Fatalf("the new member is not there:\n%s", d.Bytes())
		}
		check("remove", d.Remove(at))
		if string(d.Bytes()) != text {
			t.Fatalf("what was added and removed leaves\n%s\nof\n%s", d.Bytes(), text)
		}
		check("set", d.Set(p, "weight", node(t, "7")))
		if v := document.Value(d.Node(p), "weight"); v == nil || v.Value != "7" {
			t.Fatalf("the weight is not there:\n%s", d.Bytes())
		}
		check("set more", d.Set(p, "limits", node(t, "{calls: 1}")))
		check("set inside", d.Set(p.Child("limits"), "cps", node(t, "2")))
		check("unset", d.Unset(p, "weight"))
		check("remove a member", d.Remove(p.Child("members", 0)))
		check("remove all", d.Remove(p))
		if _, ok := d.Find(document.Path{}, "trunk_groups", map[string]string{"name": name}); ok {
			t.Fatalf("it is still there:\n%s", d.Bytes())
		}
	}
}

// FuzzEdit edits whatever document is given: it says what was meant afterwards, or stays as it was.
func FuzzEdit(f *testing.F) {
	f.Add([]byte(base), "acme")
	if text, err := os.ReadFile("../../../../configs/cluster.example.yaml"); err == nil {
		f.Add(text, "acme-in")
	}
	f.Fuzz(func(t *testing.T, text []byte, group string) {
		d, err := document.Parse(text)
		if err != nil {
			return
		}
		p, ok := d.Find(document.Path{}, "trunk_groups", map[string]string{"name": group})
		if !ok {
			return
		}
		before := string(d.Bytes())
		if err := d.Append(p, "members", node(t, "{id: fuzz}")); err != nil {
			if string(d.Bytes()) != before {
				t.Fatal("a refused edit changed the document")
			}
			return
		}
		if at, ok := d.Find(p, "members", map[string]string{"id": "fuzz"}); !ok || d.Node(at) == nil {
			t.Fatalf("what was added is not there:\n%s", d.Bytes())
		}
	})
}
