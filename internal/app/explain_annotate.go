package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/guard"
	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func (x *exploring) say(name, format string, args ...any) {
	x.Steps = append(x.Steps, trunkgroup.Step{Name: name, Text: fmt.Sprintf(format, args...)})
}

// annotate adds what the table and the view do not hold: what stands before the
// parser, which bound of the caller's customer is passed, why members are in their
// states, whom a hand-off would ask, and what the caller hears when nobody answers.
func (x *exploring) annotate() {
	x.drains()
	x.filter()
	x.d.bounds(&x.Explanation, x.Course.Table, x.q.Username != "")
	x.why(x.Explanation.Order)
	for i := range x.Sites {
		x.why(x.Sites[i].Order)
	}
	x.handoff()
	x.endings()
}

// filter says what becomes of the message before anybody reads it.
func (x *exploring) filter() {
	source := x.query.Source.Source
	if !source.IsValid() || x.query.Site != x.d.app.cfg.Site {
		return
	}
	listener := x.listener()
	if listener < 0 {
		return
	}
	s := x.d.app.doors.guard.Look(time.Now(), listener, source.Addr())
	text := fmt.Sprintf("%s is %s", source.Addr(), map[string]string{
		"trusted": "a far end of a trunk group, or on the allow list", "known": "known by a registration or a digest user", "stranger": "a stranger, until it is identified",
	}[s.Kind])
	switch {
	case s.Dropped && s.Cause == guard.CauseACL:
		text = fmt.Sprintf("the access list of the listener drops all of %s unread", source.Addr())
	case s.Dropped && s.Cause == guard.CauseBan:
		text = fmt.Sprintf("%s is banned until %s by %s: %s; its messages are dropped unread; lift it with: tandem ban remove %s",
			s.Ban.Prefix, s.Ban.Until.UTC().Format(time.RFC3339), orUnknown(s.Ban.By), s.Ban.Reason, s.Ban.Prefix)
	case s.Dropped:
		text += ", and sends too much: its messages are dropped unread until its bucket fills again"
	case s.Burst > 0:
		text += fmt.Sprintf("; its bucket has room for %d of %d messages at once", s.Left, s.Burst)
	}
	x.Steps = slices.Insert(x.Steps, 0, trunkgroup.Step{Name: "filter", Text: text})
}

// listener is the one that would receive the call; -1 for none.
func (x *exploring) listener() int {
	k := &x.query.Source
	for i, l := range x.d.app.cfg.Listeners {
		if l.Transport == k.Transport.String() && (!k.Local.IsValid() || b2bua.BoundAt(x.d.app.server.Addr(i), k.Local)) {
			return i
		}
	}
	return -1
}

// why says of members why they are in their states, and since when.
func (x *exploring) why(order []trunkgroup.OrderLine) {
	for i := range order {
		line := &order[i]
		m := x.board.Table.Member(line.Group + "/" + line.Member)
		if m == nil {
			continue
		}
		s := &x.board.Members[m.Index]
		if s.State.String() == line.State { // else it is assumed
			line.Reason, line.Since, line.Until = s.Reason, when(s.Since), when(s.Until)
		}
		if !line.Dialable {
			line.Why = x.reason(line, m, s)
		}
	}
}

// reason words why a member is not dialled.
func (x *exploring) reason(line *trunkgroup.OrderLine, m *trunkgroup.Member, s *verdict.Status) string {
	if m.Registration != nil {
		if why := x.d.app.regs.why(m.Registration.AOR, line.Contact, line.Cause); why != "" {
			return why
		}
	}
	for _, a := range x.Assumed {
		if strings.HasPrefix(a, m.Key+"=") {
			return "assumed"
		}
	}
	why := s.Reason
	if !s.Since.IsZero() {
		why += ", since " + s.Since.UTC().Format(time.RFC3339)
	}
	return why
}

// handoff says which nodes of other sites would be asked, in their order.
func (x *exploring) handoff() {
	if x.query.Site != x.d.app.cfg.Site {
		return // whom the nodes of another site reach is for them to say
	}
	for i := range x.Sites {
		plan := &x.Sites[i]
		reached := false
		for _, n := range geo.Nodes(x.d.app.server.Takers(), []string{plan.Site}) {
			line := trunkgroup.NodeLine{Name: n.Name, Up: n.Fresh && x.asks(plan.Site)}
			switch {
			case slices.Contains(x.down, plan.Site):
				line.Why = "assumed"
			case !n.Fresh:
				line.Why = "not heard of"
			case n.Draining:
				line.Why = "draining: asked after the others"
			}
			reached = reached || line.Up
			plan.Nodes = append(plan.Nodes, line)
		}
		if plan.Handoff && !reached {
			x.say("hand-off", "no node of %s can be reached: a hand-off would fail", plan.Site)
		}
	}
}

