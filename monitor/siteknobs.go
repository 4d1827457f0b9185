package monitor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Refusals of an operator's word.
var (
	// ErrNoMember says that the table has no such member.
	ErrNoMember = errors.New("no such member")
	// ErrNoSite says that the table has no such site.
	ErrNoSite = errors.New("no such site")
	// ErrNoKnob says that nothing is in force about a subject.
	ErrNoKnob = errors.New("no operator's word is in force")
	// ErrOtherSite says that the subject belongs to another site, whose nodes alone may turn it (DEC-25): so two sites that do not see each
	// other cannot contradict each other.
	ErrOtherSite = errors.New("is not this node's site")
	// ErrWeight says that a weight makes no difference, or is none.
	ErrWeight = errors.New("a weight that cannot be given")
	// ErrNotProbed says that probes would have to do what none does: the member has none.
	ErrNotProbed = errors.New("is not probed")
	// ErrTooMany says that one order is about more members than it may be.
	ErrTooMany = errors.New("too many members for one order")
	// ErrLastSite says that no other site could take the calls.
	ErrLastSite = errors.New("no other site takes calls")
)

// SetState takes an operator's word about a member ("group/member"). It holds at once on this node, spreads to all others without a quorum, and
// ends after the life of a knob unless it is said again. AdminUp takes an earlier word back.
func (m *Monitor) SetState(member string, state trunkgroup.AdminState, author, reason string) (verdict.Knob, error) {
	return m.turn(func(now time.Time) (verdict.Knob, error) {
		who, err := m.ownMember(member)
		if err == nil {
			err = takes(who, state)
		}
		if err != nil {
			return verdict.Knob{}, err
		}
		return m.knobs.Set(now, member, state, author, reason, m.cfg.Node, m.cfg.KnobLife), nil
	})
}

// SetWeight gives a member another weight, as SetState gives it another state. 0 takes an earlier word back.
func (m *Monitor) SetWeight(member string, weight int, author, reason string) (verdict.Knob, error) {
	return m.turn(func(now time.Time) (verdict.Knob, error) {
		who, err := m.ownMember(member)
		switch {
		case err != nil:
			return verdict.Knob{}, err
		case weight < 0 || weight > verdict.MaxWeight:
			return verdict.Knob{}, fmt.Errorf("%w: %d is not from 1 to %d", ErrWeight, weight, verdict.MaxWeight)
		case weight > 0 && !who.Group.Method.Weighs():
			return verdict.Knob{}, fmt.Errorf("%w: group %s distributes by %s, where weights do not count", ErrWeight, who.Group.Name, who.Group.Method)
		}
		return m.knobs.SetWeight(now, member, weight, author, reason, m.cfg.Node, m.cfg.KnobLife), nil
	})
}

// DrainSite takes all members of this node's site out, so that its calls go to the peer sites, or takes that back.
func (m *Monitor) DrainSite(site string, drain bool, author, reason string) (verdict.Knob, error) {
	return m.turn(func(now time.Time) (verdict.Knob, error) {
		if err := m.drainable(now, site, drain); err != nil {
			return verdict.Knob{}, err
		}
		state := trunkgroup.AdminUp
		if drain {
			state = trunkgroup.AdminDraining
		}
		return m.knobs.Set(now, verdict.DrainOf(site), state, author, reason, m.cfg.Node, m.cfg.KnobLife), nil
	})
}

// drainable says why a site cannot be drained. The lock is held.
func (m *Monitor) drainable(now time.Time, site string, drain bool) error {
	if m.table == nil || !slices.Contains(m.table.Sites(), site) {
		return fmt.Errorf("%q: %w", site, ErrNoSite)
	}
	if site != m.cfg.Site {
		return fmt.Errorf("site %s %w", site, ErrOtherSite)
	}
	if !drain {
		return nil
	}
	for _, peer := range m.table.PeerSites(site) {
		if _, drained := m.knobs.Of(now, verdict.DrainOf(peer)); !drained && m.lives(peer) {
			return nil
		}
	}
	return fmt.Errorf("site %s: %w", site, ErrLastSite)
}

