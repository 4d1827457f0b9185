package main

import (
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) cdrSinksCommand() *cobra.Command {
	return &cobra.Command{
		Use: "sinks", Short: "Show how call records are passed on", Args: arguments(),
		Long: `Shows the spool of the asked node, which every call record is written to, and its sinks: NEXT is the number of the
first record that the other side has not, WAITING how many wait, OLDEST when the call of the first of them ended. GAPS are
numbers missing in the spool: records that were lost before they reached the disk, or files that somebody took away. A sink
that fails tries again by itself, with up to a minute between the tries, and nothing that it lacks is removed.`,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var list admin.SinkList
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/cdr/sinks"}, &list); err != nil {
				return err
			}
			return c.print(list, func() *table { return sinkTable(&list) })
		}),
	}
}

func sinkTable(list *admin.SinkList) *table {
	t := &table{head: []string{"SINK", "TO", "STATE", "NEXT", "SENT", "WAITING", "OLDEST", "ERRORS", "GAPS", "WHY"}}
	s := &list.Spool
	state := "works"
	if s.Failing {
		state = "fails since " + moment(s.Since)
	}
	t.add("(spool)", s.Path, state, number(s.Last+1), number(s.Last), strconv.FormatInt(s.Backlog, 10), "-", "-", number(s.Lost), s.Reason)
	for i := range list.Sinks {
		s := &list.Sinks[i]
		state := "works"
		if s.Failing {
			state = "fails since " + moment(s.Since)
		}
		t.add(s.Name, s.Target, state, number(s.Next), number(s.Sent), number(s.Backlog), moment(s.Oldest), number(s.Errors), number(s.Gaps), s.Reason)
	}
	return t
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }
