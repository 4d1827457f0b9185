package trunkgroup

import "testing"

// heldBindings is a registry of bindings that all can be reached.
type heldBindings []*Binding

func (r heldBindings) Bindings(string) []*Binding            { return r }
func (r heldBindings) Reach(b *Binding) (site, cause string) { return b.Site, "" }

func TestP29_ABindingOfAUserWhoMayNotRegisterGetsNoCall(t *testing.T) {
	doc := &Document{
		Cluster: "test", Sites: []SiteSpec{{Name: "dallas"}},
		TrunkGroups: []GroupSpec{{
			Name: "acme-in", Role: OriginationCustomer, Numbers: []string{"+1214555*"},
			Members: []MemberSpec{{ID: "pbx", Registration: &RegistrationSpec{AOR: "sip:acme@sip.example.com", Users: []string{"new"}}}},
			Credentials: []CredentialSpec{{
				Username: "new", Realm: "sip.example.com", HA1MD5: "0123456789abcdef0123456789abcdef",
			}},
		}},
	}
	table, err := Compile(doc, Version{})
	if err != nil {
		t.Fatal(err)
	}
	v := NewView(table)
	v.Registry = heldBindings{{ID: "1", User: "old", Site: "dallas", Q: 1000}, {ID: "2", User: "new", Site: "dallas", Q: 1000}}
	order := Plan(nil, table.Group("acme-in"), "dallas", v, Draw{})
	if len(order) != 2 || order[0].Dialable || order[0].Cause != CauseUserGone || !order[1].Dialable || order[1].Binding.ID != "2" {
		t.Errorf("%+v", order)
	}
}
