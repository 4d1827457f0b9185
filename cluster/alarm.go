package cluster

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Names of alarms.
const (
	// AlarmForeign: a document of another cluster was offered and refused.
	AlarmForeign = "config_foreign_cluster"
	// AlarmLower: the cluster's document is older than the running table.
	AlarmLower = "config_lower_version"
	// AlarmCompile: the cluster's document cannot be compiled by this build.
	AlarmCompile = "config_compile"
	// AlarmSave: the last known good table cannot be written to disk.
	AlarmSave = "config_save"
	// AlarmNumbersSave: the number table cannot be written to disk, or read from it.
	AlarmNumbersSave = "numbers_save"
	// AlarmNumbersLower: the cluster's number table is older than the running one, or another
	// one of the same edition.
	AlarmNumbersLower = "numbers_lower_version"
	// AlarmNumbersOrphaned: rows of the number table belong to groups that the document has not.
	AlarmNumbersOrphaned = "numbers_orphaned"
	// AlarmDecksSave: the rate decks cannot be written to disk, or read from it.
	AlarmDecksSave = "decks_save"
	// AlarmDecksLower: the cluster's rate decks are older than the running ones, or others of
	// the same edition.
	AlarmDecksLower = "decks_lower_version"
	// AlarmHalted: a command of a later build stopped the state machine.
	AlarmHalted = "config_halted"
	// AlarmCanary: this node went back from a canary to the revision before it (DEC-25).
	AlarmCanary = "config_canary_breach"
	// AlarmSuperseded: the cluster was recovered without this node, which is out of the
	// consensus until it rejoins (DEC-14).
	AlarmSuperseded = "config_superseded"
	// AlarmStore: the configuration log on disk is damaged or cannot be written; this
	// node is out of the consensus.
	AlarmStore = "config_store"
	// AlarmBlank: this node lost its log, may therefore not vote, and there is no leader.
	AlarmBlank = "config_blank"
	// AlarmBoot: peers have seen a later boot of this node; it must be restarted.
	AlarmBoot = "boot_stale"
	// AlarmClock: the clocks of this node and of a peer differ by more than two
	// seconds, so digest nonces of one may be stale at the other (DEC-25).
	AlarmClock = "clock_offset"
)

// Alarm is something that an operator must act on.
type Alarm struct {
	Name   string
	Active bool
	Detail string
	Since  time.Time // when it was raised, or cleared
}

// alarms holds those that are active and tells of each change.
type alarms struct {
	mu     sync.Mutex
	active map[string]Alarm
	tell   []func(Alarm)
}

// raise sets an alarm; a repetition with the same detail tells nobody.
func (a *alarms) raise(name, detail string) {
	a.mu.Lock()
	old, ok := a.active[name]
	if ok && old.Detail == detail {
		a.mu.Unlock()
		return
	}
	now := Alarm{Name: name, Active: true, Detail: detail, Since: time.Now()}
	if ok {
		now.Since = old.Since
	}
	if a.active == nil {
		a.active = make(map[string]Alarm)
	}
	a.active[name] = now
	a.mu.Unlock()
	for _, f := range a.tell {
		f(now)
	}
}

// clear takes an alarm back.
func (a *alarms) clear(name string) {
	a.mu.Lock()
	_, ok := a.active[name]
	delete(a.active, name)
	a.mu.Unlock()
	if !ok {
		return
	}
	for _, f := range a.tell {
		f(Alarm{Name: name, Since: time.Now()})
	}
}

// list returns the active alarms by name.
func (a *alarms) list() []Alarm {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]Alarm, 0, len(a.active))
	for _, v := range a.active {
		list = append(list, v)
	}
	slices.SortFunc(list, func(x, y Alarm) int { return strings.Compare(x.Name, y.Name) })
	return list
}
