package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// rates is the rate decks of a node with fixed answers. It keeps what it was asked.
type rates struct {
	imp    admin.DeckImport
	list   string
	ask    admin.DeckQuestion
	remove admin.DeckRemoval
}

var costDeck = admin.DeckHead{Name: "cost", Kind: "cost", Currency: "USD", Rows: 3, Edition: 7, Author: "ann", Reason: "rates", At: noon, Plans: []string{"wholesale"}}

func (r *rates) Decks(context.Context) (admin.DeckList, error) {
	return admin.DeckList{
		Generation: 1, Edition: 7, Decks: []admin.DeckHead{costDeck}, Uploads: []admin.DeckUpload{{Deck: "retail", Author: "bob", Reason: "prices", Since: noon, Octets: 9, Have: 4}},
		Faults: []admin.DeckFault{{Plan: "wholesale", Why: `there is no rate deck "retail"`}},
	}, nil
}

func (r *rates) ShowDeck(_ context.Context, name string) (admin.DeckInfo, error) {
	if name != "cost" {
		return admin.DeckInfo{}, fmt.Errorf("%w: there is no rate deck %q", admin.ErrNotFound, name)
	}
	return admin.DeckInfo{DeckHead: costDeck, Prefixes: 2, Carriers: []admin.DeckCarrier{{Carrier: "a", Rows: 3, Blocked: 1}}, Unknown: []string{"gone"}}, nil
}

func (r *rates) QuoteDeck(_ context.Context, q admin.DeckQuestion) (admin.DeckQuote, error) {
	r.ask = q
	if q.Number == "+33" {
		return admin.DeckQuote{Number: q.Number, Why: "deck cost has no row for the number that is in effect", Carriers: []admin.DeckPrice{}}, nil
	}
	asr := 51.0
	return admin.DeckQuote{
		Number: q.Number, Routes: 1, Until: &noon, Sold: &admin.DeckPrice{Prefix: "1", Rate: "0.02"},
		Carriers: []admin.DeckPrice{
			{Carrier: "a", Group: "carrier-a", Prefix: "1214", Rate: "0.01", Increment: 6, MinDuration: 30, ASR: &asr, Margin: "0.01 (50.0%)"},
			{Carrier: "b", Group: "carrier-b", Prefix: "1", Rate: "block", LeftOut: "the carrier takes no calls there", Next: []admin.DeckNext{{Prefix: "1", Rate: "0.005", From: noon}}},
		},
	}, nil
}

func (r *rates) DeckHistory(context.Context) (admin.DeckHistory, error) {
	return admin.DeckHistory{Changes: []admin.DeckRecord{{Generation: 1, Edition: 7, Deck: "cost", Author: "ann", Reason: "rates", At: noon, Rows: 3}}}, nil
}

func (r *rates) ImportDeck(_ context.Context, list io.Reader, i admin.DeckImport) (admin.DeckApplied, error) {
	text, err := io.ReadAll(list)
	if r.list, r.imp = string(text), i; err != nil {
		return admin.DeckApplied{}, err
	}
	if strings.Contains(r.list, "12x") {
		return admin.DeckApplied{}, trunkgroup.Faults{{Line: 2, Problem: `"12x" is no prefix`, Remedy: "write digits"}}
	}
	return admin.DeckApplied{Generation: 1, Edition: 8, Deck: i.Name, Rows: 4, Before: 3, DryRun: i.DryRun, Notes: []string{"no route plan goes by this deck"}, Millis: 12}, nil
}

func (r *rates) ExportDeck(_ context.Context, w io.Writer, name string) error {
	if name != "cost" {
		return fmt.Errorf("%w: there is no rate deck %q", admin.ErrNotFound, name)
	}
	_, err := io.WriteString(w, "prefix,rate\n1,0.02\n")
	return err
}

func (r *rates) RemoveDeck(_ context.Context, d admin.DeckRemoval) (admin.DeckApplied, error) {
	if r.remove = d; !d.Force {
		return admin.DeckApplied{}, fmt.Errorf("%w: route plans go by it", admin.ErrRefused)
	}
	return admin.DeckApplied{Generation: 1, Edition: 9, Deck: d.Name, Before: 3, Millis: 3}, nil
}

