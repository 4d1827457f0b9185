package verdict

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func drawAge(t *rapid.T, label string) time.Duration {
	return time.Duration(rapid.Int64Range(0, int64(maxAge/time.Millisecond)).Draw(t, label)) * time.Millisecond
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 60, maxText)
		r := Record{
			Key: Key{Member: "acme/" + rapid.StringMatching(`[a-z0-9-]{1,20}`).Draw(t, "member")}, Node: "n" + text.Draw(t, "node"),
			Boot: rapid.Uint64().Draw(t, "boot"), Seq: rapid.Uint64().Draw(t, "seq"),
			State: rapid.SampledFrom([]trunkgroup.State{trunkgroup.Unknown, trunkgroup.Active, trunkgroup.Trying, trunkgroup.Down, trunkgroup.Probation, trunkgroup.Cooldown}).Draw(t, "state"),
			Age:   drawAge(t, "age"), OutAge: drawAge(t, "out"), Reason: text.Draw(t, "reason"), Changes: rapid.Uint64().Draw(t, "changes"),
			Kind: trunkgroup.ProbeKind(rapid.IntRange(0, 3).Draw(t, "kind")), Code: rapid.IntRange(0, 699).Draw(t, "code"),
			RTT:      time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "rtt")) * time.Microsecond,
			ProbeAge: drawAge(t, "probe"), GoodAge: drawAge(t, "good"),
		}
		r.Flaps = rapid.IntRange(0, maxFlaps).Draw(t, "flaps")
		for range rapid.IntRange(0, 5).Draw(t, "probes") {
			r.Latency.Note(trunkgroup.ProbeResult{Kind: trunkgroup.ProbeKind(rapid.IntRange(1, 2).Draw(t, "result")), RTT: time.Second})
		}
		r.Node = r.Node[:min(len(r.Node), maxText)]
		if rapid.Bool().Draw(t, "named") {
			r.Key.Addr = netip.MustParseAddrPort("[2001:db8::1]:5060")
		}
		b := r.Append(nil)
		// A later version may add fields; they are ignored.
		got, err := DecodeRecord(append(b, "more"...))
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, r)
		}
		older := len(b) - len(r.appendHistory(nil))
		for i := range b {
			if old, err := DecodeRecord(b[:i]); err == nil && (i != older || old.GoodAge != r.GoodAge || old.Latency.Known()) {
				t.Fatalf("%d of %d bytes are taken for a record", i, len(b))
			}
		}
	})
}

func TestKnobRoundTrip(t *testing.T) {
	k := Knob{
		Member: "acme/pbx-1", State: trunkgroup.AdminDisabled, Author: "ann", Reason: "ticket 7", Version: 9, Node: "dal-1",
		Set: start.Add(-time.Hour), Expires: start.Add(23 * time.Hour),
	}
	b := k.Append(nil, start)
	// The reader's clock is two minutes ahead; what remains stays the same.
	skewed := start.Add(2 * time.Minute)
	got, err := DecodeKnob(append(b, 1, 2, 3), skewed)
	if err != nil || got.Expires != skewed.Add(23*time.Hour) || got.Set != skewed.Add(-time.Hour) || got.Member != k.Member ||
		got.State != k.State || got.Version != 9 || got.Node != "dal-1" || got.Author != "ann" || got.Reason != "ticket 7" {
		t.Errorf("got %+v, %v", got, err)
	}
	for i := range len(b) - 1 { // the last octet is of this build: an older one leaves it out
		if _, err := DecodeKnob(b[:i], start); err == nil {
			t.Errorf("%d of %d bytes are taken for a knob", i, len(b))
		}
	}
}

// A weight and a drained site travel as knobs too; what an older build passes on of a weight says nothing here.
func TestDEC25_KnobSubjects(t *testing.T) {
	knobs := NewKnobs()
	weight := knobs.SetWeight(start, "acme/pbx-1", 7, "ann", "", "dal-1", KnobLife)
	drain := knobs.Set(start, DrainOf("dallas"), trunkgroup.AdminDraining, "ann", "", "dal-1", KnobLife)
	for _, k := range []Knob{weight, drain} {
		got, err := DecodeKnob(k.Append(nil, start), start)
		if err != nil || got != k || !got.InForce(start) {
			t.Errorf("%+v became %+v, %v", k, got, err)
		}
	}
	b := weight.Append(nil, start)
	if _, err := DecodeKnob(b[:len(b)-1], start); err == nil {
		t.Error("a weight knob without its weight is taken")
	}
	for _, subject := range []string{"", "acme", "site:", "site:a/b", "weight:", "weight:site:dallas", "weight:acme", "acme/pbx-1@192.0.2.1:5060"} {
		k := Knob{Member: subject, State: trunkgroup.AdminDraining, Node: "dal-1", Set: start, Expires: start.Add(time.Hour)}
		if got, err := DecodeKnob(k.Append(nil, start), start); err == nil {
			t.Errorf("%q is taken: %+v", subject, got)
		}
	}
	if member, site, isWeight := Subject(weight.Member); member != "acme/pbx-1" || site != "" || !isWeight {
		t.Errorf("%q %q %v", member, site, isWeight)
	}
	if member, site, isWeight := Subject(drain.Member); member != "" || site != "dallas" || isWeight {
		t.Errorf("%q %q %v", member, site, isWeight)
	}
}

