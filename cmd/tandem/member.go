package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) memberCommand() *cobra.Command {
	return group("member", "Members of trunk groups", c.memberListCommand(), c.memberStateCommand(), c.memberWeightCommand())
}

// memberLine is a member with the name that the other commands take.
type memberLine struct {
	Key string `json:"member"`
	admin.Member
}

func (c *cli) memberListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list [GROUP|GROUP/ID...]", Short: "Show members, their states, since when and why",
		Long: `Shows the members of the groups named, or those named, or all, as the asked node believes them to be. PROBED says
how old the last probe is and which node sent it: one that is lost leaves old news.`,
		RunE: action(func(cmd *cobra.Command, groups []string) error {
			var list admin.MemberList
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/members"}, &list); err != nil {
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
			if list.Isolated {
				fmt.Fprintln(c.err, "note: this node believes to have lost the network; its verdicts are old")
			}
			for _, site := range list.Panic {
				fmt.Fprintf(c.err, "note: nearly all members of %s went down at once; calls are tried whatever probes say\n", site)
			}
			return c.print(lines, func() *table { return memberTable(lines) })
		}),
	}
}

func memberTable(lines []memberLine) *table {
	t := &table{head: []string{"MEMBER", "SITE", "STATE", "SINCE", "ADDRESS", "RTT", "PROBED", "REASON"}}
	for _, m := range lines {
		address, rtt, probed := m.Address, "", ""
		switch {
		case m.FQDN != "":
			address = m.FQDN
		case m.AOR != "":
			address = m.AOR
		}
		for _, target := range m.Targets {
			if target.RTTMillis > 0 && rtt == "" {
				rtt = fmt.Sprintf("%.1f ms", target.RTTMillis)
			}
			if target.LastProbe != nil && probed == "" {
				probed = fmt.Sprintf("%s ago by %s", time.Since(*target.LastProbe).Round(time.Second), target.Observer)
			}
		}
		reason := m.Reason
		if m.Knob != nil && m.Knob.State != "active" {
			reason = fmt.Sprintf("%s (by %s, since %s, ends %s)", cmp.Or(m.Knob.Reason, reason), cmp.Or(m.Knob.Author, "unknown"),
				m.Knob.Set.UTC().Format(time.RFC3339), m.Knob.Expires.UTC().Format(time.RFC3339))
		}
		t.add(m.Key, m.Site, m.State, moment(m.Since), strings.TrimPrefix(m.Transport+":"+address, ":"), rtt, probed, reason)
	}
	return t
}

func (c *cli) memberStateCommand() *cobra.Command {
	var reason, author string
	cmd := &cobra.Command{
		Use: "set-state GROUP/MEMBER active|draining|disabled", Short: "Take a member out, or back in",
		Long: `A member that is draining gets no new calls and is still probed; one that is disabled is not probed
either; active takes that back. It holds at once, spreads to all nodes without a leader, and ends
after 24 hours unless it is said again. Only nodes of the member's own site do it. For good, write
disabled: true into the document.`,
		Example:   "  tandem member set-state acme-in/pbx-1 draining --reason 'new firmware'",
		Args:      arguments("GROUP/MEMBER", "a state"),
		ValidArgs: []string{"active", "draining", "disabled"},
		RunE: action(func(cmd *cobra.Command, args []string) error {
			group, member, ok := strings.Cut(args[0], "/")
			if !ok || group == "" || member == "" {
				return usage("tandem member list shows them", "%q is not GROUP/MEMBER", args[0])
			}
			if !slices.Contains(cmd.ValidArgs, args[1]) {
				return usage("write active, draining or disabled", "%q is not a state", args[1])
			}
			body, err := json.Marshal(admin.Order{State: args[1], Author: cmp.Or(author, whoami()), Reason: reason})
			if err != nil {
				return err
			}
			var knob admin.Knob
			path := "/v1/members/" + url.PathEscape(group) + "/" + url.PathEscape(member) + "/state"
			if err := c.ask(cmd.Context(), request{method: http.MethodPost, path: path, contentType: "application/json", body: body}, &knob); err != nil {
				return err
			}
			return c.print(knob, func() *table {
				t := &table{head: []string{"MEMBER", "SET TO", "ENDS"}}
				ends := ""
				if knob.State != "active" {
					ends = knob.Expires.UTC().Format(time.RFC3339)
				}
				t.add(args[0], knob.State, ends)
				return t
			})
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; others see it in member list")
	cmd.Flags().StringVar(&author, "author", "", "who; the user of this process unless given")
	return cmd
}

// moment formats a time that may be unknown.
func moment(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
