package trunkgroup

import (
	"fmt"
	"testing"
	"time"
)

// manyGroups is one customer's document: each group has a digest user that registers, a
// PBX and a number, and its method is parallel. misspelt says that every name which one
// thing has for another is wrong.
func manyGroups(n int, misspelt bool) *Document {
	d := &Document{Cluster: "c", Sites: []SiteSpec{{Name: "dallas"}}, Customers: []CustomerSpec{{Name: "acme"}}}
	for i := range n {
		user, site, customer := fmt.Sprintf("user-%d", i), "dallas", "acme"
		g := GroupSpec{
			Name: fmt.Sprintf("pbx-%d", i), Role: OriginationCustomer, Numbers: []string{fmt.Sprintf("+1214%07d", i)},
			Distribution: DistributionSpec{Method: Parallel},
			Credentials:  []CredentialSpec{{Username: user, Realm: "sip.example", HA1MD5: "0123456789abcdef0123456789abcdef"}},
		}
		if misspelt {
			user, site, customer = fmt.Sprintf("usr-%d-xyz", i), fmt.Sprintf("dxllxs-%d", i), fmt.Sprintf("acne-%d", i)
			d.Customers = append(d.Customers, CustomerSpec{Name: fmt.Sprintf("customer-%d", i)})
			g.RoutePlan = fmt.Sprintf("plan-%d", i)
		}
		g.Customer = customer
		g.Members = []MemberSpec{
			{ID: "phone", Registration: &RegistrationSpec{AOR: "sip:" + user + "@sip.example"}},
			{ID: "pbx", Site: site, Address: fmt.Sprintf("10.%d.%d.%d:5060", i>>16, i>>8&255, i&255)},
		}
		if misspelt {
			g.Members = append(g.Members, MemberSpec{ID: "nest", Group: fmt.Sprintf("pbq-%d", i)})
		}
		d.TrunkGroups = append(d.TrunkGroups, g)
	}
	return d
}

// TestDEC14_ChecksGrowWithTheDocument: twice the groups of one customer take about twice
// the time, not four times, whether all is right or all is wrong.
func TestDEC14_ChecksGrowWithTheDocument(t *testing.T) {
	for _, misspelt := range []bool{false, true} {
		took := func(n int) time.Duration {
			d, best := manyGroups(n, misspelt), time.Hour
			for range 3 {
				begin := time.Now()
				if faults := d.Validate(); (len(faults) > 0) != misspelt {
					t.Fatalf("%d faults, the first one %v", len(faults), faults[:min(len(faults), 1)])
				}
				best = min(best, time.Since(begin))
			}
			return best
		}
		few, many := took(500), took(8000)
		if t.Logf("misspelt %v: 500 groups %v, 8000 groups %v", misspelt, few, many); many > 16*6*few+time.Second {
			t.Errorf("misspelt %v: 500 groups take %v, and 8000 take %v", misspelt, few, many)
		}
	}
}
