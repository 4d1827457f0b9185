package quality

import (
	"fmt"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func document(spec trunkgroup.QualitySpec) *trunkgroup.Document {
	return &trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{
			{
				Name: "carrier", Role: trunkgroup.PSTNProvider, Quality: &spec,
				Members: []trunkgroup.MemberSpec{{ID: "a", Site: "dallas", Address: "192.0.2.1"}, {ID: "b", Site: "dallas", Address: "192.0.2.2"}},
			},
			{Name: "plain", Role: trunkgroup.PSTNProvider, Members: []trunkgroup.MemberSpec{{ID: "a", Site: "dallas", Address: "192.0.2.3"}}},
		},
	}
}

// floor is a third of calls answered, of ten or more within a minute.
var floor = trunkgroup.QualitySpec{
	MinAnswerRatio: 30, MaxShortCalls: 40, MinSamples: 10, Window: trunkgroup.Duration(time.Minute), Cooldown: trunkgroup.Duration(5 * time.Minute),
}

func table(t testing.TB, d *trunkgroup.Document) *trunkgroup.Table {
	t.Helper()
	table, err := trunkgroup.Compile(d, trunkgroup.Version{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func watch(t testing.TB) (*Watch, *trunkgroup.Member) {
	t.Helper()
	w, tab := NewWatch(), table(t, document(floor))
	w.Use(tab)
	return w, tab.Member("carrier/a")
}

// attempt counts attempts, of which some are answered.
func attempt(w *Watch, now time.Time, m *trunkgroup.Member, n, answered int) {
	for i := range n {
		o := Carrier
		if i < answered {
			o = Answered
		}
		w.Attempt(now, m, o, true)
	}
}

// nodes is a site of processes that tell each other what they count.
type nodes struct {
	t     *testing.T
	list  []*Watch
	told  []map[string][]byte // by node and member
	delay time.Duration
}

func newNodes(t *testing.T, n int) *nodes {
	x := &nodes{t: t}
	for range n {
		x.join()
	}
	return x
}

// join adds a process that knows nothing yet.
func (x *nodes) join() *Watch {
	w, _ := watch(x.t)
	x.list, x.told = append(x.list, w), append(x.told, map[string][]byte{})
	return w
}

// exchange lets all tell, and hear it a little later.
func (x *nodes) exchange(now time.Time) {
	for i, w := range x.list {
		untold := w.Spread(now, func(member string, value []byte) error {
			x.told[i][member] = value
			for j, other := range x.list {
				if j != i {
					if err := other.Heard(fmt.Sprint(i), member, value, now.Add(x.delay)); err != nil {
						x.t.Fatal(err)
					}
				}
			}
			return nil
		})
		if untold != 0 {
			x.t.Fatalf("%d untold", untold)
		}
	}
}

// step is a second: all tell, all judge.
func (x *nodes) step(now time.Time) {
	x.exchange(now)
	for _, w := range x.list {
		w.Judge(now)
	}
}

func (x *nodes) barred(now time.Time, key string) (list []bool) {
	for _, w := range x.list {
		_, is := w.Bar(now, w.index.Load().table.Member(key))
		list = append(list, is)
	}
	return list
}
