package b2bua

import (
	"fmt"
	"slices"

	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// note counts what a call was like.
func (s *scene) note(seen map[string]int, c *asking, x *trunkgroup.Explored, said *outcomeOf) {
	seen[fmt.Sprint(said.code)]++
	seen[x.Direction]++
	by, _ := s.table.FindNumber([]byte(x.Called))
	inbound := x.Direction == trunkgroup.Inbound && x.Code == 0
	is := map[string]bool{
		"refused": x.Code != 0, "several": len(said.dialled) > 1, "handed off": said.handed, "peer first": x.PeerFirst != "" && said.handed,
		"undialled": len(said.dialled) < len(x.Order), "digest": c.user != "" && x.Code == 0, "several groups": len(x.Course.Groups) > 1,
		"expression": inbound && by.Expression != "", "number table": inbound && by.InTable, "emergency": x.Code == 0 && trunkgroup.EmergencyNumber([]byte(x.Called)), "panic": x.Code == 0 && s.view.Panic["dallas"],
	}
	for i := range x.Order {
		s.noteCandidate(is, &x.Order[i], inbound)
	}
	s.noteAttempts(is, c, x, said)
	for _, g := range x.Course.Groups {
		is[g.Method.String()] = true
		is["in"] = is["in"] || slices.ContainsFunc(s.table.Members(), func(m *trunkgroup.Member) bool { return m.Group == g && m.Direction == trunkgroup.DirectionIn })
	}
	for kind, yes := range is {
		if yes {
			seen[kind]++
		}
	}
}

func (s *scene) noteCandidate(is map[string]bool, o *trunkgroup.Candidate, inbound bool) {
	for kind, yes := range map[string]bool{
		"binding": o.Binding != nil, "last resort": o.Member.LastResort && o.Dialable, "nested": o.Outer != nil, "inner of customers": o.Outer != nil && inbound,
		"quality": o.Cause == trunkgroup.CauseQuality, "capacity": o.Cause == trunkgroup.CauseCapacity, "ramp": s.view.Ramps[o.Member.Index] > 0 && o.Dialable,
	} {
		is[kind] = is[kind] || yes
	}
	if w, _ := o.Member.UnderMaintenance(sceneTime); w != nil {
		is["maintenance"] = true
	}
}

// noteAttempts looks for the rules that ended attempts, or the hunt.
func (s *scene) noteAttempts(is map[string]bool, c *asking, x *trunkgroup.Explored, said *outcomeOf) {
	dialled := map[*trunkgroup.Group]int{}
	for _, a := range said.tried {
		if is["tried there"] = is["tried there"] || a.Site != ""; a.Site != "" {
			continue
		}
		is[a.Cause] = true
		if a.Dialed {
			dialled[x.Order[a.Target].Member.Group]++
		}
		is["fork of several"] = is["fork of several"] || a.Fork > 0
	}
	for g, n := range dialled {
		dialable := 0
		for i := range x.Order {
			if o := &x.Order[i]; o.Member.Group == g && o.Dialable {
				dialable++
			}
		}
		is["max attempts"] = is["max attempts"] || n == g.MaxAttempts && n < dialable
		is["never advance"] = is["never advance"] || g.NeverAdvance.Has(c.code) && n < dialable
	}
	delete(is, "")
	delete(is, hunt.CauseCancelled)
}
