package archtest

import (
	"go/ast"
	"strings"
	"testing"
)

// rooms says what the packages of one directory tree may import of this module. The first entry that
// covers a directory holds for it. Tests may import more: they stand outside of the direction.
var rooms = []struct {
	dir     string
	may     []string
	because string
}{
	{"trunkgroup/yamldoc", []string{"trunkgroup"}, "reading YAML is an adapter of the domain and knows nothing else"},
	{"trunkgroup/policy", []string{"trunkgroup/policy"}, "what a rule says is a function of what it is given: it knows no table and no call of ours"},
	{"trunkgroup/deck", []string{"trunkgroup", "internal/octets"}, "rate decks answer calls by plans, and come as records that nodes pass on"},
	{"trunkgroup", []string{"trunkgroup"}, "the domain is the innermost room: what imports it must be able to change without it"},
	{"importer/tree", []string{"importer/tree"}, "reading foreign YAML is an adapter and knows nothing of what it means"},
	{"importer", []string{"importer", "trunkgroup"}, "converting what others wrote is a pure function of texts, and makes documents only"},
	{"geo", []string{"geo", "internal/percent", "trunkgroup"}, "site decisions are pure and know only the domain"},
	{"cdr", []string{"cdr"}, "the call record is a leaf that every room may share"},
	{"sbc/hunt", []string{"sbc/hunt", "internal/percent", "trunkgroup"}, "the sequence engine is tested without any SIP message"},
	{"sbc/sip", []string{"sbc/sip"}, "the message model is a leaf"},
	{"sbc/transaction", []string{"sbc/transaction"}, "transaction state machines hold no message"},
	{"limit", []string{"limit"}, "counting is a leaf: it knows nothing of calls, nodes or leases"},
	{"sbc/number", []string{"sbc/number", "trunkgroup"}, "number policy is a pure function of configuration"},
	{"sbc/auth", []string{"sbc/auth", "trunkgroup"}, "digest is a pure function of configuration and clock"},
	{"sbc/registrar", []string{"sbc/registrar", "sbc/sip", "trunkgroup"}, "who may be registered for how long is a question of one message, the rules and what there is"},
	{"sbc/guard", []string{"sbc/guard", "trunkgroup"}, "who may be heard is decided before there is any message"},
	{"sbc/sessions", []string{"sbc/sessions", "trunkgroup"}, "how many calls a far end has is a number: it knows no call, and nodes only by name"},
	{"sbc/lcr/client", []string{"sbc/lcr", "sbc/dns", "trunkgroup"}, "who asks decision servers knows what is asked and the contract, and no node"},
	{"sbc/lcr", []string{"sbc/lcr", "cdr", "trunkgroup"}, "the contract with decision servers is tested without any server"},
	{"sbc/charging/peers", []string{"sbc/charging", "sbc/charging/diameter"}, "connections to charging servers carry requests and know no session"},
	{"sbc/charging/ocs", []string{"sbc/charging", "sbc/charging/diameter"}, "the charging server of tests knows the wire alone"},
	{"sbc/charging/spool", []string{"sbc/charging", "internal/durable"}, "what is kept is kept whatever it says"},
	{"sbc/charging", []string{"sbc/charging", "trunkgroup"}, "what a call owes is a question of its facts, the rules and the answers"},
	{"sbc/drain", []string{"sbc/drain"}, "when a node may end is a question of time and counts alone"},
	{"sbc", []string{"sbc", "internal/octets", "geo", "trunkgroup", "cdr", "limit"}, "sbc, cluster and monitor meet only as small interfaces that internal/app wires"},
	{"cluster/fsm", []string{"cluster/fsm", "internal/octets", "trunkgroup"}, "what Raft replays must not depend on the shell around it"},
	{"cluster/soft", []string{"cluster/soft", "internal/octets"}, "soft state is pure and carries values that it does not read"},
	{"cluster/gossip", []string{"cluster/gossip", "cluster/dialmap", "cluster/keyring", "cluster/logs"}, "gossip carries bytes and knows no domain type"},
	{"cluster/interconnect", []string{"cluster/interconnect", "cluster/hello", "cluster/dialmap", "cluster/keyring", "cluster/logs", "cluster/pki"}, "the interconnect carries bytes and knows no domain type"},
	{"cluster/join", []string{"cluster/join", "cluster/pki"}, "who comes to join knows nothing of the cluster yet"},
	{"cluster/atrest", []string{"cluster/atrest", "cluster/keyring"}, "what is sealed is octets: it knows no file and no log"},
	{"cluster/pki", []string{"cluster/pki"}, "certificates are judged and issued without a network or a file"},
	{"cluster/lease", []string{"cluster/lease", "internal/octets", "limit"}, "leases know meters, not calls"},
	{"cluster", []string{"cluster", "internal/durable", "internal/octets", "geo", "trunkgroup", "cdr", "limit"}, "sbc, cluster and monitor meet only as small interfaces that internal/app wires"},
	{"monitor/cdrlog", []string{"monitor/cdrlog", "internal/durable", "internal/pushlist"}, "the spool writes records down and reads none of their fields"},
	{"monitor/closing", []string{"monitor/closing", "cdr"}, "who closes a record is a pure decision over what the caller knows"},
	{"monitor/cdrquery", []string{"monitor/cdrquery", "cdr"}, "what is looked for is a pure question to records"},
	{"monitor/cdrindex", []string{"monitor/cdrindex", "monitor/cdrquery", "cdr"}, "the index reads files and knows nobody who writes them"},
	{"monitor", []string{"monitor", "internal/durable", "internal/octets", "geo", "trunkgroup", "cdr", "limit"}, "sbc, cluster and monitor meet only as small interfaces that internal/app wires"},
	{"lab", []string{"lab", "sbc/sim", "sbc/sip", "sbc/transport", "cdr", "trunkgroup"}, "the rig drives whole processes from outside"},
	{"bench", []string{"bench", "lab", "sbc/sim", "sbc/sip", "sbc/transport", "trunkgroup"}, "the benchmark drives whole processes from outside"},
	{"simulation", []string{"simulation", "sbc", "cluster", "monitor", "geo", "trunkgroup", "cdr", "limit"}, "the simulation plays all pure cores together and is imported by nobody"},
	{"internal/config", []string{"internal/config"}, "the node file is read before anything else exists"},
	{"internal/contexts", []string{"internal/contexts", "internal/durable"}, "which nodes an operator asks is a file of the client alone"},
	{"internal/nftset", []string{"internal/nftset"}, "writing sets of the kernel knows nothing of why"},
	{"internal/pushlist", []string{"internal/pushlist"}, "how many tell one is a leaf"},
	{"internal/durable", []string{"internal/durable"}, "how files outlast a power loss is a leaf that rooms share which may not import each other"},
	{"internal/octets", []string{"internal/octets"}, "how records are read is a leaf that rooms share which may not import each other"},
	{"internal/percent", []string{"internal/percent"}, "how fields are written is a leaf that rooms share which may not import each other"},
	{"internal/sdnotify", []string{"internal/sdnotify"}, "what a service manager is told is asked of an interface, and sent: it knows no node"},
	{"internal/vnet", []string{"internal/vnet"}, "the in-memory network stands in for the real one below every room"},
	{"internal/linear", []string{"internal/linear"}, "the judge of a history knows nothing of who made it"},
	{"internal/archtest", nil, "rules read source, they do not run it"},
	{"internal/app", []string{"internal", "sbc", "cluster", "monitor", "geo", "trunkgroup", "cdr", "limit"}, "app is the only place that knows everybody, except commands"},
	{"internal/demo", []string{"internal", "sbc", "cluster", "monitor", "geo", "trunkgroup", "cdr"}, "the demo drives whole nodes"},
	{"cmd", []string{"internal", "monitor", "cluster/pki", "cluster/join", "cluster/keyring", "sbc/auth", "sbc/lcr", "sbc/sim", "importer", "trunkgroup", "geo", "cdr"}, "commands parse, call internal/app or the admin API, and print"},
}

// fences names outside packages and the only places that may import them.
var fences = []struct {
	path    string
	may     []string
	tests   bool // tests anywhere may import it
	because string
}{
	{"github.com/emiago/sipgo", nil, false, "sbc/sip is the one message model; a second one would parse differently from the gate"},
	{"github.com/hashicorp/memberlist", []string{"cluster/gossip", "internal/vnet"}, true, "gossip stays behind cluster/gossip so that it can be replaced"},
	{"github.com/hashicorp/raft", []string{"cluster"}, true, "consensus stays behind cluster"},
	{"go.etcd.io/bbolt", []string{"cluster"}, true, "the Raft store is the only database that is no copy"},
	{"modernc.org/sqlite", []string{"monitor/cdrindex"}, false, "the index of call records is a copy that can be thrown away; nothing else is kept in SQL"},
	{"database/sql", []string{"monitor/cdrindex"}, false, "the index of call records is a copy that can be thrown away; nothing else is kept in SQL"},
	{"github.com/anishathalye/porcupine", []string{"internal/linear"}, false, "a history is judged by one model"},
	{"github.com/spf13/viper", []string{"internal/config", "cmd"}, true, "viper lower-cases keys and splits them at dots: it may see the node file only"},
	{"github.com/spf13/cobra", []string{"cmd"}, true, "only commands parse arguments"},
	{"github.com/prometheus", []string{"monitor"}, true, "the other rooms report through small interfaces that monitor's metrics implement"},
	{"go.yaml.in/yaml", []string{"trunkgroup/yamldoc", "importer/tree", "internal/contexts"}, true, "the cluster document has one strict reader that keeps line numbers; importer/tree reads what others wrote, internal/contexts the client's own file"},
	{"gopkg.in/yaml", nil, false, "go.yaml.in/yaml/v3 in trunkgroup/yamldoc is the one YAML reader"},
	{"github.com/expr-lang/expr", []string{"trunkgroup/policy"}, false, "expressions are compiled and bounded in one place"},
	{"github.com/google/nftables", []string{"internal/nftset"}, false, "the kernel's packet filter is reached in one place, that may fail"},
	{"github.com/coder/websocket", []string{"sbc/transport"}, true, "a WebSocket is one more stream of sbc/transport, with its caps and deadlines"},
	{"github.com/miekg/dns", []string{"sbc/dns", "monitor", "internal/app"}, true, "names are resolved in the background, never on the call path"},
	{"github.com/stretchr/testify", nil, false, "plain comparisons with got and want read better and depend on nothing"},
	{"github.com/sirupsen/logrus", nil, false, "log/slog, injected"},
	{"log", []string{"cluster/logs"}, false, "log/slog, injected; cluster/logs adapts libraries that want the old one"},
	{"expvar", nil, false, "monitor owns the metrics, and expvar registers globally"},
	{"math/rand", nil, false, "math/rand/v2 with a seed that the caller gives, or crypto/rand for what strangers must not guess"},
	{"reflect", []string{"internal/config", "trunkgroup/yamldoc"}, true, "say it with types; reflection hides who reads a field"},
}

