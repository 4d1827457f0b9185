package app

import (
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestRealms(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef"
	table, err := trunkgroup.Compile(&trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{
			{Name: "a", Role: trunkgroup.TerminationCustomer, Credentials: []trunkgroup.CredentialSpec{
				{Username: "both", Realm: "a.example", HA1MD5: hash}, {Username: "alone", Realm: "A.example", HA1MD5: hash},
			}},
			{Name: "b", Role: trunkgroup.TerminationCustomer, Credentials: []trunkgroup.CredentialSpec{{Username: "both", Realm: "own.example", HA1MD5: hash}}},
		},
	}, trunkgroup.Version{})
	if err != nil {
		t.Fatal(err)
	}
	realms := realmsOf(table, "own.example")
	if realms["both"] != "own.example" || realms["alone"] != "A.example" || len(realmsOf(nil, "own.example")) != 0 {
		t.Errorf("%v", realms)
	}
	for called, want := range map[string]string{"sip:x@a.EXAMPLE": "a.example", "sip:x@other.example": "", "+12145550100": ""} {
		if got := realmOf(table, called); got != want {
			t.Errorf("the realm of %s is %q, want %q", called, got, want)
		}
	}
}
