package main

import (
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
}
