package deck

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func read(t *testing.T, text string, o CSV) *Deck {
	t.Helper()
	d, err := ReadCSV(strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const sheet = `carrier_id;group;prefix;rate;currency;increment;effective_from;effective_to;tech_prefix;destination
# what carrier a sent us
a;carrier-a;+1214*;0.0042;USD;60/60;2026-12-01;2027-01-01T00:00:00Z;1010288;"Dallas, TX"
a;carrier-a;*;"0.01";USD;6;;;;rest of the world

b;carrier-b;1214;block;USD;;;;;
`

func TestReadCSV(t *testing.T) {
	d := read(t, "\xef\xbb\xbf"+strings.ReplaceAll(sheet, "\n", "\r\n"), CSV{})
	if d.Sells() || d.Currency() != "USD" || d.Len() != 3 || d.Prefixes() != 2 {
		t.Fatalf("%+v", d)
	}
	var got []Row
	for r := range d.All() {
		got = append(got, r)
	}
	day := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for i, want := range []Row{
		{Prefix: "*", Carrier: "a", Price: 10_000_000, Terms: Terms{Group: "carrier-a", Increment: 6}},
		{Prefix: "1214", Carrier: "a", Price: 4_200_000, From: day, To: day.AddDate(0, 1, 0), Terms: Terms{Group: "carrier-a", TechPrefix: "1010288", Increment: 60, MinDuration: 60}},
		{Prefix: "1214", Carrier: "b", Blocked: true, Terms: Terms{Group: "carrier-b"}},
	} {
		if got[i] != want {
			t.Errorf("row %d is %+v, want %+v", i, got[i], want)
		}
	}
	sold := read(t, "prefix,rate\n1,0.02\n", CSV{Currency: "EUR"})
	if !sold.Sells() || sold.Currency() != "EUR" {
		t.Errorf("%+v", sold)
	}
	one := read(t, "prefix,rate\n1,0.02\n", CSV{Carrier: "a", Group: "carrier-a"})
	if one.Sells() || one.Carriers()[0] != "a" || one.Groups()[0] != "carrier-a" {
		t.Errorf("%+v", one)
	}
}

// Every fault is told with its line and what to do.
func TestReadCSV_Faults(t *testing.T) {
	const head = "prefix,carrier_id,group,rate\n"
	known := func(name string) (string, bool) { return "name a group", name != "gone" }
	for text, want := range map[string]string{
		"":                                                 "the list is empty",
		"\xff\xfep":                                        "line 1: the list is UTF-16; save it as UTF-8",
		"prefix,carrier_id,group\n":                        `there is no column "rate"`,
		"prefix,carrier_id,rate\n":                         `there is no column "group"`,
		"prefix,carier_id,group,rate\n":                    `"carier_id" is no column; did you mean "carrier_id"`,
		"prefix,code,rate\n":                               `the column "code" is there twice`,
		"prefix,group,rate\n":                              `the column "group" means nothing without carrier_id`,
		head + "1,a,g\n":                                   "line 2: the line has 3 columns, the first line names 4",
		head + "1,a,g,0,01\n":                              "a decimal comma is none",
		head + ",a,g,1\n":                                  "the prefix is missing",
		head + "12x,a,g,1\n":                               `"12x" is no prefix`,
		head + "1.2E+3,a,g,1\n":                            "a spreadsheet has rounded it",
		head + "0044,a,g,1\n":                              `"0044" begins with 0`,
		head + "1,,g,1\n":                                  "the row has no carrier",
		head + "1,a,,1\n":                                  "the row has no group",
		head + "1,a,gone,1\n":                              `there is no group "gone"; name a group`,
		head + "1,a b,g,1\n":                               `carrier_id "a b" is no name`,
		head + "1,a,g,\n":                                  "the rate is missing",
		head + "1,a,g,free\n":                              `"free" is no rate`,
		head + "1,a,g,-1\n":                                `"-1" is no rate`,
		head + "1,a,g,1\n1,a,g,2\n":                        "line 3: prefix 1 of a with the same effective_from stands on line 2",
		head + "1,\"a,g,1\n":                               "a quote is not closed",
		head + "1,\"a\"x,g,1\n":                            "there is text behind a quote",
		head + strings.Repeat("1", 5000):                   "the line is longer than 4096 characters",
		"prefix,rate,currency\n1,1,usd\n":                  `"usd" is no currency`,
		"prefix,rate,effective_from\n1,1,1/2":              `effective_from "1/2" is no time`,
		"prefix,rate,increment\n1,1,-6\n":                  `increment "-6" is out of range`,
		"prefix,rate,increment\n1,1,6/x\n":                 `"6/x" is no increment`,
		"prefix,rate,increment,min_duration\n1,1,30/6,1\n": "both say what is billed at least",
		"prefix,rate,currency\n1,1,USD\n2,1,EUR\n":         "line 3: the row is in EUR, and rows before it are in USD",
		"prefix,rate,effective_from,effective_to\n1,1,2026-12-01,2026-12-01\n": "effective_to is not after effective_from",
		"prefix,rate\n1,block\n": `"block" is no rate`,
		"prefix,carrier_id,group,rate,tech_prefix\n1,a,g,1,\"a b\"\n": `"a b" is no tech prefix`,
	} {
		d, err := ReadCSV(strings.NewReader(text), CSV{KnownGroup: known})
		faults, ok := errors.AsType[trunkgroup.Faults](err)
		if !ok || d != nil || !strings.Contains(faults.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	_, err := ReadCSV(strings.NewReader(head+strings.Repeat("x,a,g,1\n", 150)), CSV{})
	faults, _ := errors.AsType[trunkgroup.Faults](err)
	if len(faults) != 101 || !strings.Contains(faults[100].Problem, "50 more lines have faults") {
		t.Errorf("%d faults, the last is %v", len(faults), faults[len(faults)-1])
	}
}

// One carrier's rows are replaced, and nobody else's.
func TestWith_ReplacesOneCarrier(t *testing.T) {
	const head = "prefix,carrier_id,group,rate,currency\n"
	d := read(t, head+"1,a,g,1,USD\n2,a,g,1,USD\n1,b,g,2,USD\n", CSV{})
	next, err := d.With(read(t, head+"3,a,h,0.5,USD\n", CSV{}), "a")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := next.Export(&text, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if want := "1,b,g,2,USD,,,,,,,\n3,a,h,0.5,USD,,,,,,,\n"; !strings.HasSuffix(text.String(), want) {
		t.Errorf("%s, want %s", text.String(), want)
	}
	if _, err := d.With(read(t, head+"3,c,h,0.5,USD\n", CSV{}), "a"); err == nil {
		t.Error("rows of another carrier were taken")
	}
	if _, err := d.With(read(t, head+"3,a,h,0.5,EUR\n", CSV{}), "a"); err == nil {
		t.Error("rows in another currency were taken")
	}
	if _, err := d.With(read(t, "prefix,rate\n1,1\n", CSV{}), "a"); err == nil {
		t.Error("prices were taken for costs")
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add([]byte(sheet))
	f.Add([]byte("prefix,rate\n*,0.1\n1,2\n"))
	f.Add([]byte("code\tcarrier\tgroup\tprice\tincrement\n+44*\ta\tg\t1\t30/6\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := ReadCSV(strings.NewReader(string(b)), CSV{})
		if err != nil {
			if _, ok := errors.AsType[trunkgroup.Faults](err); !ok {
				t.Fatal(err)
			}
			return
		}
		// What was read is exported and read again as the same deck.
		var text strings.Builder
		if err := d.Export(&text, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		second, err := ReadCSV(strings.NewReader(text.String()), CSV{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		one, two := d.plain(), second.plain()
		if string(one) != string(two) {
			t.Fatalf("another deck came back\n%s", text.String())
		}
		if _, err := parse(one[len(magic):]); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{sheet, "prefix,rate\n*,0.1\n1,2\n"} {
		d, err := ReadCSV(strings.NewReader(text), CSV{})
		if err != nil {
			f.Fatal(err)
		}
		b, err := d.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(d.plain()[len(magic):])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(b)
		if err != nil {
			d, err = parse(b) // most of what is found is found behind the compression
		}
		if err != nil {
			return
		}
		// A deck that decodes can be asked, and is the same after another turn.
		book := NewBook(Sources{Plans: []trunkgroup.RoutePlanSpec{{Name: "p", Deck: &trunkgroup.DeckSpec{Name: "d"}}}, Decks: []Named{{Name: "d", Deck: d}}})
		for r := range d.All() {
			book.Routes("p", "+"+r.Prefix, epoch)
			book.QuoteDeck("d", "+"+r.Prefix, epoch)
		}
		out := d.plain()
		if again, err := parse(out[len(magic):]); err != nil || string(again.plain()) != string(out) {
			t.Fatalf("%v", err)
		}
	})
}
