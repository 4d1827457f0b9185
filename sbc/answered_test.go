package sbc

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

func upRecord(attempts int) *cdr.Record {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := &cdr.Record{
		CallID: "01HQ2M3N4P5Q6R7S8T9V0W1X2Y", Kind: cdr.KindCall, Version: 1, Final: true, Node: "dal-1", Site: "dallas",
		Caller: "+13105550100", Called: "+12145550123", SIPCallID: "abc@192.0.2.10", Start: now, Answer: now.Add(3 * time.Second),
	}
	for i := range attempts {
		r.Attempts = append(r.Attempts, cdr.Attempt{N: i + 1, Group: "acme-in", Member: "pbx", Site: "dallas", EgressCallID: "t-1-abcdefgh"})
	}
	return r
}

// DEC-24: what goes to every node is bounded, whatever the call went through.
func TestDEC24_EncodedCallsAreBounded(t *testing.T) {
	for _, attempts := range []int{0, 1, 20, 5000} {
		b := encodeUp(upRecord(attempts))
		r, err := cdr.ParseBinary(b)
		if err != nil || len(b) > maxUp || r.CallID != upRecord(0).CallID {
			t.Fatalf("%d attempts: %d octets, %v", attempts, len(b), err)
		}
		if want := attempts % 5000; len(r.Attempts) != want {
			t.Errorf("%d attempts: %d are told", attempts, len(r.Attempts))
		}
	}
	r := upRecord(1)
	r.UserAgent = strings.Repeat("x", 400)
	if b := encodeUp(r); len(b) > maxUp {
		t.Errorf("%d octets", len(b))
	}
}

func BenchmarkEncodeUp(b *testing.B) {
	r := upRecord(2)
	b.ReportAllocs()
	for b.Loop() {
		encodeUp(r)
	}
}
