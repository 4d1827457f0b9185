package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) memberCommand() *cobra.Command {
	return group("member", "Members of trunk groups", c.memberListCommand(), c.memberStateCommand(), c.memberWeightCommand(), c.memberAddCommand(), c.memberRemoveCommand())
}

// memberLine is a member with the name that the other commands take.
type memberLine struct {
	Key string `json:"member"`
	admin.Member
}

// moment formats a time that may be unknown.
func moment(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