func TestEvidenceRoundTrip(t *testing.T) {
	for _, e := range []Evidence{
		{Key: Key{Member: "acme/pbx-1"}, Cause: "refused"},
		{Key: Key{Member: "acme/pbx-1", Addr: netip.MustParseAddrPort("192.0.2.1:5060")}, OK: true},
		{Key: Key{Member: "acme/pbx-1"}, RetryAfter: 90 * time.Second},
	} {
		b := e.Append(nil)
		if got, err := DecodeEvidence(b); err != nil || got != e {
			t.Errorf("got %+v, %v", got, err)
		}
		for i := range b {
			if _, err := DecodeEvidence(b[:i]); err == nil {
				t.Errorf("%d of %d bytes are taken for evidence", i, len(b))
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := Record{Key: Key{Member: "a/b"}, Node: "n"}
	for name, edit := range map[string]func(*Record){
		"operator's state": func(r *Record) { r.State = trunkgroup.Disabled },
		"unknown state":    func(r *Record) { r.State = 99 },
		"unknown kind":     func(r *Record) { r.Kind = 9 },
		"no node":          func(r *Record) { r.Node = "" },
		"no member":        func(r *Record) { r.Key.Member = "acme" },
	} {
		r := good
		edit(&r)
		if got, err := DecodeRecord(r.Append(nil)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := DecodeRecord(append([]byte{format + 1}, good.Append(nil)[1:]...)); err == nil {
		t.Error("another format is read")
	}
	long := good
	long.Reason = strings.Repeat("x", 10*maxText)
	if got, err := DecodeRecord(long.Append(nil)); err != nil || len(got.Reason) != maxText {
		t.Errorf("a long reason: %d bytes, %v", len(got.Reason), err)
	}
}

func FuzzDecode(f *testing.F) {
	r := Record{Key: Key{Member: "acme/pbx-1", Addr: netip.MustParseAddrPort("192.0.2.1:5060")}, Node: "dal-1", Boot: 3, Seq: 9, State: trunkgroup.Down, Reason: "no reply"}
	k := Knob{Member: "acme/pbx-1", Node: "dal-1", Set: start, Expires: start.Add(KnobLife)}
	f.Add(r.Append(nil))
	f.Add(k.Append(nil, start))
	for _, k := range []Knob{{Member: WeightOf("acme/pbx-1"), Weight: 7, Node: "dal-1"}, {Member: DrainOf("dallas"), State: trunkgroup.AdminDraining, Node: "dal-1"}} {
		f.Add(k.Append(nil, start))
	}
	e := Evidence{Key: r.Key, Cause: "no_response", RetryAfter: time.Minute}
	f.Add(e.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := DecodeRecord(b); err == nil {
			again, err := DecodeRecord(r.Append(nil))
			if err != nil || !reflect.DeepEqual(again, r) {
				t.Fatalf("%+v becomes %+v, %v", r, again, err)
			}
		}
		if e, err := DecodeEvidence(b); err == nil {
			again, err := DecodeEvidence(e.Append(nil))
			if err != nil || again != e {
				t.Fatalf("%+v becomes %+v, %v", e, again, err)
			}
		}
		if k, err := DecodeKnob(b, start); err == nil {
			again, err := DecodeKnob(k.Append(nil, start), start)
			if err != nil || !reflect.DeepEqual(again, k) {
				t.Fatalf("%+v becomes %+v, %v", k, again, err)
			}
		}
	})
}

func TestKey(t *testing.T) {
	for _, k := range []Key{{Member: "acme/pbx-1"}, {Member: "acme/pbx-1", Addr: netip.MustParseAddrPort("[2001:db8::1]:5060")}} {
		if got, err := ParseKey(k.String()); err != nil || got != k {
			t.Errorf("%v becomes %v, %v", k, got, err)
		}
	}
	if _, err := ParseKey("a/b@nowhere"); err == nil {
		t.Error("a bad address is read")
	}
}
