package registrar

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever registers in whatever order: never more bindings than allowed, never
// two of one ID, a refusal changes nothing, the longest first registration
// stays.
func TestR22_BoundsHoldOverAnyHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBook(t)
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			host := fmt.Sprintf("198.51.100.%d", rapid.IntRange(1, 6).Draw(rt, "host"))
			r := reg{source: host + ":5060", callID: host + rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "call")}
			for range rapid.IntRange(0, 3).Draw(rt, "contacts") {
				c := fmt.Sprintf("<sip:u%d@%s>", rapid.IntRange(1, 3).Draw(rt, "user"), host)
				if rapid.IntRange(0, 3).Draw(rt, "remove") == 0 {
					c += ";expires=0"
				}
				r.contacts = append(r.contacts, c)
			}
			r.cseq = uint32(rapid.IntRange(1, 50).Draw(rt, "cseq"))
			before := append([]*Record(nil), b.have...)
			since := map[string]time.Time{}
			for _, rec := range before {
				since[rec.ID] = rec.Since
			}
			_, refusal := b.take(r)
			if refusal != nil && len(before) != len(b.have) {
				rt.Fatal("a refusal changed something")
			}
			seen := map[string]bool{}
			for _, rec := range b.have {
				if seen[rec.ID] {
					rt.Fatalf("%s twice", rec.ID)
				}
				seen[rec.ID] = true
				if was, ok := since[rec.ID]; ok && !was.Equal(rec.Since) {
					rt.Fatal("a refresh changed the first registration")
				}
			}
			if len(b.have) > b.rules.Contacts {
				rt.Fatalf("%d bindings", len(b.have))
			}
			b.now = b.now.Add(time.Second)
		}
	})
}
