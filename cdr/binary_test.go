package cdr

import (
	"reflect"
	"testing"
	"time"
)

// round is a record as it comes back: times to the millisecond, in local time.
func round(r Record) Record {
	for _, t := range []*time.Time{&r.Start, &r.Progress, &r.Answer, &r.End} {
		if !t.IsZero() {
			*t = time.UnixMilli(t.UnixMilli())
		}
	}
	return r
}

// DEC-24: what a survivor writes is what the owner knew, every field of it.
func TestDEC24_BinaryKeepsEveryField(t *testing.T) {
	r := full()
	r.Local, r.Test = r.Source, true
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Fatalf("the test record lacks %s", v.Type().Field(i).Name)
		}
	}
	got, err := ParseBinary(r.AppendBinary(nil))
	if err != nil {
		t.Fatal(err)
	}
	if want := round(r); !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
}

func TestDEC24_BinarySkipsWhatItDoesNotKnow(t *testing.T) {
	r := Record{CallID: "x", Kind: KindCall}
	b := appendField(r.AppendBinary(nil), 9999, "of a later version")
	got, err := ParseBinary(b)
	if err != nil || !reflect.DeepEqual(*got, r) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range [][]byte{nil, {2}, {1}, {1, 1}, {1, 1, 9, 'x'}, append(b, 0x80), appendField(b, fieldSource, "x"), appendField(b, fieldVersion, "")} {
		if got, err := ParseBinary(bad); err == nil {
			t.Errorf("%x gave %+v", bad, got)
		}
	}
}

func TestDEC24_OwnersVersionIsAboveSurvivors(t *testing.T) {
	for known := range 5 {
		if OwnerVersion(known) <= SurvivorVersion(known) || SurvivorVersion(known+1) <= OwnerVersion(known) {
			t.Errorf("%d closings: survivor %d, owner %d, next survivor %d", known, SurvivorVersion(known), OwnerVersion(known), SurvivorVersion(known+1))
		}
	}
}

// Records come from other nodes: whatever they are, reading them ends, and what was
// read can be written and read again.
func FuzzParseBinary(f *testing.F) {
	r := full()
	f.Add(r.AppendBinary(nil))
	f.Add([]byte{1, 1, 1, 'x', 2, 1, 'y'})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseBinary(b)
		if err != nil {
			return
		}
		again, err := ParseBinary(r.AppendBinary(nil))
		if err != nil {
			t.Fatalf("%x: %v", b, err)
		}
		if string(again.AppendBinary(nil)) != string(r.AppendBinary(nil)) {
			t.Fatalf("%x: %+v came back as %+v", b, r, again)
		}
	})
}

func BenchmarkAppendBinary(b *testing.B) {
	r := full()
	buffer := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buffer = r.AppendBinary(buffer[:0])
	}
}
