package linear

import (
	"testing"
	"time"
)

// op is one line of a history: who, from when to when, what, and the answer.
type op struct {
	client, asked, answered int
	change                  Change
	outcome                 Outcome
}

func made(n uint64) Outcome     { return Outcome{Generation: 1, Revision: n} }
func conflict(n uint64) Outcome { return Outcome{Conflict: true, Revision: n} }

func TestCheck(t *testing.T) {
	read := Change{Document: "r", Expect: new(uint64(Impossible))}
	for name, c := range map[string]struct {
		ops []op
		ok  bool
	}{
		"nothing": {nil, true},
		"one after the other": {[]op{
			{0, 1, 2, Change{Document: "a"}, made(1)}, {1, 3, 4, Change{Document: "b", Expect: new(uint64(1))}, made(2)}, {0, 5, 6, read, conflict(2)},
		}, true},
		"both compare-and-set succeed": {[]op{
			{0, 1, 2, Change{Document: "a"}, made(1)}, {0, 3, 9, Change{Document: "b", Expect: new(uint64(1))}, made(2)}, {1, 3, 9, Change{Document: "c", Expect: new(uint64(1))}, made(2)},
		}, false},
		"an acknowledged change is lost": {[]op{
			{0, 1, 2, Change{Document: "a"}, made(1)}, {0, 3, 4, Change{Document: "b"}, made(2)}, {1, 5, 6, read, conflict(1)},
		}, false},
		"a read of the past": {[]op{
			{0, 1, 2, Change{Document: "a"}, made(1)}, {0, 3, 4, Change{Document: "b"}, made(2)}, {1, 3, 6, read, conflict(1)},
		}, true},
		"an unknown outcome shows late": {[]op{
			{0, 1, 2, Change{Document: "a"}, made(1)},
			{0, 3, 4, Change{Document: "b"}, Outcome{Unknown: true}},
			{1, 5, 6, read, conflict(1)},
			{1, 7, 8, read, conflict(2)},
		}, true},
		"and cannot be taken back": {[]op{
			{0, 1, 2, Change{Document: "a"}, made(1)},
			{0, 3, 4, Change{Document: "b"}, Outcome{Unknown: true}},
			{1, 5, 6, read, conflict(2)},
			{1, 7, 8, read, conflict(1)},
		}, false},
		"an equal document makes no revision": {[]op{
			{0, 1, 2, Change{Document: "a"}, made(1)}, {0, 3, 4, Change{Document: "a"}, made(1)},
		}, true},
		"a revision is skipped":       {[]op{{0, 1, 2, Change{Document: "a"}, made(2)}}, false},
		"a conflict without a reason": {[]op{{0, 1, 2, Change{Document: "a"}, conflict(0)}}, false},
	} {
		h := new(History)
		begin := time.Unix(1000, 0)
		for _, o := range c.ops {
			at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
			h.Add(o.client, o.change, at(o.asked), o.outcome, at(o.answered))
		}
		if err := h.Check(Start{Generation: 1}, time.Minute); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