// endings says what the caller gets when all far ends do the same: the real sequence
// engine is asked.
func (x *exploring) endings() {
	if x.Decision.Groups == nil || x.Code != 0 {
		return
	}
	cfg := b2bua.HuntConfig(&x.Decision, &x.Course, x.Order, x.PeerFirst != "")
	silent := hunt.HandoffResult{Accepted: x.reaches()}
	busy := hunt.HandoffResult{Accepted: x.reaches()}
	if silent.Accepted {
		silent.Attempts = []hunt.Attempt{{Code: 408, Dialed: true, Cause: hunt.CauseNoResponse}}
		busy.Attempts = []hunt.Attempt{{Code: 503, Dialed: true, Final: true}}
	}
	x.ending("nobody says a word", cfg, 0, silent)
	x.ending("all say 503", cfg, 503, busy)
	x.ending("the first is busy (486)", cfg, 486, busy)
	none := cfg
	none.Targets = slices.Clone(cfg.Targets)
	for i := range none.Targets {
		none.Targets[i].Dialable = false
	}
	x.ending("nobody can be dialled", none, 503, hunt.HandoffResult{})
	e := &x.Endings[0]
	if e.HandedOff {
		x.say("answer", "when nobody says a word, at the other site neither, the caller gets %d; this site takes %.1f s of it", e.Code, e.After)
		return
	}
	x.say("answer", "when nobody says a word the caller gets %d after %.1f s", e.Code, e.After)
}

// reaches tells whether a hand-off finds a node.
func (x *exploring) reaches() bool {
	return slices.ContainsFunc(x.Sites, func(p trunkgroup.SitePlan) bool { return p.Handoff && x.asks(p.Site) })
}

func (x *exploring) ending(when string, cfg hunt.Config, code int, peer hunt.HandoffResult) {
	r := b2bua.Rehearse(cfg, code, peer)
	e := trunkgroup.Ending{When: when, Code: r.Code, Cause: r.Cause, Own: !r.Forwarded, HandedOff: r.HandedOff, After: r.After.Seconds()}
	here := len(r.Attempts)
	if r.HandedOff && len(peer.Attempts) > 0 {
		here -= len(peer.Attempts)
	}
	for i := range r.Attempts[:max(here, 0)] {
		if r.Attempts[i].Dialed {
			e.Dialled++
		}
	}
	x.Endings = append(x.Endings, e)
}

// limits says what the call counts against, and how full that is.
func (x *exploring) limits(ctx context.Context) {
	if x.Policy == nil {
		return
	}
	wait, cancel := context.WithTimeout(ctx, limitPatience)
	defer cancel()
	list, err := x.d.Limits(wait)
	if err != nil {
		x.say("limit", "how full the limits are is not known now: %v", err)
		return
	}
	uses := x.counts()
	for _, l := range list.Limits {
		if l.Max == 0 || !slices.Contains(uses, l.Scope+" "+l.Name) {
			continue
		}
		x.Limits = append(x.Limits, trunkgroup.LimitLine{
			Scope: l.Scope, Name: l.Name, Kind: l.Kind, Max: l.Max, Node: l.Used, Share: l.Share, Cluster: l.Cluster, Note: l.Note,
		})
		if l.Cluster >= l.Max {
			x.say("limit", "%s %s is full: %d of %d %s in use", l.Scope, l.Name, l.Cluster, l.Max, l.Kind)
		}
	}
}

// counts lists what the call and its attempts count against, by scope and name.
func (x *exploring) counts() []string {
	uses := []string{"customer " + x.Policy.Customer, "group " + x.Policy.Group, "group " + x.Ingress}
	for i := range x.Explanation.Order {
		o := &x.Explanation.Order[i]
		uses = append(uses, "member "+o.Group+"/"+o.Member)
		if x.Direction == trunkgroup.Outbound || o.Within != "" {
			uses = append(uses, "group "+o.Group, "group "+o.Within)
		}
	}
	return uses
}
