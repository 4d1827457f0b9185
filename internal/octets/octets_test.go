package octets

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestFieldsComeBack: what was appended is read, and nothing is left.
func TestFieldsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, c := rapid.Uint64().Draw(t, "number"), rapid.Byte().Draw(t, "octet")
		text, b := rapid.String().Draw(t, "text"), rapid.SliceOf(rapid.Byte()).Draw(t, "octets")
		d := time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "milliseconds")) * time.Millisecond
		rec := append(binary.AppendUvarint(nil, n), c)
		rec = Append(Append(rec, text), b)
		rec = binary.AppendUvarint(rec, uint64(d/time.Millisecond))
		for _, r := range []Reader{Read(rec), ReadStrict(rec)} {
			if got := r.Number(); got != n {
				t.Fatalf("number %d, want %d", got, n)
			}
			if got := r.Octet(); got != c {
				t.Fatalf("octet %d, want %d", got, c)
			}
			if got := r.Text(len(text)); got != text {
				t.Fatalf("text %q, want %q", got, text)
			}
			if got := r.Octets(len(b)); !bytes.Equal(got, b) {
				t.Fatalf("octets %q, want %q", got, b)
			}
			if r.End() || !r.More() {
				t.Fatal("the end before the end")
			}
			if got := r.Duration(time.Millisecond, math.MaxInt64); got != d || !r.End() || r.More() {
				t.Fatalf("%v, want %v; at the end: %v", got, d, r.End())
			}
		}
	})
}

// TestAFaultIsTheEnd: what cannot be is a fault, and behind a fault all is zero.
func TestAFaultIsTheEnd(t *testing.T) {
	endless := bytes.Repeat([]byte{0xff}, 11)
	for _, c := range []struct {
		name string
		r    Reader
		read func(r *Reader) bool // something that is not zero
	}{
		{"nothing for an octet", Read(nil), func(r *Reader) bool { return r.Octet() != 0 }},
		{"nothing for a number", Read(nil), func(r *Reader) bool { return r.Number() != 0 }},
		{"a number without end", Read(endless), func(r *Reader) bool { return r.Number() != 0 }},
		{"a number of two octets for one", ReadStrict([]byte{0x81, 0, 7}), func(r *Reader) bool { return r.Number() != 0 }},
		{"a number above its limit", Read([]byte{9, 7}), func(r *Reader) bool { return r.Int(8) != 0 }},
		{"more items than octets", Read([]byte{3, 1, 2, 3, 4, 5}), func(r *Reader) bool { return r.Length(2) != 0 }},
		{"a text longer than it may be", Read([]byte("\x03abc")), func(r *Reader) bool { return r.Text(2) != "" }},
		{"a text that is cut off", Read([]byte("\x04abc")), func(r *Reader) bool { return r.Text(9) != "" }},
		{"a time above its limit", Read([]byte{61, 7}), func(r *Reader) bool { return r.Duration(time.Second, time.Minute) != 0 }},
		{"what the caller says", Read([]byte{1, 7}), func(r *Reader) bool { r.Fail(); return false }},
	} {
		if c.read(&c.r) {
			t.Errorf("%s: it is read", c.name)
		}
		if !c.r.Bad() || c.r.End() || c.r.More() || c.r.Octet() != 0 || c.r.Number() != 0 || c.r.Text(9) != "" || !c.r.Bad() {
			t.Errorf("%s: %+v goes on", c.name, c.r)
		}
	}
	if r := Read([]byte{0x81, 0}); r.Number() != 1 || !r.End() {
		t.Error("a number in a longer form is a fault for who does not ask")
	}
	if r := Read([]byte("\x02\x00\x00")); r.Length(1) != 2 || r.Bad() {
		t.Error("as many items as there are octets for")
	}
}

// TestOctetsAreAPartOfTheRecord: whoever appends to them does not write over what follows.
func TestOctetsAreAPartOfTheRecord(t *testing.T) {
	rec := Append(Append(nil, "ab"), "cd")
	r := Read(rec)
	first := r.Octets(9)
	if &first[0] != &rec[1] {
		t.Error("they are copied")
	}
	_ = append(first, 'x')
	if r.Text(9) != "cd" {
		t.Error("written over")
	}
}
