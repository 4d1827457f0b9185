package demo

import (
	"fmt"
	"time"
)

// act is one thing that happens on the stage.
type act struct {
	title   string
	explain string
	do      func(*stage) error
	watch   time.Duration
	heal    func(*stage) error // nil: nothing to heal
	// expect judges what the callers saw during the act.
	expect func(before, after tally) error
}

func acts() []act {
	return []act{
		{
			title:   "All is well",
			explain: "calls enter both sites, from the PSTN and from Acme, and stay where they enter",
			watch:   4 * time.Second,
			expect:  both(landsIn("dallas"), landsIn("ashburn")),
		},
		{
			title:   "A PBX dies in Dallas",
			explain: "acme-dal-1 is gone: acme-dal-2 takes its calls, nothing leaves the site",
			do:      kill("acme-dal-1"), watch: 5 * time.Second, heal: revive("acme-dal-1"),
			expect: silent("acme-dal-1"),
		},
		{
			title:   "All of Acme's PBXs in Dallas die",
			explain: "nobody in Dallas can take a call for Acme: Dallas hands it to Ashburn",
			do:      kill("acme-dal-1", "acme-dal-2"), watch: 7 * time.Second, heal: revive("acme-dal-1", "acme-dal-2"),
			expect: handedOff,
		},
		{
			title:   "Dallas loses its carriers",
			explain: "Acme's own calls leave through Ashburn's carriers",
			do:      kill("bigtel-dal", "lowcost-dal"), watch: 7 * time.Second, heal: revive("bigtel-dal", "lowcost-dal"),
			expect: handedOff,
		},
		{
			title:   "A node dies",
			explain: "dal-1 is killed with -9: callers go to dal-2 as SRV clients do; calls that were up on dal-1 are lost and named",
			do: func(s *stage) error {
				s.markKilled("dal-1")
				s.nodes["dal-1"].kill()
				return nil
			},
			watch: 7 * time.Second,
			heal:  func(s *stage) error { return s.startNode(places[0]) },
		},
		{
			title:   "The WAN is cut",
			explain: "the sites cannot see each other or the witness: each routes on by itself",
			do:      func(s *stage) error { s.wan.setCut(true); return nil },
			watch:   7 * time.Second,
			heal:    func(s *stage) error { s.wan.setCut(false); return nil },
			expect:  both(landsIn("dallas"), landsIn("ashburn")),
		},
		{
			title:   "Healed",
			explain: "everybody is back; calls stay where they enter",
			watch:   5 * time.Second,
			expect:  both(landsIn("dallas"), landsIn("ashburn")),
		},
	}
}

func kill(ids ...string) func(*stage) error {
	return func(s *stage) error {
		for _, id := range ids {
			if err := s.killFar(id); err != nil {
				return err
			}
		}
		return nil
	}
}

func revive(ids ...string) func(*stage) error {
	return func(s *stage) error {
		for _, id := range ids {
			if err := s.fars[id].Revive(); err != nil {
				return fmt.Errorf("demo: %w", err)
			}
		}
		return nil
	}
}

func landsIn(site string) func(before, after tally) error {
	return func(before, after tally) error {
		if after.site(site) == before.site(site) {
			return fmt.Errorf("no call was answered in %s", site)
		}
		return nil
	}
}

func silent(member string) func(before, after tally) error {
	return func(before, after tally) error {
		// One call may have been on its way when it died.
		if n := after.members[member] - before.members[member]; n > 3 {
			return fmt.Errorf("%s is dead and answered %d calls", member, n)
		}
		return nil
	}
}

func handedOff(before, after tally) error {
	if after.handoffs <= before.handoffs {
		return fmt.Errorf("no call was handed off")
	}
	return nil
}

func both(checks ...func(before, after tally) error) func(before, after tally) error {
	return func(before, after tally) error {
		for _, check := range checks {
			if err := check(before, after); err != nil {
				return err
			}
		}
		return nil
	}
}
