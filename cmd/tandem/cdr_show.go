package main

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/monitor/cdrquery"
)

func (c *cli) cdrShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show CALL-ID", Short: "Show everything that is known of a call, from all nodes of all sites",
		Long: `Shows a call by its id, or by the SIP Call-ID of any of its legs: every field of the record that counts, every
attempt in both sites, and the record of the peer site's part, which is never billed.`,
		Example: "  tandem cdr show 01HQ2M3N4P5Q6R7S8T9V0W1X2Y\n  tandem cdr show 843817637684230@carrier.example.net -o yaml",
		Args:    arguments("CALL-ID"), Annotations: map[string]string{moreOutputs: "csv yaml"},
		RunE: action(func(cmd *cobra.Command, args []string) error {
			list, err := c.records(cmd, url.Values{"call_id": {args[0]}})
			if err != nil {
				return err
			}
			calls, err := parseCalls(list)
			if err != nil {
				return err
			}
			if len(calls) == 0 {
				hint := "a call has a record when it has ended; tandem call list shows those that are up"
				if !list.Complete {
					hint = "not every node answered: ask again later"
				}
				return fail(exitNotFound, hint, "no record of a call %s", args[0])
			}
			if c.output != "table" {
				return c.print(list, func() *table { return callTable(calls) })
			}
			for i := range calls {
				if err := c.showCall(&calls[i]); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

// showCall writes the records of a call one below the other.
func (c *cli) showCall(k *foundCall) error {
	rows := k.handoffs
	if k.record != nil {
		rows = append([]*cdrquery.Row{k.record}, rows...)
	}
	for _, r := range rows {
		title := "CALL " + r.CallID
		if r.Kind == cdr.KindHandoff {
			title = "PART OF SITE " + strings.ToUpper(r.Site)
		}
		t := &table{head: []string{title, ""}}
		if err := fieldsOf(t, r.Raw); err != nil {
			return err
		}
		if err := t.write(c.out); err != nil {
			return err
		}
		if err := c.breakLine(); err != nil {
			return err
		}
		if len(r.Attempts) == 0 {
			continue
		}
		if err := attemptTable(r).write(c.out); err != nil {
			return err
		}
		if err := c.breakLine(); err != nil {
			return err
		}
	}
	return nil
}

func (c *cli) breakLine() error {
	_, err := c.out.Write([]byte{'\n'})
	return err
}

// fieldsOf adds every field of a record in its order; what is a list or an object besides
// the attempts stays as JSON.
func fieldsOf(t *table, raw []byte) error {
	in := json.NewDecoder(strings.NewReader(string(raw)))
	if _, err := in.Token(); err != nil {
		return err
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return err
		}
		name, _ := key.(string)
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		if name != "attempts" && name != "schema_version" {
			t.add(name, text)
		}
	}
	return nil
}

func attemptTable(r *cdrquery.Row) *table {
	t := &table{head: []string{"ATTEMPT", "SITE", "CARRIER", "GROUP", "MEMBER", "DIALED", "CODE", "CAUSE", "MS", "LEG"}}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		dialed := "no"
		if a.Dialed {
			dialed = "yes"
		}
		member := a.Member
		if a.Address != "" {
			member += " " + a.Address
		}
		t.add(strconv.Itoa(a.N), a.Site, a.CarrierID, a.Group, member, dialed, strconv.Itoa(a.Code), a.Cause,
			strconv.FormatInt(a.ElapsedMS, 10), a.EgressCallID)
	}
	return t
}
