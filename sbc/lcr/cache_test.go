package lcr

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

var start = time.Unix(1_700_000_000, 0)

func entry(name string, asked time.Time, ttl time.Duration, size int) *Entry {
	return &Entry{Set: &trunkgroup.RouteSet{Source: name}, Asked: asked, Until: asked.Add(ttl), Size: size}
}

func TestS090_KeysOfAnswers(t *testing.T) {
	for k, want := range map[Key]string{
		{Plan: "lcr", Edition: 0xab, Group: "cust-trunks", Number: "+12025550123"}: "lcr/ab/cust-trunks:+12025550123",
		{Plan: "lcr", Number: "911"}:             "lcr/0/-:911",
		{Plan: "a", Group: "b", Number: "x:y/z"}: "a/0/b:x:y/z",
	} {
		if got := k.String(); got != want {
			t.Errorf("%+v: %s", k, got)
		}
		if back, ok := ParseKey(want); !ok || back != k {
			t.Errorf("%s: %+v %v", want, back, ok)
		}
	}
	for _, s := range []string{"", "a", "a/x/c:d", "/0/b:c", "a/0/:c", "a/0/b", FlushKey("lcr"), FlushKey("")} {
		if k, ok := ParseKey(s); ok {
			t.Errorf("%q is %+v", s, k)
		}
	}
	if plan, ok := ParseFlush(FlushKey("lcr")); plan != "lcr" || !ok {
		t.Error(plan, ok)
	}
	if plan, ok := ParseFlush(FlushKey("")); plan != "" || !ok {
		t.Error(plan, ok)
	}
	if _, ok := ParseFlush("flush/ab/-:1"); ok { // of a plan with that name
		t.Error("a key is a flush")
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add("lcr/ab/cust:+1")
	f.Add("flush/")
	f.Fuzz(func(t *testing.T, s string) {
		if k, ok := ParseKey(s); ok {
			if back, ok := ParseKey(k.String()); !ok || back != k {
				t.Errorf("%q: %+v %+v", s, k, back)
			}
		}
	})
}

func TestS091_AnAnswerIsGoodUntilItsTime(t *testing.T) {
	c := NewCache(8, 1<<20, maphash.MakeSeed())
	k := Key{Plan: "p", Group: "g", Number: "+1"}
	c.Put(start, k, entry("one", start, time.Minute, 10))
	if c.Get(k, start.Add(time.Minute-1)) == nil || c.Get(k, start.Add(time.Minute)) != nil {
		t.Error("not good for exactly its time")
	}
	for _, other := range []Key{{Plan: "p", Group: "g", Number: "+2"}, {Plan: "p", Number: "+1"}, {Plan: "q", Group: "g", Number: "+1"}, {Plan: "p", Group: "g", Number: "+1", Edition: 1}} {
		if c.Get(other, start) != nil {
			t.Errorf("%+v has the answer of another", other)
		}
	}
	if c.Put(start, k, entry("older", start.Add(-time.Second), time.Hour, 10)) || c.Get(k, start).Source != "one" {
		t.Error("an older answer has replaced a newer one")
	}
	if !c.Put(start, k, entry("two", start.Add(time.Second), time.Hour, 10)) || c.Get(k, start).Source != "two" {
		t.Error("a newer answer has not replaced it")
	}
	if !c.Delete(k) || c.Delete(k) || c.Get(k, start) != nil || c.Stats().Entries != 0 || c.Stats().Bytes != 0 {
		t.Errorf("%+v", c.Stats())
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := NewCache(100, 100*(entryOverhead+30), maphash.MakeSeed())
	at := func(i int) Key { return Key{Plan: "p", Number: strconv.Itoa(i)} }
	for i := range 1000 {
		c.Put(start, at(i), entry("x", start, time.Minute, 10))
		if i >= 10 {
			c.Get(at(5), start) // what is read stays
		}
	}
	if s := c.Stats(); s.Entries != 100 || s.Evicted != 900 {
		t.Errorf("%+v", s)
	}
	if c.Get(at(5), start) == nil {
		t.Error("what is read all the time was forgotten")
	}
	if c.Put(start, at(1), entry("huge", start, time.Minute, 1<<20)) {
		t.Error("more than all that there is room for")
	}
	c.Put(start, at(2), entry("large", start, time.Minute, 10_000))
	if s := c.Stats(); s.Bytes > 100*(entryOverhead+30) || s.Entries < 30 {
		t.Errorf("%+v", s)
	}
	if n := c.Sweep(func(Key, *Entry) *Entry { return nil }); n == 0 || c.Stats().Entries != 0 || c.Stats().Bytes != 0 {
		t.Errorf("%d, %+v", n, c.Stats())
	}
}

// The cache against a map: what it says is what was put last, or nothing; bounds hold.
func TestCacheProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 10).Draw(t, "most")
		c := NewCache(most, 1<<20, maphash.MakeSeed())
		model := map[Key]*Entry{}
		now := start
		for i := range rapid.IntRange(1, 80).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
			k := Key{Plan: "p", Number: strconv.Itoa(rapid.IntRange(0, 14).Draw(t, "number"))}
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				e := entry(strconv.Itoa(i), now, time.Duration(rapid.IntRange(1, 5).Draw(t, "ttl"))*time.Second, 1)
				if c.Put(now, k, e) {
					model[k] = e
				}
			case 1:
				got, want := c.Get(k, now), model[k]
				if got != nil && (want == nil || got != want.Set || !now.Before(want.Until)) {
					t.Fatalf("%+v: %v", k, got)
				}
			case 2:
				c.Delete(k)
				delete(model, k)
			case 3:
				c.Sweep(func(k Key, e *Entry) *Entry {
					if !now.Before(e.Until) {
						return nil
					}
					return e
				})
			}
			s := c.Stats()
			if s.Entries > most || s.Bytes != s.Entries*(entryOverhead+3) {
				t.Fatalf("%+v of %d", s, most)
			}
		}
	})
}

