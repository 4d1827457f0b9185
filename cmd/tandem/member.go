package main

import (
	"cmp"
	"encoding/json"
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
