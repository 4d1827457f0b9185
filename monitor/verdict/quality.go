package verdict

import (
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// bar takes members out whose calls did worse than their group demands, the one that
// did so first before the others. The last one that a group has in a site goes on to
// get calls: somebody has to look, but a bad carrier is better than none.
func (b *Board) bar(in *Input) {
	if in.Bars == nil {
		return
	}
	type barred struct {
		s *Status
		trunkgroup.Bar
	}
	var list []barred
	for i := range b.Members {
		s := &b.Members[i]
		if s.Member.Group.Quality == nil {
			continue
		}
		if bar, ok := in.Bars(in.Now, s.Member); ok {
			list = append(list, barred{s, bar})
			b.Until = earlier(b.Until, bar.Until)
		}
	}
	slices.SortStableFunc(list, func(x, y barred) int { return x.Since.Compare(y.Since) })
	for _, x := range list {
		m := x.s.Member
		took := b.View.Takes(m.Group, m.Site)
		b.View.Bar(m, trunkgroup.CauseQuality)
		if took && !b.View.Takes(m.Group, m.Site) {
			b.View.Bar(m, "")
			x.s.Spared = x.Bar
			continue
		}
		x.s.barred(x.Bar)
	}
}

// barred shows a member as it is to calls. What keeps it from calls anyway is told
// first.
func (s *Status) barred(bar trunkgroup.Bar) {
	if s.State.Selectable() {
		s.State, s.Since, s.Until, s.Reason = trunkgroup.Cooldown, bar.Since, bar.Until, bar.Reason
	}
}

// Spared lists the members that would get no calls for what their calls came to, if
// their group had another one in the site.
func (b *Board) Spared() (list []*Status) {
	for i := range b.Members {
		if !b.Members[i].Spared.Until.IsZero() {
			list = append(list, &b.Members[i])
		}
	}
	return list
}

// Bars gives the bar of a member, if it has one.
type Bars func(now time.Time, m *trunkgroup.Member) (trunkgroup.Bar, bool)
