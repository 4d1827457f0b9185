package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/cdrquery"
)

// searchFlags say which calls are looked for, by the names of the API.
type searchFlags struct {
	words    map[string]*string
	from, to string
	answered bool
	limit    int
}

func (f *searchFlags) register(cmd *cobra.Command) {
	f.words = make(map[string]*string)
	for _, w := range []struct{ name, help string }{
		{"call-id", "id of the call, or the SIP Call-ID of any of its legs"},
		{"number", "number of either party; a star at its end asks for all that begin so"},
		{"caller", "number of the caller; the same"},
		{"called", "number that was called; the same"},
		{"customer", "trunk group of the customer"},
		{"carrier", "carrier id or trunk group that the call came from or went to, or was tried in vain"},
		{"cause", "hangup cause: NORMAL_CLEARING, NODE_LOST ... or its number of Q.850"},
		{"code", "final response that the caller got, such as 503, or a class such as 5xx"},
		{"site", "site where the call came in or went out"},
	} {
		value := new(string)
		cmd.Flags().StringVar(value, w.name, "", w.help)
		f.words[strings.ReplaceAll(w.name, "-", "_")] = value
	}
	cmd.Flags().StringVar(&f.from, "from", "", "only calls that began then or later: a time like 2026-11-30T12:00:00Z, or how long ago, like 24h")
	cmd.Flags().StringVar(&f.to, "to", "", "only calls that began before; the same")
	cmd.Flags().BoolVar(&f.answered, "answered", false, "only calls that were answered; --answered=false: that were not")
	cmd.Flags().IntVar(&f.limit, "limit", cdrquery.DefaultLimit, "the latest so many")
}

// query makes the question for the API.
func (f *searchFlags) query(cmd *cobra.Command) (url.Values, error) {
	q := url.Values{"limit": {strconv.Itoa(f.limit)}}
	for name, value := range f.words {
		if *value != "" {
			q.Set(name, *value)
		}
	}
	for name, text := range map[string]string{"from": f.from, "to": f.to} {
		if text == "" {
			continue
		}
		at, err := moments(text)
		if err != nil {
			return nil, err
		}
		q.Set(name, at.UTC().Format(time.RFC3339Nano))
	}
	if cmd.Flags().Changed("answered") {
		q.Set("answered", strconv.FormatBool(f.answered))
	}
	if f.limit < 1 || f.limit > cdrquery.MaxLimit {
		return nil, usage("write 1 to "+strconv.Itoa(cdrquery.MaxLimit), "--limit %d is out of bounds", f.limit)
	}
	return q, nil
}

func (c *cli) cdrSearchCommand() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use: "search", Short: "Find calls in the records of all nodes of all sites",
		Long: `Finds calls by their records: the asked node asks all others. What is given must all hold. Of each call the record
that counts is shown once, whichever node wrote it, the latest call first. CARRIER is who took the call, or was tried
last; VIA is the site that it went out at, when the call was handed to the peer site. A node that did not answer is named: then calls may be missing.`,
		Example: "  tandem cdr search --number +12145550100 --from 24h\n  tandem cdr search --carrier carrier-a --code 5xx --from 2h --limit 1000 -o csv",
		Args:    arguments(), Annotations: map[string]string{moreOutputs: "csv yaml"},
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			query, err := f.query(cmd)
			if err != nil {
				return err
			}
			list, err := c.records(cmd, query)
			if err != nil {
				return err
			}
			calls, err := parseCalls(list)
			if err != nil {
				return err
			}
			switch {
			case list.More:
				fmt.Fprintf(c.err, "note: there are more; --limit shows more, --to earlier ones\n")
			case len(calls) == 0:
				fmt.Fprintln(c.err, "note: no call is found; a record is found about a second after the call's end")
			}
			return c.print(list, func() *table { return callTable(calls) })
		}),
	}
	f.register(cmd)
	return cmd
}

// records asks for call records, and says which nodes are missing in the answer.
func (c *cli) records(cmd *cobra.Command, query url.Values) (list admin.CallRecords, err error) {
	err = c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/cdr?" + query.Encode()}, &list)
	for _, n := range list.Nodes {
		switch {
		case n.Missing != "":
			fmt.Fprintf(c.err, "note: calls of node %s (%s) may be missing: %s\n", n.Name, n.Site, n.Missing)
		case n.Behind > 1<<20:
			fmt.Fprintf(c.err, "note: node %s (%s) still reads %d MB of its records: the latest calls may be missing\n", n.Name, n.Site, n.Behind>>20)
		}
	}
	return list, err
}

// foundCall is a call of an answer, read.
type foundCall struct {
	record   *cdrquery.Row // nil: only the parts of peer sites are known
	handoffs []*cdrquery.Row
}

func parseCalls(list admin.CallRecords) ([]foundCall, error) {
	calls := make([]foundCall, len(list.Calls))
	for i, k := range list.Calls {
		var err error
		if len(k.Record) > 0 {
			if calls[i].record, err = cdrquery.Parse(k.Record); err != nil {
				return nil, fail(exitFailed, "is this program as new as the node?", "the node's answer does not read: %w", err)
			}
		}
		for _, h := range k.Handoffs {
			row, err := cdrquery.Parse(h)
			if err != nil {
				return nil, fail(exitFailed, "is this program as new as the node?", "the node's answer does not read: %w", err)
			}
			calls[i].handoffs = append(calls[i].handoffs, row)
		}
		if calls[i].record == nil && len(calls[i].handoffs) == 0 {
			return nil, fail(exitFailed, "is this program as new as the node?", "the node's answer does not read: %w", errors.New("a call without a record"))
		}
	}
	return calls, nil
}

// shown is the record that a line is about.
func (k *foundCall) shown() *cdrquery.Row {
	if k.record != nil {
		return k.record
	}
	return k.handoffs[0]
}

// note says what is not as in most calls.
func (k *foundCall) note() string {
	switch r := k.shown(); {
	case k.record == nil:
		return "the peer site's part alone"
	case r.Kind == cdr.KindInterim:
		return "still up"
	case r.Closed != "":
		return "closed by a survivor, not final"
	}
	return ""
}

func callTable(calls []foundCall) *table {
	t := &table{head: []string{"START", "CALL", "CALLER", "CALLED", "FROM", "CARRIER", "SITE", "VIA", "CODE", "CAUSE", "BILLSEC", "COST", "TRIES", "NOTE"}}
	for i := range calls {
		k := &calls[i]
		r := k.shown()
		via := ""
		if r.EgressSite != r.Site {
			via = r.EgressSite
		}
		cost := string(r.Cost)
		if cost != "" {
			cost = strings.TrimSpace(cost + " " + r.Currency)
		}
		t.add(r.Start.UTC().Format(cdr.TimeLayout), r.CallID, cmp.Or(r.Caller, r.CallerRaw), cmp.Or(r.Called, r.CalledRaw), r.Ingress,
			cmp.Or(r.CarrierID, r.Egress), r.Site, via, strconv.Itoa(r.Code), r.Cause, strconv.FormatInt(r.Billsec, 10), cost,
			strconv.Itoa(len(r.Attempts)), k.note())
	}
	return t
}
