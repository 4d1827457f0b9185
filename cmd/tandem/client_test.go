package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

const smallDocument = `cluster: example
sites: [{name: dallas}]
trunk_groups:
  - {name: carrier-a, role: pstn-provider, members: [{id: gw, site: dallas, address: "203.0.113.10:5060"}]}
`

// document writes a file and returns its path.
func document(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTables(t *testing.T) {
	n := &node{list: admin.NodeList{Leader: "dal-1", Quorum: true, Nodes: []admin.Node{
		{Name: "dal-1", Site: "dallas", Self: true, State: "ready", Up: true, Raft: "leader", Generation: 1, Revision: 7, Load: 0.12, Boot: 3, Version: "v1"},
		{Name: "ash-1", Site: "ashburn", State: "lost", RTTMillis: 35.25, Raft: "voter", Boot: 1, Since: &noon},
	}}}
	address := n.serve(t, "")
	for _, x := range []struct{ args, want string }{
		{"node list", `NODE     SITE     STATE  SINCE                 RTT      RAFT    REVISION  LOAD  BOOT  VERSION
dal-1 *  dallas   ready  -                     -        leader  1.7       12 %  3     v1
ash-1    ashburn  lost   2026-11-30T12:00:00Z  35.2 ms  voter   -         0 %   1     -
`},
		{"member list acme-in", `MEMBER         SITE     STATE     SINCE                 ADDRESS                 RTT        PROBED  FLAPS  CALLS    REASON
acme-in/pbx-1  dallas   down      2026-11-30T12:00:00Z  udp:198.51.100.10:5060  2000.0 ms  -       3      7 of 12  probe failed: no reply
acme-in/pbx-2  ashburn  draining  -                     tls:pbx.acme.example    -          -       0      0        new firmware (by noc, since 2026-11-30T11:00:00Z, ends 2026-11-30T12:00:00Z)
`},
		{"limit list", `LIMIT          KIND   MAX  CLUSTER  SITE  NODE  SHARE  OWN  LENT  BORROWED  WAITING  GRANTOR  NOTE
group acme-in  calls  100  97       60    30    31     50   0     12        1        dal-2    -
`},
		{"limit list --all", `LIMIT            KIND   MAX   CLUSTER  SITE  NODE  SHARE  OWN  LENT  BORROWED  WAITING  GRANTOR  NOTE
group acme-in    calls  100   97       60    30    31     50   0     12        1        dal-2    -
group carrier-a  calls  none  4        4     4     -      0    0     0         0        -        -
`},
		{"account list", `MEMBER        SITE    AOR                     STATE       SINCE                 NODE   REGISTRAR        CONTACT           UNTIL                 NEXT                  REASON
carrier-a/gw  dallas  sip:100@carrier.test    registered  2026-11-30T12:00:00Z  dal-1  192.0.2.10:5060  203.0.113.1:5060  2026-11-30T13:00:00Z  2026-11-30T12:45:00Z  -
carrier-b/gw  dallas  sip:acme@carrier-b.com  failed      2026-11-30T12:00:00Z  dal-2  192.0.2.20:5060  -                 -                     2026-11-30T12:01:00Z  403 Forbidden
`},
		{"account list carrier-b/gw", `MEMBER        SITE    AOR                     STATE   SINCE                 NODE   REGISTRAR        CONTACT  UNTIL  NEXT                  REASON
carrier-b/gw  dallas  sip:acme@carrier-b.com  failed  2026-11-30T12:00:00Z  dal-2  192.0.2.20:5060  -        -      2026-11-30T12:01:00Z  403 Forbidden
`},
		{"call list", `CALL  DIRECTION  FROM       TO             SITE    STATE     ATTEMPTS  START
01J   inbound    carrier-a  acme-in/pbx-1  dallas  answered  1         2026-11-30T12:00:00Z
`},
		{"explain +12145550100 --from 203.0.113.10:5060", `STEP    DECISION
source  203.0.113.10:5060 matches carrier-a

TRY  MEMBER         SITE    ADDRESS             STATE   NOT TRIED BECAUSE
-    acme-in/pbx-1  dallas  -                   down    probe failed: no reply, since noon
1    acme-in/pbx-3  dallas  198.51.100.12:5060  active  -
`},
		{"member list acme-in/pbx-1", `MEMBER         SITE    STATE  SINCE                 ADDRESS                 RTT        PROBED  FLAPS  CALLS    REASON
acme-in/pbx-1  dallas  down   2026-11-30T12:00:00Z  udp:198.51.100.10:5060  2000.0 ms  -       3      7 of 12  probe failed: no reply
`},
		{"member list acme-in/pbx-1 --wide", `MEMBER         SITE    STATE  SINCE                 ADDRESS                 RTT        PROBED  FLAPS  CALLS    LAST RESULT  LAST GOOD  LATENCY                TIMEOUTS  WEIGHT      SHARE  DIRECTION  REASON
acme-in/pbx-1  dallas  down   2026-11-30T12:00:00Z  udp:198.51.100.10:5060  2000.0 ms  -       3      7 of 12  -            -          21.5 ±3.2 max 60.0 ms  4         5 (by ann)  40 %   both       probe failed: no reply
`},
		{"member set-state acme-in/pbx-1 draining --reason x", `MEMBER         SET TO    ENDS
acme-in/pbx-1  draining  2026-12-01T12:00:00Z
`},
		{"member set-state acme-in/pbx-1 active", `MEMBER         SET TO  ENDS
acme-in/pbx-1  active  -
`},
	} {
		code, out, errs := tandem(t, append(strings.Fields(x.args), "--address", address)...)
		if code != exitOK || out != x.want {
			t.Errorf("tandem %s: exit code %d\n%s\nwant\n%s%s", x.args, code, out, x.want, errs)
		}
	}
	if n.order.State != "active" || n.order.Reason != "" || n.order.Author == "" {
		t.Errorf("order %+v", n.order)
	}
	if n.question.Called != "+12145550100" || n.question.Source != "203.0.113.10:5060" || n.question.Transport != "udp" {
		t.Errorf("question %+v", n.question)
	}
}

func TestMemberListJSON(t *testing.T) {
	code, out, errs := tandem(t, "member", "list", "-o", "json", "--address", (&node{}).serve(t, ""))
	var list []struct{ Member, State string }
	if err := json.Unmarshal([]byte(out), &list); code != exitOK || err != nil || len(list) != 3 || list[0].Member != "acme-in/pbx-1" || list[0].State != "down" {
		t.Errorf("exit code %d, %v, %s", code, err, out)
	}
	if !strings.Contains(errs, "note: nearly all members of ashburn went down at once") {
		t.Errorf("no note about panic in %q", errs)
	}
}

func TestExitCodes(t *testing.T) {
	n := &node{document: admin.Document{Revision: 7}, list: admin.NodeList{StaleSeconds: 3}}
	address := n.serve(t, "")
	locked := n.serve(t, "a-long-secret-token")
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	refused := (&node{err: fmt.Errorf("%w: the document is of cluster \"b\"", admin.ErrRefused)}).serve(t, "")
	unavailable := (&node{err: fmt.Errorf("no leader: %w", admin.ErrUnavailable)}).serve(t, "")
	good := document(t, smallDocument)
	for _, x := range []struct {
		args string
		code int
		errs string
	}{
		{"member list nobody --address " + address, exitNotFound, "error: no member in nobody\n"},
		{"member set-state nobody/x active --address " + address, exitNotFound, "error: nobody/x: not found\n"},
		{"member set-state acme-in active --address " + address, exitUsage, "is not GROUP/MEMBER"},
		{"member set-state acme-in/x asleep --address " + address, exitUsage, "hint: write active, inactive, trying, draining or disabled, or like Kamailio a, i, ip, t, tp, d\n"},
		{"explain +1214 --address " + address, exitUsage, "error: --from or --username is needed\n"},
		{"explain +1214 --from 192.0.2.1 --address " + address, exitUsage, "error: --from wants ip:port, not \"192.0.2.1\"\n"},
		{"explain +1214 --from 192.0.2.1:5060 --transport sctp --address " + address, exitUsage, "hint: write --transport udp, tcp, tls, ws or wss\n"},
		{"call list --limit 20000 --address " + address, exitFailed, "error: query.limit: expected number <= 10000\n"},
		{"node list --address " + strings.TrimPrefix(other.URL, "http://"), exitFailed, "is not the admin API of a node: 404 Not Found\n"},
		{"node list --address 127.0.0.1:1", exitUnavailable, "error: no answer from 127.0.0.1:1: connect: connection refused\n"},
		{"node list --address unix:/nonexistent/admin.sock", exitUnavailable, "no such file or directory"},
		{"node list --address here", exitUsage, "is not an admin address"},
		{"node list --wait 1ms --address " + address, exitUnavailable, "error: after 1ms there is no leader"},
		{"node list --address " + locked, exitUnauthorized, "hint: --token-file or TANDEM_TOKEN"},
		{"config show --token-file " + document(t, "a-long-secret-token\n") + " --address " + locked, exitOK, ""},
		{"config apply " + good + " --revision 6 --address " + address, exitConflict, "error: revision 6 was expected and 7 is in force\n"},
		{"config apply " + good + " --revision 1.6 --address " + address, exitConflict, "error: revision 6 was expected and 7 is in force\n"},
		{"config apply " + good + " --address " + refused, exitFailed, "error: refused: the document is of cluster \"b\"\n"},
		{"config apply " + good + " --revision six --address " + address, exitUsage, ""},
		{"config apply " + good + " --address " + unavailable, exitUnavailable, "error: no leader: unavailable\n"},
		{"config apply " + document(t, "cluster: x\n") + " --address 127.0.0.1:1", exitFailed, "cluster.yaml"},
	} {
		code, out, errs := tandem(t, strings.Fields(x.args)...)
		if code != x.code || !strings.Contains(errs, x.errs) {
			t.Errorf("tandem %s: exit code %d, want %d\n%s%s", x.args, code, x.code, out, errs)
		}
	}
	if code, _, errs := tandem(t, "config", "show", "--address", (&node{}).serve(t, "")); code != exitNotFound {
		t.Errorf("config show without a document: exit code %d, %s", code, errs)
	}
}

// TestApplyKnowsWhatItWasMadeFrom edits what config show printed: nobody else's change is lost.
func TestApplyKnowsWhatItWasMadeFrom(t *testing.T) {
	n := &node{document: admin.Document{Cluster: "example", Generation: 1, Revision: 7, Text: smallDocument}}
	address := n.serve(t, "")
	code, shown, errs := tandem(t, "config", "show", "--address", address)
	if code != exitOK || shown != "# tandem revision 1.7\n"+smallDocument {
		t.Fatalf("exit code %d, %q, %s", code, shown, errs)
	}
	path := document(t, shown)
	code, out, errs := tandem(t, "config", "apply", path, "--reason", "why", "--author", "me", "--address", address)
	if code != exitOK || out != "revision 1.8 of cluster example is in force\n" {
		t.Errorf("exit code %d, %q, %s", code, out, errs)
	}
	if c := n.change; string(c.Text) != smallDocument || c.Expect == nil || *c.Expect != 7 || c.Reason != "why" || c.Author != "me" {
		t.Errorf("change %+v", c)
	}
	n.document.Revision = 9 // somebody else's
	if code, _, errs := tandem(t, "config", "apply", path, "--address", address); code != exitConflict || !strings.Contains(errs, "hint: compare `tandem config show`") {
		t.Errorf("exit code %d, %s", code, errs)
	}
	if code, out, errs := tandem(t, "config", "apply", path, "--force", "--dry-run", "--address", address); code != exitOK || out != "revision 1.10 of cluster example would be in force\n" {
		t.Errorf("exit code %d, %q, %s", code, out, errs)
	}
	if n.change.Expect != nil || !n.change.DryRun {
		t.Errorf("change %+v", n.change)
	}
}
