package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func TestConfigPlan(t *testing.T) {
	n := &node{document: admin.Document{Cluster: "example", Generation: 1, Revision: 7, Text: smallDocument}}
	address := n.serve(t, "")
	changed := document(t, strings.Replace(smallDocument, "203.0.113.10", "203.0.113.11", 1))
	code, out, errs := tandem(t, "config", "plan", changed, "--address", address)
	want := `against revision 1.7: member ~1, source +1 -1

CHANGE   WHAT    NAME                                           FIELD    WAS                WOULD BE
changed  member  carrier-a/gw                                   address  203.0.113.10:5060  203.0.113.11:5060
removed  source  203.0.113.10/32 port 5060 udp (carrier-a)      -        -                  -
added    source  203.0.113.11/32 port 5060 udp (carrier-a)      -        -                  -

12 of the last 10000 calls of this node, since 2026-11-30T12:00:00Z would route differently
  12 calls
    was   outbound from acme to carrier-a [dallas: gw]
    would outbound from acme: 404
    such as +12145550100 from acme at noon
`
	if code != exitOK || strings.Join(strings.Fields(out), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("exit code %d\n%s\nwant\n%s%s", code, out, want, errs)
	}
	for _, x := range []struct {
		args, want string
	}{
		{"config plan " + document(t, smallDocument), "no change: revision 1.7 has the same text\n"},
		{"config plan " + document(t, "# a remark\n"+smallDocument), "against revision 1.7: the text differs, its meaning does not\n"},
		{"config plan -o json " + changed, `"different": 12`},
	} {
		if code, out, errs := tandem(t, append(strings.Fields(x.args), "--address", address)...); code != exitOK || !strings.Contains(out, x.want) {
			t.Errorf("tandem %s: exit code %d\n%s%s", x.args, code, out, errs)
		}
	}
	stale := document(t, "# tandem revision 1.6\n"+smallDocument)
	if code, _, errs := tandem(t, "config", "plan", stale, "--address", address); code != exitConflict || !strings.Contains(errs, "revision 6 was expected and 7 is in force") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}

func TestConfigHistory(t *testing.T) {
	n := &node{document: admin.Document{Cluster: "example", Generation: 1, Revision: 7, Text: smallDocument}}
	address := n.serve(t, "")
	for _, x := range []struct {
		args string
		code int
		want string
	}{
		{"config history", exitOK, `REVISION  STATE     TIME                  AUTHOR  BYTES  SHA-256       REASON
1.7       in force  2026-11-30T12:00:00Z  bob     140    aabbccddeeff  new carrier
1.6       -         2026-11-30T12:00:00Z  ann     120    001122334455  first
`},
		{"config history --limit 1", exitOK, `REVISION  STATE     TIME                  AUTHOR  BYTES  SHA-256       REASON
1.7       in force  2026-11-30T12:00:00Z  bob     140    aabbccddeeff  new carrier
`},
		{"config show --revision 1.6", exitOK, "# tandem revision 1.6\nold\n"},
		{"config show --revision 9", exitNotFound, "error: not found: revision 9\n"},
		{"config show --revision nine", exitUsage, "error: \"nine\" is no revision\nhint: tandem config history shows revisions, such as 1.7\n"},
		{"config rollback 1.6 --reason bad", exitOK, "revision 1.8 of cluster example is in force\n"},
		{"config rollback 1.6", exitUsage, "error: a rollback wants a --reason\nhint: for example --reason 'carrier-b refuses calls'\n"},
		{"config diff 1.6", exitOK, "no change: revision 1.7 has the same text\n"},
	} {
		code, out, errs := tandem(t, append(strings.Fields(x.args), "--address", address)...)
		if code != x.code || out+errs != x.want {
			t.Errorf("tandem %s: exit code %d\n%s%s\nwant\n%s", x.args, code, out, errs, x.want)
		}
	}
	if n.rollback.Revision != 6 || n.rollback.Reason != "bad" || n.rollback.Author == "" {
		t.Errorf("%+v", n.rollback)
	}
	if n.compared != [2]uint64{6, 0} {
		t.Errorf("%v", n.compared)
	}
}

// What is in force already makes no revision, and says so.
func TestApplyUnchanged(t *testing.T) {
	n := &node{repeated: true, document: admin.Document{Cluster: "example", Generation: 1, Revision: 7, Text: smallDocument}}
	code, out, errs := tandem(t, "config", "apply", document(t, smallDocument), "--expect", "1.7", "--address", n.serve(t, ""))
	if code != exitOK || out != "revision 1.7 of cluster example has this document already: nothing changed\n" {
		t.Errorf("exit code %d, %q, %s", code, out, errs)
	}
	code, out, errs = tandem(t, "config", "canary", document(t, smallDocument), "--site", "ashburn", "--address", n.serve(t, ""))
	if code != exitOK || out != "revision 1.7 of cluster example has this document already: nothing is tried\n" {
		t.Errorf("a canary of the document in force: exit code %d, %q, %s", code, out, errs)
	}
}

