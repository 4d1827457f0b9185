package b2bua

import (
	"strconv"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Far ends that are called at once, in a storm: two in each site, and one more
// when these have failed.

const stormForks = "+1512555"

// stormForkGroup is their group.
func stormForkGroup() trunkgroup.GroupSpec {
	g := trunkgroup.GroupSpec{
		Name: "all-in", Role: trunkgroup.OriginationCustomer, Numbers: []string{stormForks + "*"},
		Distribution: trunkgroup.DistributionSpec{Method: trunkgroup.Parallel},
	}
	for _, at := range []struct {
		site  string
		first int
	}{{"dallas", 10}, {"ashburn", 74}} {
		for i := range 3 {
			m := trunkgroup.MemberSpec{ID: at.site + strconv.Itoa(i), Site: at.site, Address: stormPhone(at.first + i)}
			if i == 2 {
				m.Priority = 1
			}
			g.Members = append(g.Members, m)
		}
	}
	return g
}

func stormPhone(n int) string { return "198.51.100." + strconv.Itoa(n) + ":5060" }

// fork adds the agents that only forks call.
func (w *storm) fork() {
	for _, addr := range []string{stormPhone(12), stormPhone(76)} {
		w.agents[addr] = newAgent(w, addr)
	}
}

// checkFork holds a record against what a fork promises: one answered, and nobody
// else is said to have.
func (w *storm) checkFork(r *cdr.Record) {
	answered, together := 0, 0
	for _, a := range r.Attempts {
		if a.Code/100 == 2 {
			answered++
			if a.Member != r.EgressMember || a.EgressCallID != "" && a.EgressCallID != r.EgressCallID && !r.HandedOff {
				w.fault("call %s was answered by %s, its record says %s", r.SIPCallID, a.Member, r.EgressMember)
			}
		}
		if a.Cause == "answered_elsewhere" {
			together++
		}
	}
	if want := min(1, len(r.Attempts)); answered > 1 || !r.Answer.IsZero() && answered != want {
		w.fault("call %s: %d attempts answered: %+v", r.SIPCallID, answered, r.Attempts)
	}
	w.forked += together
}