// Readers walk while writers change all that they walk over.
func TestCacheIsReadWithoutALock(t *testing.T) {
	c := NewCache(64, 1<<20, maphash.MakeSeed())
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 5000 {
				k := Key{Plan: "p", Number: strconv.Itoa((i*7 + w) % 100)}
				if w < 2 {
					if set := c.Get(k, start); set != nil && set.Source != k.Number {
						t.Errorf("%s has the answer of %s", k.Number, set.Source)
					}
					continue
				}
				c.Put(start, k, entry(k.Number, start, time.Minute, 1))
				if i%10 == 0 {
					c.Delete(k)
				}
			}
		})
	}
	wg.Wait()
}

func TestCacheGetAllocatesNothing(t *testing.T) {
	c := NewCache(1024, 1<<20, maphash.MakeSeed())
	k := Key{Plan: "lcr", Edition: 7, Group: "cust-trunks", Number: "+12025550123"}
	c.Put(start, k, entry("x", start, time.Minute, 1))
	if n := testing.AllocsPerRun(100, func() { c.Get(k, start) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCacheGet(b *testing.B) {
	c := NewCache(DefaultEntries, DefaultBytes, maphash.MakeSeed())
	keys := make([]Key, DefaultEntries)
	for i := range keys {
		keys[i] = Key{Plan: "lcr", Edition: 7, Group: "cust-trunks", Number: fmt.Sprintf("+1202%07d", i)}
		c.Put(start, keys[i], entry("x", start, time.Minute, 300))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c.Get(keys[i%len(keys)], start)
		i += 7919
	}
}

func BenchmarkParse(b *testing.B) {
	body := []byte(`{"routes":[{"carrier_id":"carrier-a","gateway_group":"carrier-a","rate":0.0042,"headers":{"X-Account":"42"}},{"carrier_id":"carrier-b","gateway_group":"carrier-b","rate":0.005},{"carrier_id":"carrier-c","gateway_group":"carrier-c","rate":0.006}],"cache_ttl_secs":300}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(body); err != nil {
			b.Fatal(err)
		}
	}
}
