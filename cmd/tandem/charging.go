package main

import (
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) chargingCommand() *cobra.Command {
	return group("charging", "Charging servers", c.chargingStatusCommand())
}

func (c *cli) chargingStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show charging servers, and what they have yet to be told", Args: arguments(),
		Long: `Shows the Diameter servers of the asked node in the order in which it asks them: whether each is well, since when,
why not, and what was sent and answered; and below them the calls that are charged now, those that were refused or ended for
credit since the process began, and the records that servers have yet to be told.`,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var s admin.ChargingStatus
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/charging"}, &s); err != nil {
				return err
			}
			return c.print(s, func() *table { return chargingTable(&s) })
		}),
	}
}

func chargingTable(s *admin.ChargingStatus) *table {
	t := &table{head: []string{"WHAT", "STATE", "SINCE", "SENT", "ANSWERS", "LOST", "PENDING", "DETAIL"}}
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	for i := range s.Peers {
		p := &s.Peers[i]
		detail := p.Address
		if p.Host != "" {
			detail += " " + p.Host
		}
		if p.Fault != "" {
			detail += ": " + p.Fault
		}
		t.add("peer "+p.Name, p.State, moment(&p.Since), number(p.Sent), number(p.Answers), number(p.Lost), strconv.Itoa(p.Pending), detail)
	}
	count := func(what, n, detail string) { t.add(what, n, "", "", "", "", "", detail) }
	count("calls online", strconv.Itoa(s.Online), number(s.Uncontrolled)+" went on without control")
	count("calls offline", strconv.Itoa(s.Offline), "")
	count("calls refused", number(s.Refused), number(s.Ended)+" ended while they were up")
	count("records kept", strconv.Itoa(s.Kept), number(s.Dropped)+" lost, "+number(s.Rejected)+" not accepted")
	if s.Disk != "" {
		count("disk", "failing", s.Disk)
	}
	return t
}
