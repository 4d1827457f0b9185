package yamldoc_test

import (
	"os"
	"reflect"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

const exampleFile = "../../configs/cluster.example.yaml"

func example(t testing.TB) *trunkgroup.Document {
	t.Helper()
	data, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := yamldoc.Decode("cluster.example.yaml", data)
	if err != nil {
		t.Fatalf("the example has faults:\n%v", err)
	}
	return doc
}

// The example holds what the product shows first: two sites, customers in both
// directions, one of them by digest and by registration, three carriers, one of
// them with a login.
func TestExampleCompiles(t *testing.T) {
	doc := example(t)
	table, err := trunkgroup.Compile(doc, trunkgroup.Version{Cluster: doc.Cluster, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[trunkgroup.Role]int)
	digest := 0
	for _, g := range table.Groups() {
		counts[g.Role]++
		digest += len(g.Credentials)
	}
	if counts[trunkgroup.OriginationCustomer] < 2 || counts[trunkgroup.PSTNProvider] != 3 || digest != 1 {
		t.Errorf("roles %v, %d digest users", counts, digest)
	}
	if g := table.MatchNumber([]byte("+12145550149")); g == nil || g.Name != "acme-in" {
		t.Errorf("+12145550149 is %v", g)
	}
	if m := table.MatchAOR("sip:initech@sip.example.com"); m == nil || m.Key != "initech-in/pbx" || m.Group.AffinityHeader == "" {
		t.Errorf("no member that registers: %+v", m)
	}
	if g := table.Group("initech-out"); g == nil || g.Fraud == nil || len(g.Fraud.Rules) != 3 || g.ACL == nil {
		t.Errorf("no fraud section or acl: %+v", g)
	}
	if m := table.Member("carrier-b/ash"); m == nil || m.Account == nil || !m.Account.Register {
		t.Errorf("no account at a carrier: %+v", m)
	}
	if got := table.PeerSites("dallas"); !reflect.DeepEqual(got, []string{"ashburn"}) {
		t.Errorf("peers of dallas: %v", got)
	}
}

// What encode writes, Decode reads back as the same document.
func TestEncodeRoundTrip(t *testing.T) {
	doc := example(t)
	text, err := encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	again, err := yamldoc.Decode("encoded", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !reflect.DeepEqual(doc, again) {
		t.Errorf("the document changed:\n%s", text)
	}
}
