package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// rulesTable says under which rules the attempts are made.
func rulesTable(e *admin.Explanation) *table {
	t := &table{head: []string{"GROUP", "RULE"}}
	for i := range e.Groups {
		g := &e.Groups[i]
		t.add(g.Name, methodOf(g))
		attempts := "all members"
		if g.MaxAttempts > 0 {
			attempts = fmt.Sprintf("%d attempts", g.MaxAttempts)
		}
		t.add("", attempts+within("b_timer", g.BTimer)+within("progress", g.Progress)+within("setup", g.Setup))
		causes := "the next one on " + codes(g.AdvanceOn)
		if len(g.NeverAdvance) > 0 {
			causes += ", never on " + codes(g.NeverAdvance)
		}
		t.add("", causes)
		if q := g.Quality; q != nil {
			t.add("", qualityOf(q))
		}
	}
	if p := e.Policy; p != nil {
		t.add(p.Group, "whole call: ring "+cmp.Or(p.Ring, "off")+within("max_pdd", cmp.Or(p.MaxPDD, "off"))+within("max_duration", p.MaxDuration))
		if len(e.Sites) > 0 {
			t.add("", "hand-off on "+codes(p.HandoffOn)+", silence, or nobody to dial; reserve "+cmp.Or(p.HandoffReserve, "a third of max_pdd"))
		}
	}
	return t
}

func methodOf(g *trunkgroup.GroupLine) string {
	text := g.Method
	if g.Key != "" {
		text += " of " + g.Key
		if g.KeyHash == 0 {
			text += ", which the call does not have: turns"
		}
	}
	text += fmt.Sprintf(", turn %d", g.Turn)
	if g.SlowStart != "" {
		text += ", slow start " + g.SlowStart
	}
	if g.Affinity != "" {
		text += ", calls of one " + g.Affinity + " together"
	}
	return text
}

func qualityOf(q *trunkgroup.QualityLine) string {
	var floors []string
	if q.MinAnswerRatio > 0 {
		floors = append(floors, fmt.Sprintf("at least %d %% answered", q.MinAnswerRatio))
	}
	if q.MaxShortCalls > 0 {
		floors = append(floors, fmt.Sprintf("at most %d %% short", q.MaxShortCalls))
	}
	return fmt.Sprintf("quality: %s of %d or more in %s, else out for %s", strings.Join(floors, ", "), q.MinSamples, q.Window, q.Cooldown)
}

func within(name, value string) string {
	if value == "" {
		return ""
	}
	return ", " + name + " " + value
}

func codes(list []int) string {
	if len(list) == 0 {
		return "no code"
	}
	return strings.Trim(fmt.Sprint(list), "[]")
}

// sitesTable says what other sites have for the call.
func sitesTable(sites []trunkgroup.SitePlan) *table {
	t := &table{head: []string{"OTHER SITE", "HAND-OFF", "TO DIAL", "NODES ASKED"}}
	for i := range sites {
		p := &sites[i]
		handoff := "no"
		if p.Handoff {
			handoff = "yes"
		}
		var nodes []string
		for _, n := range p.Nodes {
			name := n.Name
			if n.Why != "" {
				name += " (" + n.Why + ")"
			}
			nodes = append(nodes, name)
		}
		t.add(p.Site, handoff, fmt.Sprintf("%d of %d", p.Dialable, len(p.Order)), strings.Join(nodes, ", "))
	}
	return t
}

func limitsTable(limits []trunkgroup.LimitLine) *table {
	t := &table{head: []string{"LIMIT", "KIND", "IN USE", "OF", "HERE", "SHARE HERE", "NOTE"}}
	for _, l := range limits {
		t.add(l.Scope+" "+l.Name, l.Kind, fmt.Sprint(l.Cluster), fmt.Sprint(l.Max), fmt.Sprint(l.Node), fmt.Sprint(l.Share), l.Note)
	}
	return t
}

// endingsTable says what the caller gets when all fail.
func endingsTable(endings []trunkgroup.Ending) *table {
	t := &table{head: []string{"WHEN", "CALLER GETS", "CAUSE", "AFTER", "DIALLED HERE", "HANDED OFF"}}
	for _, e := range endings {
		handed := "no"
		if e.HandedOff {
			handed = "yes"
		}
		t.add(e.When, fmt.Sprint(e.Code), e.Cause, fmt.Sprintf("%.1f s", e.After), fmt.Sprint(e.Dialled), handed)
	}
	return t
}
