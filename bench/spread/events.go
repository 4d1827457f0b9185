//go:build linux

package main

import (
	"fmt"
	"slices"
)

// placer says which member each key goes to, by the member's number. A placer
// begins with all its members up.
type placer interface {
	name() string
	place(keys []string) ([]int, error)
	// down marks a member as down, or up again.
	down(member int, yes bool) error
	// members gives it other members, by their numbers.
	members(numbers []int) error
}

// event is something that happens to a group of n members; the victim is the
// middle one.
type event struct {
	name string
	do   func(p placer, n int) error
	undo func(p placer, n int) error
	// mustMove tells whether a key that was at a member has to move.
	mustMove func(member, n int) bool
	// wins tells that a member is new: it takes keys, the others lose some.
	wins bool
}

func victim(n int) int { return n / 2 }

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func without(n, gone int) []int {
	return slices.DeleteFunc(upTo(n), func(i int) bool { return i == gone })
}

func isVictim(member, n int) bool { return member == victim(n) }

var events = []event{
	{
		name:     "a member goes down",
		do:       func(p placer, n int) error { return p.down(victim(n), true) },
		undo:     func(p placer, n int) error { return p.down(victim(n), false) },
		mustMove: isVictim,
	},
	{
		name:     "a member is taken out of the list",
		do:       func(p placer, n int) error { return p.members(without(n, victim(n))) },
		undo:     func(p placer, n int) error { return p.members(upTo(n)) },
		mustMove: isVictim,
	},
	{
		name: "it went down and is back",
		do: func(p placer, n int) error {
			if err := p.down(victim(n), true); err != nil {
				return err
			}
			return p.down(victim(n), false)
		},
		undo:     func(placer, int) error { return nil },
		mustMove: func(int, int) bool { return false },
	},
	{
		name:     "a member is added",
		do:       func(p placer, n int) error { return p.members(upTo(n + 1)) },
		undo:     func(p placer, n int) error { return p.members(upTo(n)) },
		mustMove: func(int, int) bool { return false },
		wins:     true,
	},
}

// moves is what an event did to the keys.
type moves struct {
	keys, moved, needless int
	// least and most are the survivors' changes of load, in percent of before.
	least, most float64
}

// String is the row's last three cells.
func (m moves) String() string {
	return fmt.Sprintf("%.2f %% | %.2f %% | %+.1f %% to %+.1f %%", m.share(m.moved), m.share(m.needless), m.least, m.most)
}

func (m moves) share(n int) float64 { return 100 * float64(n) / float64(m.keys) }

// measure places all keys before and after an event, and undoes it.
func measure(p placer, e event, keys []string, n int) (moves, error) {
	before, err := p.place(keys)
	if err != nil {
		return moves{}, err
	}
	if err := e.do(p, n); err != nil {
		return moves{}, err
	}
	after, err := p.place(keys)
	if err != nil {
		return moves{}, err
	}
	return compare(e, before, after, n), e.undo(p, n)
}

// compare counts what moved. A key that goes to a new member had to.
func compare(e event, before, after []int, n int) moves {
	m := moves{keys: len(before)}
	was, is := make([]int, n+1), make([]int, n+1)
	for i := range before {
		was[before[i]]++
		is[after[i]]++
		if before[i] == after[i] {
			continue
		}
		m.moved++
		if toNew := e.wins && after[i] == n; !toNew && !e.mustMove(before[i], n) {
			m.needless++
		}
	}
	first := true
	for i := range n {
		if e.mustMove(i, n) {
			continue
		}
		change := 100 * (float64(is[i])/float64(was[i]) - 1)
		if first {
			m.least, m.most, first = change, change, false
		}
		m.least, m.most = min(m.least, change), max(m.most, change)
	}
	return m
}
