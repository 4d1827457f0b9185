package trunkgroup

import "testing"

func TestServesDomain(t *testing.T) {
	doc := &Document{
		Cluster: "test", Sites: []SiteSpec{{Name: "dallas"}},
		TrunkGroups: []GroupSpec{
			{
				Name: "acme-pbx", Role: OriginationCustomer, Numbers: []string{"+12145550100"},
				Credentials: []CredentialSpec{{Username: "pbx", Realm: "Sip.Example.Com", HA1MD5: "0123456789abcdef0123456789abcdef"}},
				Members:     []MemberSpec{{ID: "pbx", Registration: &RegistrationSpec{AOR: "sip:pbx@pbx.Acme.example"}}},
			},
		},
	}
	table, err := Compile(doc, Version{Cluster: "test", Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{
		"sip.example.com": true, "SIP.example.COM": true, "pbx.acme.example": true, "PBX.acme.example": true,
		"acme.example": false, "evil.example": false, "": false,
	} {
		if got := table.ServesDomain(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { table.ServesDomain("pbx.acme.example"); table.ServesDomain("evil.example") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
