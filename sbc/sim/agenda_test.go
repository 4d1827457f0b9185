package sim

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

type appointment struct {
	due
	id int
}

func (a *appointment) when() *due { return &a.due }

func TestAgendaAgainstASortedModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := time.Unix(0, 0)
		var a agenda[*appointment]
		model := map[*appointment]int{}
		pool := make([]*appointment, 20)
		for i := range pool {
			pool[i] = &appointment{id: i}
		}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			e := rapid.SampledFrom(pool).Draw(t, "entry")
			if rapid.Bool().Draw(t, "remove") {
				a.set(e, time.Time{})
				delete(model, e)
			} else {
				at := rapid.IntRange(1, 50).Draw(t, "at")
				a.set(e, start.Add(time.Duration(at)))
				model[e] = at
			}
			earliest := 0
			for _, at := range model {
				if earliest == 0 || at < earliest {
					earliest = at
				}
			}
			if got := a.next(); (earliest == 0) != got.IsZero() || earliest != 0 && got.Sub(start) != time.Duration(earliest) {
				t.Fatalf("next %v, want %d", got, earliest)
			}
		}
		last := 0
		for {
			e, ok := a.pop(start.Add(time.Hour))
			if !ok {
				break
			}
			if model[e] < last {
				t.Fatalf("popped %d after %d", model[e], last)
			}
			last = model[e]
			delete(model, e)
		}
		if len(model) != 0 {
			t.Fatalf("%d entries lost", len(model))
		}
	})
}