func TestDeck(t *testing.T) {
	b := &rates{}
	address := serveBackend(t, "", admin.Backend{Decks: b})
	dir := t.TempDir()
	for name, text := range map[string]string{"good": "prefix,rate\n1,1\n", "bad": "prefix,rate\n12x,1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	for _, c := range []struct {
		args      string
		code      int
		out, errs string
	}{
		{"deck list", exitOK, "DECK  KIND  ROWS  CURRENCY  EDITION  AT                    AUTHOR  PLANS      REASON\n" +
			"cost  cost  3     USD       7        2026-11-30T12:00:00Z  ann     wholesale  rates\n", `fault: plan wholesale: there is no rate deck "retail"`},
		{"deck show cost", exitOK, "CARRIER  ROWS  BLOCKED  LATER  OVER\na        3     1        0      0\n", "no pstn-provider group gone"},
		{"deck show gone", exitNotFound, "", "no rate deck"},
		{"deck quote +1214 --plan wholesale --at 2026-12-01T06:00:00+06:00", exitOK, "#     CARRIER  GROUP      PREFIX  RATE   BILLED  ASR  MARGIN        LEFT OUT\n" +
			"sold  -        -          1       0.02   0/0     -    -             -\n" +
			"1     a        carrier-a  1214    0.01   30/6    51%  0.01 (50.0%)  -\n" +
			"-     b        carrier-b  1       block  0/0     -    -             the carrier takes no calls there\n", "b costs 0.005 for 1 from 2026-11-30T12:00:00Z on"},
		{"deck quote +33", exitNotFound, "#  CARRIER  GROUP  PREFIX  RATE  BILLED  ASR  MARGIN  LEFT OUT\n", "no row for the number"},
		{"deck quote +1 --at tomorrow", exitUsage, "", "is no time"},
		{"deck history", exitOK, "EDITION  AT                    AUTHOR  DECK  WHAT    ROWS  REASON\n1.7      2026-11-30T12:00:00Z  ann     cost  import  3     rates\n", ""},
		{"deck import cost " + good + " --dry-run", exitOK, "nothing was changed (--dry-run): deck cost has 4 rows, 3 before\n", "no route plan goes by this deck"},
		{"deck import cost " + good, exitUsage, "", "--reason"},
		{
			"deck import cost " + good + " --only-carrier a --group g --currency USD --expect-edition 7 --reason r --author ann --key k", exitOK,
			"edition 1.8 is in force after 12 ms: deck cost has 4 rows, 3 before\n", "",
		},
		{"deck import cost " + bad + " --reason r", exitFailed, "", `"12x" is no prefix`},
		{"deck import cost nowhere --reason r", exitNotFound, "", "nowhere"},
		{"deck export cost", exitOK, "prefix,rate\n1,0.02\n", ""},
		{"deck export gone", exitNotFound, "", "no rate deck"},
		{"deck remove cost", exitUsage, "", "--reason"},
		{"deck remove cost --reason r", exitFailed, "", "route plans go by it"},
		{"deck remove cost --reason r --author ann --force", exitOK, "edition 1.9 is in force after 3 ms: deck cost has 0 rows, 3 before\n", ""},
	} {
		code, out, errs := tandem(t, append(strings.Fields(c.args), "--address", address)...)
		if code != c.code || out != c.out || !strings.Contains(errs, c.errs) {
			t.Errorf("tandem %s: exit code %d\n%s%s", c.args, code, out, errs)
		}
		switch {
		case strings.Contains(c.args, "--at 2026"):
			if b.ask.Plan != "wholesale" || !b.ask.At.Equal(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)) {
				t.Errorf("quote asked for %+v", b.ask)
			}
		case strings.Contains(c.args, "--only-carrier"):
			if i := b.imp; i.OnlyCarrier != "a" || i.Group != "g" || i.Currency != "USD" || *i.Expect != 7 || i.Author != "ann" || i.Key != "k" {
				t.Errorf("import asked for %+v", i)
			}
		}
	}
}