// TestImportDirection proves that packages import one way:
// cmd -> internal/app -> {sbc, cluster, monitor} -> {geo, trunkgroup, cdr}.
func TestImportDirection(t *testing.T) {
	s := source(t)
	for _, f := range s.files {
		if f.Test {
			continue
		}
		f.imports(func(p string, spec *ast.ImportSpec) {
			dir, ok := strings.CutPrefix(p, module+"/")
			if !ok {
				return
			}
			for _, r := range rooms {
				if !under(f.Dir, r.dir) {
					continue
				}
				if !under(dir, r.may...) {
					t.Errorf("%s:%d: %s may not import %s: %s (it may import %s)",
						f.Path, s.line(spec.Pos()), f.Dir, dir, r.because, strings.Join(r.may, ", "))
				}
				return
			}
		})
	}
}

// TestEveryPackageHasARoom keeps the list above complete: a new directory is placed on purpose.
func TestEveryPackageHasARoom(t *testing.T) {
	for dir := range source(t).dirs() {
		placed := under(dir, "e2e")
		for _, r := range rooms {
			placed = placed || under(dir, r.dir)
		}
		if !placed {
			t.Errorf("%s: no entry in rooms (internal/archtest/imports_test.go): say what it may import and why", dir)
		}
	}
}

// TestFences keeps libraries in the package that adapts them.
func TestFences(t *testing.T) {
	s := source(t)
	for _, f := range s.files {
		f.imports(func(p string, spec *ast.ImportSpec) {
			for _, fence := range fences {
				hit := p == fence.path || strings.HasPrefix(p, fence.path+"/") && fence.path != "log" && fence.path != "math/rand"
				if !hit || under(f.Dir, fence.may...) || f.Test && fence.tests {
					continue
				}
				t.Errorf("%s:%d: import of %s: %s", f.Path, s.line(spec.Pos()), p, fence.because)
			}
		})
	}
}