// A document that drops the site of a running node is no fault: somebody may take the
// site out. It is said before anybody has to find out.
func TestApplyTellsOfNodesWithoutASite(t *testing.T) {
	n := &node{
		document: admin.Document{Cluster: "example", Generation: 1, Revision: 7},
		list: admin.NodeList{Nodes: []admin.Node{
			{Name: "dal-1", Site: "dallas", Self: true},
			{Name: "ash-1", Site: "ashburn", Up: true},
			{Name: "ash-2", Site: "ashburn"},
			{Name: "wit", Site: "chicago", Up: true, Witness: true},
		}},
	}
	code, _, errs := tandem(t, "config", "apply", document(t, smallDocument), "--address", n.serve(t, ""))
	want := "note: node ash-1 stands in site \"ashburn\", which the document does not have: it would have no members to dial\n"
	if code != exitOK || errs != want {
		t.Errorf("exit code %d, %q, want %q", code, errs, want)
	}
}

func TestConfigCanary(t *testing.T) {
	n := &node{document: admin.Document{Cluster: "example", Generation: 1, Revision: 7, Text: smallDocument}}
	address := n.serve(t, "")
	file := document(t, "# tandem revision 1.7\n"+smallDocument)
	for _, x := range []struct {
		args string
		code int
		want string
	}{
		{"config canary", exitNotFound, "error: not found: no canary is tried\n"},
		{"config canary " + file, exitUsage, "error: --site says which site tries the document\nhint: for example --site ashburn\n"},
		{"config canary " + file + " --site ashburn --reason why", exitOK, "revision 1.8 is tried in ashburn; tandem config promote or tandem config abandon ends that\n"},
		{"config canary", exitOK, `revision 1.8 is tried in ashburn since 2026-11-30T12:00:00Z, by ann: new carrier

NODE   RUNS  STATE
ash-1  1.8   tries it
ash-2  1.7   went back
ash-3  -     does not run it yet

this node went back at 2026-11-30T12:00:00Z: 9 of 20 calls failed
`},
		{"config promote --revision 1.8 --reason good", exitOK, "revision 1.8 of cluster example is in force\n"},
	} {
		code, out, errs := tandem(t, append(strings.Fields(x.args), "--address", address)...)
		if code != x.code || out+errs != x.want {
			t.Errorf("tandem %s: exit code %d\n%s%s\nwant\n%s", x.args, code, out, errs, x.want)
		}
	}
	if v := n.verdict; !v.Promote || v.Revision != 8 || v.Reason != "good" {
		t.Errorf("%+v", v)
	}
	if c := n.change; c.Expect == nil || *c.Expect != 7 || c.Reason != "why" || string(c.Text) != smallDocument {
		t.Errorf("%+v", c)
	}
	if code, _, _ := tandem(t, "config", "abandon", "--address", address); code != exitOK || n.verdict.Promote || n.verdict.Revision != 0 {
		t.Errorf("%d, %+v", code, n.verdict)
	}
}

func TestBackupAndRestore(t *testing.T) {
	n := &node{}
	address := n.serve(t, "")
	path := filepath.Join(t.TempDir(), "tandem.backup")
	code, out, errs := tandem(t, "config", "backup", path, "--address", address)
	if code != exitOK || !strings.Contains(out, "10 bytes") {
		t.Fatalf("exit code %d, %s%s", code, out, errs)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, x := range []struct {
		args string
		code int
		want string
	}{
		{"config backup " + path, exitUsage, "error: " + path + " is there already\nhint: --force replaces it\n"},
		{"config backup - ", exitOK, "a backup\x00\xff"},
		{"config restore " + path, exitUsage, "error: a restore wants a --reason\nhint: for example --reason 'disks of all voters lost'\n"},
		{"config restore " + path + " --dry-run", exitOK, path + ": ok, revision 2.9 of cluster example\n"},
		{"config restore " + path + " --reason why --revision 1.5", exitOK, "revision 2.9 of cluster example is in force\n"},
		{"config restore " + document(t, "x") + " --dry-run", exitFailed, "error: invalid: not a backup of tandem, or damaged\n"},
	} {
		code, out, errs := tandem(t, append(strings.Fields(x.args), "--address", address)...)
		if code != x.code || out+errs != x.want {
			t.Errorf("tandem %s: exit code %d\n%q%q\nwant\n%q", x.args, code, out, errs, x.want)
		}
		if strings.Contains(x.args, "--revision") && (n.restored.Revision != 5 || n.restored.Reason != "why" || n.restored.DryRun) {
			t.Errorf("%+v", n.restored)
		}
	}
}
