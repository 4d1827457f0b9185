package main

import (
	"cmp"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// stateFlags are the flags of member set-state.
type stateFlags struct {
	intent
	probe, site string
}

func (c *cli) memberStateCommand() *cobra.Command {
	var f stateFlags
	cmd := &cobra.Command{
		Use: "set-state GROUP/MEMBER|GROUP/all STATE", Short: "Take members out, or back in",
		Long: `Sets what one member does, or with GROUP/all each of a group, or with --all-of-site each of a site:

  active      gets calls as probes allow; takes back what was said before       a, ap
  inactive    gets no calls until it is set to something else                   i
  inactive --probe on
              gets no calls until its probes are good again                     ip
  trying      gets calls, is probed at once, and no failure before counts       t, tp
  draining    gets no new calls, is probed all the same
  disabled    gets no calls and is not probed                                   d, dp

The short words are those of Kamailio's dispatcher.set_state. What is said holds at once, spreads to all
nodes without a leader, and ends after 24 hours unless it is said again. Any node takes it: it is carried
out by a node of the member's own site. For good, write disabled: true into the document.`,
		Example: `  tandem member set-state acme-in/pbx-1 draining --reason 'new firmware'
  tandem member set-state carrier-a/all ip --reason 'wait for their OK'
  tandem member set-state --all-of-site dallas active`,
		Args:              stateArguments,
		ValidArgsFunction: cobra.FixedCompletions(stateWords(), cobra.ShellCompDirectiveNoFileComp),
		RunE:              action(func(cmd *cobra.Command, args []string) error { return c.setState(cmd, &f, args) }),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.probe, "probe", "", "of inactive: on lets good probes end it")
	cmd.Flags().StringVar(&f.site, "all-of-site", "", "all members of this site; with GROUP/all those of the group there")
	return cmd
}

func stateArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && cmd.Flags().Changed("all-of-site") {
		return nil
	}
	return arguments("GROUP/MEMBER", "a state")(cmd, args)
}

// setState sends the order that a command line says.
func (c *cli) setState(cmd *cobra.Command, f *stateFlags, args []string) error {
	state, err := stateOf(args[len(args)-1], f.probe)
	if err != nil {
		return err
	}
	group, member := "", "all"
	if len(args) == 2 {
		var ok bool
		if group, member, ok = strings.Cut(args[0], "/"); !ok || group == "" || member == "" {
			return usage("tandem member list shows them", "%q is not GROUP/MEMBER", args[0])
		}
	}
	author := cmp.Or(f.author, whoami())
	if member == "all" {
		return c.setStates(cmd, admin.BulkOrder{Group: group, Site: f.site, State: state, Author: author, Reason: f.reason})
	}
	if f.site != "" {
		return usage("leave out --all-of-site, or write GROUP/all", "%s is one member, of one site", args[0])
	}
	var knob admin.Knob
	path := "/v1/members/" + url.PathEscape(group) + "/" + url.PathEscape(member) + "/state"
	if err := c.post(cmd, path, admin.Order{State: state, Author: author, Reason: f.reason}, &knob); err != nil {
		return err
	}
	return c.print(knob, func() *table {
		t := &table{head: []string{"MEMBER", "SET TO", "ENDS"}}
		t.add(args[0], knob.State, ends(&knob))
		return t
	})
}

// ends is when a word ends that is not one that takes others back.
func ends(k *admin.Knob) string {
	if k.State == "active" || k.State == "trying" {
		return ""
	}
	return k.Expires.UTC().Format(time.RFC3339)
}

// setStates sets many. It fails when a site has refused, after it has shown what others did.
func (c *cli) setStates(cmd *cobra.Command, o admin.BulkOrder) error {
	var result admin.BulkResult
	if err := c.post(cmd, "/v1/orders/state", o, &result); err != nil {
		return err
	}
	err := c.print(result, func() *table {
		t := &table{head: []string{"SITE", "MEMBERS", "SET TO", "WHY NOT"}}
		for _, s := range result.Sites {
			to := o.State
			if s.Error != "" {
				to = ""
			}
			t.add(s.Site, strconv.Itoa(s.Members), to, s.Error)
		}
		return t
	})
	for _, s := range result.Sites {
		if s.Error != "" {
			err = errors.Join(err, fail(exitFailed, "what is set stays so; say it again when the cause is gone", "site %s: %s", s.Site, s.Error))
		}
	}
	return err
}
