package cdr

import (
	"errors"
	"net/netip"
	"reflect"
	"testing"
	"time"
)

// whole is a record as its JSON holds it: times to the millisecond, in UTC.
func whole(r Record) Record {
	for _, t := range []*time.Time{&r.Start, &r.Progress, &r.Answer, &r.End} {
		if !t.IsZero() {
			*t = time.UnixMilli(t.UnixMilli()).UTC()
		}
	}
	for _, a := range []*netip.AddrPort{&r.Source, &r.Local} {
		if a.IsValid() {
			*a = netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
		}
	}
	return r
}

func TestDEC24_JSONKeepsEveryField(t *testing.T) {
	r := full()
	r.Local, r.Test = r.Source, true
	b, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, seq, err := ParseJSON(append([]byte(`{"seq":17,`), b[1:]...))
	if err != nil || seq != 17 {
		t.Fatal(seq, err)
	}
	if want := whole(r); !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
}

func TestParseJSONRefuses(t *testing.T) {
	for _, line := range []string{
		"", "x", "[]", `{}`, `{"call_id":"x"}`, `{"kind":"call"}`, `{"call_id":"x","kind":"call","src_ip":"nowhere"}`,
		`{"call_id":"x","kind":"call","fields":{"a":1}}`, `{"call_id":"x","kind":"call","fields":[]}`, `{"call_id":"x","kind":"call"} y`,
	} {
		if r, _, err := ParseJSON([]byte(line)); !errors.Is(err, ErrJSON) {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
	}
}

// Spools are files, which anything may have written to: whatever a line is, reading it
// ends, and what was read can be written and read again.
func FuzzParseJSON(f *testing.F) {
	r := full()
	b, _ := r.AppendJSON(nil)
	f.Add(b)
	f.Add([]byte(`{"seq":1,"call_id":"x","kind":"call","rate":1e300,"fields":{"b":"1","a":"2","b":"3"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, _, err := ParseJSON(line)
		if err != nil {
			return
		}
		b, err := r.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := ParseJSON(b)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if c, _ := again.AppendJSON(nil); string(c) != string(b) {
			t.Fatalf("%s\nbecame %s", b, c)
		}
	})
}
