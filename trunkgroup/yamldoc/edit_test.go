package yamldoc_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

const edited = `# our cluster
cluster: c
sites: [{name: dallas}]

trunk_groups:
  # the first customer
  - name: acme
    role: origination-customer
    numbers: ["+1214555*"]   # all of them
    members:
      # the old rack
      - {id: a, site: dallas, address: "192.0.2.1:5060"} # keep
      # the new rack
      - id: b
        site: dallas

        address: "192.0.2.2:5060"
        # trailing
    timers: {b_timer: 4s}

  - name: gw
    role: pstn-provider
    sources: [{ip: 192.0.2.9}]
    members: [{id: "x, [1", site: dallas, address: "192.0.2.3:5060"}, # it's here
      {id: y, site: dallas, address: "192.0.2.4:5060"}]
  - {name: none, role: pstn-provider, sources: [{ip: 192.0.2.10}]}
  - name: bare
    role: pstn-provider
    sources: [{ip: 192.0.2.11}]
# the end
`

// diff is what lines a text lost and got.
func diff(was, is string) string {
	old, lines := strings.Split(was, "\n"), strings.Split(is, "\n")
	var out []string
	for len(old) > 0 || len(lines) > 0 {
		switch {
		case len(old) > 0 && len(lines) > 0 && old[0] == lines[0]:
			old, lines = old[1:], lines[1:]
		case len(lines) > 0 && (len(old) == 0 || slices.Contains(lines, old[0])):
			out, lines = append(out, "+"+lines[0]), lines[1:]
		default:
			out, old = append(out, "-"+old[0]), old[1:]
		}
	}
	return strings.Join(out, "\n")
}

// A member comes and goes, and every comment, order and empty line of the rest stays.
func TestEditKeepsTheRest(t *testing.T) {
	edited := strings.ReplaceAll(edited, `"x, [1"`, `"x-1"`)
	m := trunkgroup.MemberSpec{ID: "new", Site: "dallas", Address: "192.0.2.7:5060", Weight: 3}
	const line = `{id: new, site: dallas, address: '192.0.2.7:5060', weight: 3}`
	for group, want := range map[string]string{
		"acme": "+      - " + line,
		"gw":   "-      {id: y, site: dallas, address: \"192.0.2.4:5060\"}]\n+      {id: y, site: dallas, address: \"192.0.2.4:5060\"}, " + line + "]",
		"none": "-  - {name: none, role: pstn-provider, sources: [{ip: 192.0.2.10}]}\n+  - {name: none, role: pstn-provider, sources: [{ip: 192.0.2.10}], members: [" + line + "]}",
		"bare": "+    members: [" + line + "]",
	} {
		got, err := yamldoc.AddMember("c.yaml", []byte(edited), group, m)
		if err != nil || diff(edited, string(got)) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", group, err, diff(edited, string(got)), want)
			continue
		}
		back, err := yamldoc.RemoveMember("c.yaml", got, group, "new")
		if err != nil {
			t.Errorf("%s: %v", group, err)
		}
		if group == "acme" && string(back) != edited {
			t.Errorf("%s: removing what was added leaves\n%s", group, diff(edited, string(back)))
		}
	}
	for _, x := range []struct{ group, id, want string }{
		{"acme", "b", "-      # the new rack\n-      - id: b\n-        site: dallas\n-\n-        address: \"192.0.2.2:5060\""},
		{"acme", "a", "-      - {id: a, site: dallas, address: \"192.0.2.1:5060\"} # keep"},
		{"gw", "x-1", "-    members: [{id: \"x-1\", site: dallas, address: \"192.0.2.3:5060\"}, # it's here"},
		{"gw", "y", "-      {id: y, site: dallas, address: \"192.0.2.4:5060\"}]"},
	} {
		got, err := yamldoc.RemoveMember("c.yaml", []byte(edited), x.group, x.id)
		if err != nil || !strings.HasPrefix(diff(edited, string(got)), strings.Split(x.want, "\n")[0]) {
			t.Errorf("%s/%s: %v\n%s", x.group, x.id, err, diff(edited, string(got)))
		}
	}
}

func TestEditRefuses(t *testing.T) {
	edited := strings.ReplaceAll(edited, `"x, [1"`, `"x-1"`)
	add := func(group string, m trunkgroup.MemberSpec) error {
		_, err := yamldoc.AddMember("c.yaml", []byte(edited), group, m)
		return err
	}
	remove := func(group, id string) error {
		_, err := yamldoc.RemoveMember("c.yaml", []byte(edited), group, id)
		return err
	}
	for _, x := range []struct{ err, want error }{
		{add("other", trunkgroup.MemberSpec{ID: "z"}), yamldoc.ErrNoGroup},
		{add("acme", trunkgroup.MemberSpec{ID: "a"}), yamldoc.ErrMember},
		{remove("acme", "z"), yamldoc.ErrNoMember},
		{remove("other", "z"), yamldoc.ErrNoGroup},
	} {
		if !errors.Is(x.err, x.want) {
			t.Errorf("%v, want %v", x.err, x.want)
		}
	}
	var faults trunkgroup.Faults
	if err := add("acme", trunkgroup.MemberSpec{ID: "z", Site: "houston", Address: "192.0.2.7:5060"}); !errors.As(err, &faults) || !strings.Contains(err.Error(), "houston") {
		t.Errorf("a site that is not there: %v", err)
	}
}

// FuzzEdit adds a member to whatever document is given, and takes it out: what comes
// out is what was meant, or an error.
func FuzzEdit(f *testing.F) {
	f.Add([]byte(edited), "acme")
	files, err := filepath.Glob("../../configs/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			f.Add(text, "acme-in")
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, group string) {
		m := trunkgroup.MemberSpec{ID: "fuzz", Site: "dallas", Address: "192.0.2.77:5060"}
		added, err := yamldoc.AddMember("f.yaml", text, group, m)
		if err != nil {
			return
		}
		if _, err := yamldoc.RemoveMember("f.yaml", added, group, "fuzz"); err != nil && !errors.Is(err, yamldoc.ErrEdit) {
			if _, ok := errors.AsType[trunkgroup.Faults](err); !ok {
				t.Fatalf("what was added cannot be removed: %v\n%s", err, added)
			}
		}
	})
}