// lives reports whether a node of a site is up, as this node sees it. The lock is held.
func (m *Monitor) lives(site string) bool {
	return slices.ContainsFunc(m.nodes, func(n verdict.Node) bool { return n.Site == site })
}

// Renew lets what is in force about a subject hold for another life.
func (m *Monitor) Renew(subject string) (verdict.Knob, error) {
	return m.turn(func(now time.Time) (verdict.Knob, error) {
		member, site, _ := verdict.Subject(subject)
		if site == "" {
			who, err := m.ownMember(member)
			if err != nil {
				return verdict.Knob{}, err
			}
			site = cmp.Or(who.Site, m.cfg.Site)
		}
		if site != m.cfg.Site {
			return verdict.Knob{}, fmt.Errorf("site %s %w", site, ErrOtherSite)
		}
		knob, ok := m.knobs.Renew(now, subject, m.cfg.Node, m.cfg.KnobLife)
		if !ok {
			return verdict.Knob{}, fmt.Errorf("%s: %w", subject, ErrNoKnob)
		}
		return knob, nil
	})
}

// Knobs returns the operators' words that are in force, by subject.
func (m *Monitor) Knobs() []verdict.Knob {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	var list []verdict.Knob
	for _, k := range m.knobs.All() {
		if k.InForce(now) {
			list = append(list, k)
		}
	}
	return list
}

// ownMember finds a member of this node's site. The lock is held.
func (m *Monitor) ownMember(member string) (*trunkgroup.Member, error) {
	if m.table == nil || m.table.Member(member) == nil {
		return nil, fmt.Errorf("%q: %w", member, ErrNoMember)
	}
	who := m.table.Member(member)
	if who.Site != m.cfg.Site && who.Registration == nil {
		return nil, fmt.Errorf("member %s is of site %s, which %w", member, who.Site, ErrOtherSite)
	}
	return who, nil
}

// turn makes an operator's word hold here, spreads it and writes it down.
func (m *Monitor) turn(say func(now time.Time) (verdict.Knob, error)) (verdict.Knob, error) {
	list, err := m.turnAll(func(now time.Time) ([]verdict.Knob, error) {
		knob, err := say(now)
		return []verdict.Knob{knob}, err
	})
	if err != nil {
		return verdict.Knob{}, err
	}
	return list[0], nil
}

// turnAll is turn for many words, with one board for all of them.
func (m *Monitor) turnAll(say func(now time.Time) ([]verdict.Knob, error)) ([]verdict.Knob, error) {
	m.mu.Lock()
	now := time.Now()
	list, err := say(now)
	if err != nil {
		m.mu.Unlock()
		return nil, err
	}
	for _, knob := range list {
		m.tell(now, knob)
	}
	m.unsaved = true
	m.build(now)
	m.mu.Unlock()
	m.saveKnobs()
	return list, nil
}

// tell spreads a word that was said here, and lets the prober act on it. The lock is held.
func (m *Monitor) tell(now time.Time, knob verdict.Knob) {
	m.cfg.Logger.Info("an operator's word", "about", knob.Member, "state", knob.State.String(), "weight", knob.Weight, "author", knob.Author,
		"reason", knob.Reason, "ends", knob.Expires.UTC().Format(time.RFC3339))
	m.tellProber(knob.Member, knob.State)
	m.lift(now, &knob)
	m.cfg.Publish(KnobPrefix+knob.Member, knob.Append(nil, now))
}

// tellProber passes on what is about a member's state, and about the probes of this site. A site that drains is still probed.
func (m *Monitor) tellProber(subject string, state trunkgroup.AdminState) {
	if subject == verdict.PauseOf(m.cfg.Site) {
		m.prober.Pause(state != trunkgroup.AdminUp)
	}
	if member, _, weight := verdict.Subject(subject); member != "" && !weight {
		m.prober.SetAdmin(member, state)
	}
}
