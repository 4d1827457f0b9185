package cdr

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// rated is the record of a call that was up for so long, at a rate.
func rated(up time.Duration, rate float64, increment, least uint32) *Record {
	return &Record{
		CallID: "x", Kind: KindCall, Start: start, Answer: start, End: start.Add(up),
		Rate: rate, Rated: true, Currency: "USD", BillingIncrement: increment, MinDuration: least,
	}
}

func TestS100_Cost(t *testing.T) {
	for _, c := range []struct {
		up               time.Duration
		rate             float64
		increment, least uint32
		billed           uint64
		cost             string
	}{
		{time.Minute, 0.0042, 0, 0, 60, "0.0042"},
		{61 * time.Second, 0.0042, 6, 30, 66, "0.00462"},
		{60*time.Second + time.Millisecond, 0.0042, 1, 0, 61, "0.00427"},
		{time.Second, 0.0042, 0, 30, 30, "0.0021"},
		{time.Second, 0.0042, 60, 0, 60, "0.0042"},
		{time.Second, 0.01, 0, 0, 1, "0.00016667"},             // up
		{time.Second, 0.00000003, 0, 0, 1, "0"},                // 0.0000000005: below half
		{10 * time.Second, 0.00000003, 0, 0, 10, "0.00000001"}, // 0.000000005: half
		{time.Hour, 1, 0, 0, 3600, "60"},
		{time.Second, 1e9, math.MaxUint32, math.MaxUint32, math.MaxUint32, "71582788250000000"},
		{0, 0.0042, 0, 0, 0, "0"},
		{time.Minute, 0, 0, 0, 60, "0"},
		{time.Minute, math.Copysign(0, -1), 0, 0, 60, "0"},
		{time.Minute, 1e-300, 0, 0, 60, "0"},
	} {
		r := rated(c.up, c.rate, c.increment, c.least)
		if billed, cost := r.Billed(), string(r.AppendCost(nil)); billed != c.billed || cost != c.cost {
			t.Errorf("%v at %v by %d from %d: %d seconds, %s; want %d, %s", c.up, c.rate, c.increment, c.least, billed, cost, c.billed, c.cost)
		}
	}
	r := rated(time.Minute, 0.0042, 60, 60)
	r.Answer = time.Time{}
	if r.Billed() != 0 || string(r.AppendCost(nil)) != "0" {
		t.Error("a call that was not answered costs")
	}
	for _, rate := range []float64{-1, math.NaN(), math.Inf(1), 2e9} {
		r := rated(time.Minute, rate, 0, 0)
		if got := r.AppendCost(nil); len(got) != 0 {
			t.Errorf("%v costs %s", rate, got)
		}
		if b, err := r.AppendJSON(nil); err != nil || !json.Valid(b) {
			t.Errorf("%v: %s, %v", rate, b, err)
		}
	}
}

// The cost is that of exact arithmetic, rounded once.
func TestS100_CostIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// A rate as somebody writes it.
		text := strconv.FormatUint(rapid.Uint64Range(0, 999_999).Draw(t, "whole"), 10) + "." + rapid.StringMatching(`[0-9]{1,9}`).Draw(t, "part")
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		r := rated(time.Duration(rapid.Int64Range(0, 1e14).Draw(t, "up")), rate,
			rapid.Uint32Range(0, 120).Draw(t, "increment"), rapid.Uint32Range(0, 120).Draw(t, "least"))
		want, _ := new(big.Rat).SetString(text)
		want.Mul(want, new(big.Rat).SetUint64(r.Billed()))
		want.Quo(want, big.NewRat(60, 1))
		got, ok := new(big.Rat).SetString(string(r.AppendCost(nil)))
		if !ok {
			t.Fatalf("%s is no number", r.AppendCost(nil))
		}
		half := big.NewRat(1, 200_000_000)
		if off := new(big.Rat).Sub(got, want); off.Cmp(half) > 0 || off.Cmp(half.Neg(half)) <= 0 {
			t.Fatalf("%s at %d seconds: %s, exact %s", text, r.Billed(), r.AppendCost(nil), want.FloatString(12))
		}
	})
}

func TestS047_S050_FailedAttempts(t *testing.T) {
	r := Record{CallID: "x", Kind: KindCall, Attempts: []Attempt{
		{CarrierID: "a", Code: 503},
		{CarrierID: `"b"`, Code: 486, Dialed: true, Elapsed: 1234567 * time.Microsecond},
		{CarrierID: "c", Dialed: true}, // ended with the call
		{CarrierID: "d", Code: 200, Dialed: true},
	}}
	const want = `[{"carrier_id":"a","status":503,"elapsed_ms":0,"dialed":false},{"carrier_id":"\"b\"","status":486,"elapsed_ms":1234,"dialed":true}]`
	if got := string(r.AppendFailed(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r.Attempts = r.Attempts[3:]
	if got := string(r.AppendFailed(nil)); got != "[]" {
		t.Errorf("the first carrier answered: %s", got)
	}
}

func TestS050_FieldsAreOneObject(t *testing.T) {
	got := string(AppendFields(nil, []Field{{"a", "1"}, {"b", "x\r\ny"}, {"a", "2"}}))
	if want := `{"b":"x\u000d\u000ay","a":"2"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
