package profile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

var update = flag.Bool("update", false, "write the golden files anew")

// records are an answered call, one that nobody answered, and one whose far end writes formulas.
func records() []*cdr.Record {
	at := time.Date(2026, 3, 2, 5, 59, 58, 123e6, time.UTC)
	return []*cdr.Record{
		{
			CallID: "01HQ2M3N4P5Q6R7S8T9V0W1X2Y", Kind: cdr.KindCall, Version: 2, Final: true, Cluster: "example", Node: "dal-1", Site: "dallas",
			EgressSite: "dallas", Direction: cdr.Outbound, Customer: "acme-out", IngressGroup: "acme-out", IngressMember: "pbx-1",
			EgressGroup: "carrier-b", EgressMember: "gw1", Caller: "+13105550100", CallerRaw: "3105550100", Called: "+12145550123", CalledRaw: "12145550123",
			RN: "+12145550199", To: "12145550123", SIPCallID: "abc@192.0.2.10", EgressCallID: "t-1-xyz",
			Start: at, Progress: at.Add(1200 * time.Millisecond), Answer: at.Add(4 * time.Second), End: at.Add(64*time.Second + time.Millisecond), PDD: 1200 * time.Millisecond,
			SIPCode: 200, SIPReason: "OK", HangupCause: cdr.CauseCleared, HangupQ850: 16, HangupParty: cdr.Callee,
			Source: netip.MustParseAddrPort("192.0.2.10:5060"), Local: netip.MustParseAddrPort("192.0.2.1:5060"), Transport: "udp", UserAgent: "PBX/1",
			Attempts: []cdr.Attempt{
				{N: 1, Group: "carrier-a", Member: "gw9", Site: "dallas", Code: 503, Cause: "down", CarrierID: "carrier-a"},
				{N: 2, Group: "carrier-b", Member: "gw1", Site: "dallas", Dialed: true, Progress: true, Code: 200, Elapsed: 1500 * time.Millisecond, EgressCallID: "t-1-xyz", CarrierID: "carrier-b"},
			},
			CarrierID: "carrier-b", RouteSource: "lcr", Rate: 0.0042, Rated: true, Currency: "USD", BillingIncrement: 6, MinDuration: 30,
			Fields: []cdr.Field{{Name: "orig_lata", Value: "552"}, {Name: "orig_state", Value: "TX"}},
		},
		{
			CallID: "01HQ2M3N4P5Q6R7S8T9V0W1X2Z", Kind: cdr.KindCall, Version: 1, Final: true, Node: "dal-1", Site: "dallas", Direction: cdr.Inbound,
			Caller: "+13105550100", Called: "+12145550123", Start: at, End: at.Add(500 * time.Millisecond), SIPCode: 486, SIPReason: "Busy Here", HangupCause: "USER_BUSY", HangupQ850: 17, HangupParty: cdr.Callee,
		},
		{
			CallID: "01HQ2M3N4P5Q6R7S8T9V0W1X30", Kind: cdr.KindCall, Version: 1, Final: true, Node: "dal-1", Site: "dallas", Direction: cdr.Inbound,
			CallerRaw: `=HYPERLINK("http://x.example","y")`, CalledRaw: "+1,2\r\n\"3\"", UserAgent: "@SUM(A1)\x00\xff", Start: at, End: at, SIPCode: 404, HangupCause: "UNALLOCATED_NUMBER", HangupQ850: 1,
		},
	}
}

func TestGolden(t *testing.T) {
	for _, name := range Names() {
		p := Named(name)
		var table, lines []byte
		if p.Header {
			table = p.AppendHeader(table)
		}
		for i, r := range records() {
			table = p.AppendCSV(table, r, uint64(i+1))
			lines = append(p.AppendJSON(lines, r, uint64(i+1)), '\n')
		}
		golden(t, name+".csv", table)
		golden(t, name+".jsonl", lines)
		rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, row := range rows {
			if len(row) != len(p.columns) {
				t.Errorf("%s: %d cells, %d columns", name, len(row), len(p.columns))
			}
		}
		for line := range bytes.Lines(lines) {
			if !json.Valid(line) {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, want)
	}
}

// 46 Labs' dictionary has its names in its order, and no more.
func TestLabs46Dictionary(t *testing.T) {
	const want = "sip_code,sip_reason,call_start_time,callid,from_did,to_did,lrn_did,orig_carrier_name,connection_name,orig_juris,orig_cost," +
		"duration_real,orig_billed_duration,pdd,orig_country,orig_destination,orig_ocn,orig_lata,orig_state,orig_ratecenter,reason\n"
	if got := string(Named("46labs").AppendHeader(nil)); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

// Only what can tell them apart gets records of other kinds (DEC-24).
func TestDEC24_Kinds(t *testing.T) {
	for _, name := range Names() {
		p := Named(name)
		for _, k := range []cdr.Kind{cdr.KindHandoff, cdr.KindInterim} {
			if p.Takes(k) != (name == Tandem) {
				t.Errorf("%s takes %s: %v", name, k, p.Takes(k))
			}
		}
		if !p.Takes(cdr.KindCall) {
			t.Errorf("%s takes no calls", name)
		}
	}
	if Named("nobody") != nil {
		t.Error("a profile of no name")
	}
}

// The table has every field that the record's JSON has.
func TestTandemHasEveryField(t *testing.T) {
	b, err := records()[0].AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		if !strings.Contains(","+string(Named(Tandem).AppendHeader(nil)), ","+name+",") {
			t.Errorf("no column for %s", name)
		}
	}
}

func TestFormulas(t *testing.T) {
	for in, want := range map[string]string{
		"+13105550100": "+13105550100", "-5": "-5", "-0.5": "-0.5", "plain": "plain", "": "", "a b": `"a b"`,
		"=1+1": `"'=1+1"`, "+1+1": `"'+1+1"`, "-1-1": `"'-1-1"`, "@x": `"'@x"`, "+": `"'+"`, "\t=1": `"' =1"`, " =1": `"' =1"`,
		"\uff1d1": "\"'\uff1d1\"", `"`: `""""`, "a\x1b[31m": `"a [31m"`, "+1.2.3": `"'+1.2.3"`, "1;2": `"1;2"`,
	} {
		if got := string(appendCell(nil, []byte(in))); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// Whatever a far end wrote, a cell is one cell on one line, and no formula.
func FuzzCell(f *testing.F) {
	for _, s := range []string{"", "=1", "a,b", "\"", "+1\r\n", "\xff", " @", "\u2028", "-1.5"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		line := append(appendCell([]byte("x,"), v), ",y\n"...)
		rows, err := csv.NewReader(bytes.NewReader(line)).ReadAll()
		if err != nil || len(rows) != 1 || len(rows[0]) != 3 || bytes.Count(line, []byte("\n")) != 1 {
			t.Fatalf("%q: %q, %v", v, rows, err)
		}
		if cell := []byte(rows[0][1]); formula(cell) {
			t.Fatalf("%q became the formula %q", v, cell)
		}
	})
}

func BenchmarkTandemCSV(b *testing.B) {
	p, r := Named(Tandem), records()[0]
	buffer := make([]byte, 0, 8192)
	b.ReportAllocs()
	for b.Loop() {
		buffer = p.AppendCSV(buffer[:0], r, 1)
	}
}
