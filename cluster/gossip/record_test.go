package gossip

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func drawRecord(t *rapid.T) Record {
	return Record{
		Key:      rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key"),
		Observer: rapid.SampledFrom([]string{"dal-1", "dal-2"}).Draw(t, "observer"),
		Boot:     rapid.Uint64Range(1, 3).Draw(t, "boot"),
		Seq:      rapid.Uint64Range(1, 4).Draw(t, "seq"),
		At:       now.Add(-time.Duration(rapid.IntRange(0, 4000).Draw(t, "age")) * time.Second),
	}
}

// What an observer says in one boot under one number is one thing: the payload and
// the time follow from the identity.
func consistent(records []Record) []Record {
	for i := range records {
		r := &records[i]
		r.Payload = fmt.Appendf(nil, "%s %s %d %d", r.Key, r.Observer, r.Boot, r.Seq)
		r.At = now.Add(-time.Duration(10*r.Boot+r.Seq) * time.Second)
	}
	return records
}

func dump(s *store) string {
	var lines []string
	for id, r := range s.records {
		lines = append(lines, fmt.Sprintf("%s/%s %d.%d %s", id.key, id.observer, r.Boot, r.Seq, r.Payload))
	}
	// The order of a map is no order.
	b := strings.Builder{}
	for len(lines) > 0 {
		least := 0
		for i := range lines {
			if lines[i] < lines[least] {
				least = i
			}
		}
		b.WriteString(lines[least] + "\n")
		lines = append(lines[:least], lines[least+1:]...)
	}
	return b.String()
}

// "Records are keyed (member, observer node, boot, seq) and never merged across
// observers" (DEC-13). Merging is commutative, associative and idempotent.
func TestDEC13_MergeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := consistent(rapid.SliceOfN(rapid.Custom(drawRecord), 1, 20).Draw(t, "records"))
		one, two := newStore(), newStore()
		for _, r := range records {
			one.merge(r, now)
		}
		order := rapid.Permutation(records).Draw(t, "order")
		for _, r := range append(order, order[:len(order)/2]...) {
			two.merge(r, now)
		}
		if dump(one) != dump(two) {
			t.Fatalf("two orders, two stores:\n%s\n%s", dump(one), dump(two))
		}
		// A full exchange is a merge as well.
		three := newStore()
		if err := parseBatch(one.encode(now), now, func(r Record) { three.merge(r, now) }); err != nil {
			t.Fatal(err)
		}
		if dump(one) != dump(three) {
			t.Fatal("a store does not survive its encoding")
		}
		for id, r := range one.records {
			for _, o := range records {
				if o.Key == id.key && o.Observer == id.observer && o.newer(r) {
					t.Fatalf("%+v is kept, %+v is newer", r, o)
				}
			}
		}
	})
}

func TestRecordsAge(t *testing.T) {
	r := &Record{Key: "k", Observer: "dal-1", Boot: 1, Seq: 1, Payload: []byte("x"), At: now}
	later := now.Add(7 * time.Second)
	// The receiver's clock is an hour off: only the age travels.
	receiver := later.Add(time.Hour)
	var got Record
	if err := parseBatch(appendBatch(nil, later, r), receiver, func(r Record) { got = r }); err != nil {
		t.Fatal(err)
	}
	if age := receiver.Sub(got.At); age != 7*time.Second {
		t.Errorf("the age is %v, want 7 s", age)
	}
	s := newStore()
	s.merge(*r, now)
	s.expire(now.Add(Lifetime - 1))
	if len(s.records) != 1 {
		t.Error("a record is forgotten before its time")
	}
	s.expire(now.Add(Lifetime))
	if _, ok := s.merge(*r, now.Add(Lifetime)); ok || len(s.records) != 0 {
		t.Error("a record outlives its time")
	}
}

func TestStoreIsBounded(t *testing.T) {
	s := newStore()
	for i := range MaxRecords + 5 {
		s.merge(Record{Key: fmt.Sprint(i), Observer: "o", Boot: 1, Seq: 1, At: now}, now)
	}
	if len(s.records) != MaxRecords || s.refused != 5 {
		t.Errorf("%d records, %d refused", len(s.records), s.refused)
	}
	if _, ok := s.merge(Record{Key: "1", Observer: "o", Boot: 1, Seq: 2, At: now}, now); !ok {
		t.Error("a full store takes no news of what it holds")
	}
}

