package trunkgroup

import (
	"strings"
	"testing"
	"time"
)

// What nobody can mean is told at its place, before it makes a storm.
func TestRegistrationBounds(t *testing.T) {
	const aor = "sip:a@sip.example.com"
	for _, c := range []struct {
		spec         RegistrationSpec
		path, remedy string
	}{
		{RegistrationSpec{AOR: aor, NATExpires: Duration(time.Millisecond)}, "nat_expires", "use 5s or more"},
		{RegistrationSpec{AOR: aor, MinExpires: Duration(time.Second), MaxExpires: Duration(2 * time.Second)}, "max_expires", "use 5s or more"},
		{RegistrationSpec{AOR: "sip:a@[2001:db8::1"}, "aor", "write it like"},
		{RegistrationSpec{AOR: "sip:a@192.0.2.1]"}, "aor", "write it like"},
	} {
		doc := &Document{
			Cluster: "test", Sites: []SiteSpec{{Name: "dallas"}},
			TrunkGroups: []GroupSpec{{Name: "pbx", Role: OriginationCustomer, Members: []MemberSpec{{ID: "a", Registration: &c.spec}}}},
		}
		told := false
		for _, f := range doc.Validate() {
			told = told || strings.HasSuffix(f.Path, "members[0].registration."+c.path) && strings.Contains(f.Remedy, c.remedy)
		}
		if !told {
			t.Errorf("%+v: %v", c.spec, doc.Validate())
		}
	}
}
