package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) memberListCommand() *cobra.Command {
	var wide bool
	cmd := &cobra.Command{
		Use: "list [GROUP|GROUP/ID...]", Short: "Show members, their states, since when and why",
		Long: `Shows the members of the groups named, or those named, or all, as the asked node believes them to be. PROBED says
how old the last probe is and which node sent it: one that is lost leaves old news. FLAPS is how often a member stopped getting
calls within the last hour, CALLS how many the asked node has up or is setting up there, and those of all nodes. --wide shows
the last result and the last good one, what probes take, weights, shares and directions too; -o json shows everything.`,
		Example: "  tandem member list acme-in --wide",
		RunE: action(func(cmd *cobra.Command, groups []string) error {
			return c.listMembers(cmd.Context(), groups, wide)
		}),
	}
	cmd.Flags().BoolVar(&wide, "wide", false, "show all columns")
	return cmd
}

// listMembers shows the members of groups, or those that are named.
func (c *cli) listMembers(ctx context.Context, groups []string, wide bool) error {
	var list admin.MemberList
	if err := c.ask(ctx, request{method: http.MethodGet, path: "/v1/members"}, &list); err != nil {
		return err
	}
	lines := []memberLine{}
	for _, m := range list.Members {
		if len(groups) == 0 || slices.Contains(groups, m.Group) || slices.Contains(groups, m.Group+"/"+m.ID) {
			lines = append(lines, memberLine{m.Group + "/" + m.ID, m})
		}
	}
	if len(lines) == 0 && len(groups) > 0 {
		return fail(exitNotFound, "tandem member list shows all", "no member in %s", strings.Join(groups, ", "))
	}
	for _, name := range groups {
		if !slices.ContainsFunc(lines, func(m memberLine) bool { return name == m.Group || name == m.Key }) {
			fmt.Fprintf(c.err, "note: no member in %s\n", name)
		}
	}
	c.memberNotes(&list)
	return c.print(lines, func() *table { return memberTable(lines, wide) })
}

// memberNotes says what holds for many members at once.
func (c *cli) memberNotes(list *admin.MemberList) {
	if list.Isolated {
		fmt.Fprintln(c.err, "note: this node believes to have lost the network; its verdicts are old")
	}
	for _, p := range list.Paused {
		fmt.Fprintf(c.err, "note: the probes of %s are paused by %s since %s until %s: %s; states stand still\n", p.Site, cmp.Or(p.Author, "unknown"),
			p.Since.UTC().Format(time.RFC3339), p.Until.UTC().Format(time.RFC3339), cmp.Or(p.Reason, "no reason given"))
	}
	for _, site := range list.Panic {
		fmt.Fprintf(c.err, "note: nearly all members of %s went down at once; calls are tried whatever probes say\n", site)
	}
}

func memberTable(lines []memberLine, wide bool) *table {
	t := &table{head: []string{"MEMBER", "SITE", "STATE", "SINCE", "ADDRESS", "RTT", "PROBED", "FLAPS", "CALLS", "REASON"}}
	if wide {
		t.head = slices.Insert(t.head, 9, "LAST RESULT", "LAST GOOD", "LATENCY", "TIMEOUTS", "WEIGHT", "SHARE", "DIRECTION")
	}
	for i := range lines {
		m := &lines[i]
		row := []string{m.Key, m.Site, m.State, moment(m.Since), m.farEnd(), m.rtt(), m.probed(), strconv.Itoa(m.Flaps), m.callsAt()}
		if wide {
			row = append(row, m.result(), ago(m.LastGood), m.latency(), m.timeouts(), m.weight(), m.share(), m.Direction)
		}
		t.add(append(row, m.why())...)
	}
	return t
}

// farEnd is where a member is reached.
func (m *memberLine) farEnd() string {
	return strings.TrimPrefix(m.Transport+":"+cmp.Or(m.FQDN, m.AOR, m.Address), ":")
}

func (m *memberLine) rtt() string {
	for i := range m.Targets {
		if d := m.Targets[i].RTTMillis; d > 0 {
			return fmt.Sprintf("%.1f ms", d)
		}
	}
	return ""
}

func (m *memberLine) probed() string {
	for i := range m.Targets {
		if t := &m.Targets[i]; t.LastProbe != nil {
			return ago(t.LastProbe) + " by " + t.Observer
		}
	}
	return ""
}

// result is what came of the last probe.
func (m *memberLine) result() string {
	for i := range m.Targets {
		switch t := &m.Targets[i]; {
		case t.LastProbe == nil:
		case t.Code > 0:
			return strconv.Itoa(t.Code)
		default:
			return t.Result
		}
	}
	return ""
}

func ago(t *time.Time) string {
	if t == nil {
		return ""
	}
	return time.Since(*t).Round(time.Second).String() + " ago"
}

// latency is the estimate, how far replies are from their average, and the longest.
func (m *memberLine) latency() string {
	for i := range m.Targets {
		if l := m.Targets[i].Latency; l != nil && l.Replies > 0 {
			return fmt.Sprintf("%.1f ±%.1f max %.1f ms", l.EstimateMillis, l.DeviationMillis, l.MaxMillis)
		}
	}
	return ""
}

func (m *memberLine) timeouts() string {
	n := uint64(0)
	for i := range m.Targets {
		if l := m.Targets[i].Latency; l != nil {
			n += l.Timeouts
		}
	}
	return strconv.FormatUint(n, 10)
}

// callsAt are those of the asked node, and of all nodes where others have some.
func (m *memberLine) callsAt() string {
	if m.ClusterCalls > m.Calls {
		return fmt.Sprintf("%d of %d", m.Calls, m.ClusterCalls)
	}
	return strconv.Itoa(m.Calls)
}

func (m *memberLine) weight() string {
	if m.WeightKnob != nil {
		return fmt.Sprintf("%d (by %s)", m.Weight, cmp.Or(m.WeightKnob.Author, "unknown"))
	}
	return strconv.Itoa(m.Weight)
}

func (m *memberLine) share() string { return strconv.Itoa(m.Share) + " %" }

// why says the reason of a state, and of an operator's who and until when.
func (m *memberLine) why() string {
	k := m.Knob
	if k == nil || k.State == "active" {
		return m.Reason
	}
	reason := cmp.Or(k.Reason, m.Reason)
	if k.State == "inactive" {
		reason = strings.TrimPrefix(m.Reason, "by an operator, ") // it says what ends it
	}
	return fmt.Sprintf("%s (by %s, since %s, ends %s)", reason, cmp.Or(k.Author, "unknown"),
		k.Set.UTC().Format(time.RFC3339), k.Expires.UTC().Format(time.RFC3339))
}