func TestMalformedRecords(t *testing.T) {
	whole := appendBatch(nil, now, &Record{Key: "k", Observer: "dal-1", Boot: 1, Seq: 1, Payload: []byte("xyz"), At: now})
	for n := range whole {
		if n == 1 {
			continue // an empty batch
		}
		if err := parseBatch(whole[:n], now, func(Record) {}); !errors.Is(err, ErrRecords) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	big := &Record{Key: "k", Observer: "o", Payload: make([]byte, MaxPayload+1), At: now}
	if err := parseBatch(appendBatch(nil, now, big), now, func(Record) {}); err == nil {
		t.Error("a payload beyond the bound was taken")
	}
}

func TestMeta(t *testing.T) {
	m := Meta{Protocol: 1, Witness: true, FellBack: true, Resting: true, Blank: true, Load: 730, Boot: 12, Site: "dallas", State: "draining", Interconnect: "10.0.0.1:7950", Raft: "10.0.0.1:7951", Build: "1.2.3", Generation: 2, Revision: 300, LastTerm: 3, LastIndex: 400, Metrics: "10.0.0.1:9060"}
	b, err := m.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseMeta(append(b, "later fields"...))
	if err != nil || got != m {
		t.Errorf("%+v became %+v, %v", m, got, err)
	}
	const metrics = 1 + len("10.0.0.1:9060") // which an older version does not send
	const entry = 1 + 2 + metrics            // the last entry, which an older version does not send
	const added = 1 + 2 + entry              // generation and revision, which a still older one does not send
	for n := range len(b) - added {
		if _, err := ParseMeta(b[:n]); !errors.Is(err, ErrMeta) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	old, err := ParseMeta(b[:len(b)-entry])
	if m.LastTerm, m.LastIndex, m.Metrics = 0, 0, ""; err != nil || old != m {
		t.Errorf("an older version's metadata became %+v, %v", old, err)
	}
	old, err = ParseMeta(b[:len(b)-added])
	if m.Generation, m.Revision = 0, 0; err != nil || old != m {
		t.Errorf("an older version's metadata became %+v, %v", old, err)
	}
	m.Build = strings.Repeat("x", 300)
	if _, err := m.Append(nil); err == nil {
		t.Error("an endless field was taken")
	}
	m.Build, m.Site = strings.Repeat("x", 250), strings.Repeat("y", 255)
	if _, err := m.Append(nil); err == nil {
		t.Error("metadata beyond memberlist's bound was taken")
	}
}

func FuzzRecords(f *testing.F) {
	f.Add(appendBatch(nil, now, &Record{Key: "k", Observer: "dal-1", Boot: 1, Seq: 1, Payload: []byte("x"), At: now}))
	f.Add([]byte{recordsVersion})
	f.Fuzz(func(t *testing.T, b []byte) {
		var got []*Record
		if parseBatch(b, now, func(r Record) { got = append(got, &r) }) != nil {
			return
		}
		wire := appendBatch(nil, now, got...)
		var again []*Record
		if err := parseBatch(wire, now, func(r Record) { again = append(again, &r) }); err != nil || len(again) != len(got) {
			t.Fatalf("%d records became %d, %v", len(got), len(again), err)
		}
		if !bytes.Equal(appendBatch(nil, now, again...), wire) {
			t.Fatal("records do not encode as they were read")
		}
	})
}

func FuzzMeta(f *testing.F) {
	b, _ := Meta{Site: "dallas", State: "ready", Boot: 300}.Append(nil)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMeta(b)
		if err != nil {
			return
		}
		wire, err := m.Append(nil)
		if err != nil {
			return // larger than a node may say
		}
		again, err := ParseMeta(wire)
		if err == nil && again.Metrics == "" {
			m.Metrics = "" // there was no room for it
		}
		if err != nil || again != m {
			t.Fatalf("%+v became %+v, %v", m, again, err)
		}
	})
}

func BenchmarkMerge(b *testing.B) {
	s := newStore()
	r := Record{Key: "acme/pbx-1", Observer: "dal-1", Boot: 1, Payload: make([]byte, 32), At: now}
	b.ReportAllocs()
	for b.Loop() {
		r.Seq++
		s.merge(r, now)
	}
}
