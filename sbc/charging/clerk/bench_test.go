package clerk

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/sbc/charging/spool"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// BenchmarkCall is what the charging of a call costs its shard: it says that the call begins, is answered and
// ends, and goes on. The clerk's own work is on its goroutine, which does not run here.
func BenchmarkCall(b *testing.B) {
	s, err := spool.Open(b.TempDir(), 100)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	c := New(Config{Host: "dal-1", Boot: 1, Spool: s})
	rules := &trunkgroup.Charging{Online: true, Offline: true, Requested: 30 * time.Second}
	call := charging.Call{ID: "01JDX3Q2M8Y6D5V0K7R9T1W4ZN", Caller: "+12145550100", Called: "+13125550100", Group: "acme-out", Begin: time.Unix(1_700_000_000, 0)}
	tell := func(Notice) {}
	b.ReportAllocs()
	for b.Loop() {
		t := c.Begin(rules, call, tell)
		c.Connect(t.Key, call)
		c.End(t.Key, call)
		c.inbox = c.inbox[:0]
	}
}
