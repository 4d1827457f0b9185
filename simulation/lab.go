package simulation

import (
	"fmt"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/cluster/lease"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The places of the simulated cluster.
const (
	clusterID = "sim"
	dallas    = "dallas"
	ashburn   = "ashburn"
)

// documents is how many cluster documents there are to change between.
const documents = 4

// Lab holds what simulations share: compiled tables, which are immutable. It
// belongs to one goroutine.
type Lab struct {
	tables map[tableKey]*trunkgroup.Table
	limits []lease.Limit // that hold in all documents with limits
}

type tableKey struct {
	doc     string
	version trunkgroup.Version
}

// NewLab returns a lab. Use one per goroutine for all seeds that it plays.
func NewLab() *Lab {
	l := &Lab{tables: make(map[tableKey]*trunkgroup.Table)}
	l.limits = limitsOf(l.table(docName(0, true), firstVersion()))
	return l
}

// firstVersion is what a cluster begins with.
func firstVersion() trunkgroup.Version {
	return trunkgroup.Version{Cluster: clusterID, Generation: 1, Revision: 1}
}

// table compiles a document once per version.
func (l *Lab) table(doc string, v trunkgroup.Version) *trunkgroup.Table {
	key := tableKey{doc, v}
	if t := l.tables[key]; t != nil {
		return t
	}
	t, err := trunkgroup.Compile(documentOf(doc), v)
	if err != nil {
		panic(fmt.Sprintf("simulation: document %q: %v", doc, err)) // the documents are below
	}
	l.tables[key] = t
	return t
}

// docName names a document. Those with limits are documents of their own: a seed
// has limits in all of its documents or in none.
func docName(i int, limited bool) string {
	if limited {
		return fmt.Sprintf("document %d with limits", i)
	}
	return fmt.Sprintf("document %d", i)
}

// documentOf is the document that a name in the config log stands for.
func documentOf(name string) *trunkgroup.Document {
	d := baseDocument()
	acme := &d.TrunkGroups[0]
	base, limited := strings.CutSuffix(name, " with limits")
	if limited {
		limits(d)
	}
	switch base {
	case docName(1, false):
		acme.Members[1].Disabled = true
	case docName(2, false):
		acme.Distribution.Method = trunkgroup.Failover
		for i := range acme.Members {
			acme.Members[i].Priority = i + 1
		}
	case docName(3, false):
		acme.Distribution.Method = trunkgroup.Parallel
		d.TrunkGroups = append(d.TrunkGroups, trunkgroup.GroupSpec{
			Name: "charlie-in", Role: trunkgroup.OriginationCustomer, Numbers: []string{"+1214557*"}, Monitoring: monitoring(),
			Members: []trunkgroup.MemberSpec{{ID: "dal", Site: dallas, Address: "198.51.100.30:5060"}},
		})
	}
	return d
}

// limits puts limits of each kind and scope in that are met now and then.
func limits(d *trunkgroup.Document) {
	d.Customers[0].Limits.CPS = 6
	for i := range d.TrunkGroups {
		switch g := &d.TrunkGroups[i]; g.Name {
		case "bravo-in":
			g.Limits.Calls = 4
		case "carrier-b":
			g.Members[0].Limits.Calls = 2
		}
	}
}

// monitoring is quick, so that verdicts move within a run.
func monitoring() trunkgroup.MonitoringSpec {
	repeats := 1
	return trunkgroup.MonitoringSpec{
		Profile: "peeredge", Interval: trunkgroup.Duration(10 * time.Second), DownInterval: trunkgroup.Duration(3 * time.Second),
		Timeout: trunkgroup.Duration(time.Second), Repeats: &repeats,
	}
}

func baseDocument() *trunkgroup.Document {
	member := func(id, site, addr string) trunkgroup.MemberSpec {
		return trunkgroup.MemberSpec{ID: id, Site: site, Address: addr}
	}
	return &trunkgroup.Document{
		Cluster:   clusterID,
		Customers: []trunkgroup.CustomerSpec{{Name: "acme"}},
		Sites:     []trunkgroup.SiteSpec{{Name: dallas, Peers: []string{ashburn}}, {Name: ashburn, Peers: []string{dallas}}},
		TrunkGroups: []trunkgroup.GroupSpec{
			{
				Name: "acme-in", Customer: "acme", Role: trunkgroup.OriginationCustomer, Numbers: []string{"+1214555*"}, Monitoring: monitoring(),
				Distribution: trunkgroup.DistributionSpec{Method: trunkgroup.LoadBalance},
				Members: []trunkgroup.MemberSpec{
					member("dal-1", dallas, "198.51.100.10:5060"), member("dal-2", dallas, "198.51.100.11:5060"),
					member("ash-1", ashburn, "198.51.100.74:5060"), member("ash-2", ashburn, "198.51.100.75:5060"),
				},
			},
			{
				Name: "bravo-in", Role: trunkgroup.OriginationCustomer, Numbers: []string{"+1214556*"}, Monitoring: monitoring(),
				Members: []trunkgroup.MemberSpec{member("dal", dallas, "198.51.100.20:5060"), member("ash", ashburn, "198.51.100.84:5060")},
			},
			{
				Name: "acme-out", Customer: "acme", Role: trunkgroup.TerminationCustomer,
				Sources: []trunkgroup.SourceSpec{{IP: "198.51.100.10", Port: 5060}, {IP: "198.51.100.74", Port: 5060}},
			},
			{
				Name: "bravo-out", Role: trunkgroup.TerminationCustomer, RoutePlan: "decided",
				Sources: []trunkgroup.SourceSpec{{IP: "198.51.100.20", Port: 5060}, {IP: "198.51.100.84", Port: 5060}},
			},
			{
				Name: "carrier-a", Role: trunkgroup.PSTNProvider, Monitoring: monitoring(),
				Members: []trunkgroup.MemberSpec{member("dal", dallas, "192.0.2.10:5060"), member("ash", ashburn, "192.0.2.74:5060")},
			},
			{
				Name: "carrier-b", Role: trunkgroup.PSTNProvider, Monitoring: monitoring(),
				Members: []trunkgroup.MemberSpec{member("dal", dallas, "192.0.2.20:5060"), member("ash", ashburn, "192.0.2.84:5060")},
			},
		},
		RoutePlans: []trunkgroup.RoutePlanSpec{{
			Name:     "decided",
			Decision: &trunkgroup.DecisionSpec{URL: "http://lcr.example.com/route", Timeout: trunkgroup.Duration(decisionTimeout)},
		}},
	}
}
