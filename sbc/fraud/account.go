package fraud

import (
	"encoding/binary"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	hourSlot = 5 * time.Minute
	daySlot  = time.Hour
	day      = 24 * time.Hour
	// shortSlots is how finely the time of a burst is divided.
	shortSlots = 10
)

// maxRunning bounds what one process may tell of its calls that are up, so that no sum
// of such numbers begins anew at zero.
const maxRunning = 1 << 40

// counts are the sums of one rule, calls and seconds.
type counts struct {
	hourCalls, dayCalls, hourSeconds, daySeconds uint64
}

// meter counts one rule on this node.
type meter struct {
	hourCalls, dayCalls, hourSeconds, daySeconds *ring
	// Calls that are up: how many, and the sum of the times of their answers in
	// Unix seconds.
	up      atomic.Int64
	answers atomic.Int64
}

func newMeter() *meter {
	return &meter{
		hourCalls: newRing(time.Hour, hourSlot), dayCalls: newRing(day, daySlot),
		hourSeconds: newRing(time.Hour, hourSlot), daySeconds: newRing(day, daySlot),
	}
}

func (m *meter) rings() [4]*ring {
	return [4]*ring{m.hourCalls, m.dayCalls, m.hourSeconds, m.daySeconds}
}

func (m *meter) called(now time.Time) {
	m.hourCalls.add(now, 1)
	m.dayCalls.add(now, 1)
}

func (m *meter) talked(now time.Time, d time.Duration) {
	seconds := uint32(min(max(d, 0)/time.Second+1, 1<<31))
	m.hourSeconds.add(now, seconds)
	m.daySeconds.add(now, seconds)
}

// running is how many seconds the calls that are up have lasted.
func (m *meter) running(now time.Time) uint64 {
	up, answers := m.up.Load(), m.answers.Load()
	return uint64(max(up*now.Unix()-answers, 0))
}

func (m *meter) sums(now time.Time) counts {
	running := m.running(now)
	return counts{
		m.hourCalls.sum(now), m.dayCalls.sum(now), m.hourSeconds.sum(now) + min(running, uint64(m.up.Load()*3600)), m.daySeconds.sum(now) + running,
	}
}

// account is one customer under one table.
type account struct {
	rules  []*meter // as Fraud.Rules
	names  []string // of the rules
	short  *ring
	others atomic.Pointer[heard]
	*lasting
}

// lasting is what the accounts of a customer under one table after another share.
type lasting struct {
	dirty atomic.Bool // there is something to tell
	tripped
}

// heard is what other processes have counted of one customer.
type heard struct {
	rules []counts
	short uint64
}

// newAccount keeps the counts that an earlier table of the same customer had, of this
// process and of all others; nil for none. Calls that are up go on counting in the
// earlier one's meters.
func newAccount(f *trunkgroup.Fraud, was *account) *account {
	if was == nil {
		was = &account{short: &ring{}, lasting: &lasting{}}
		was.others.Store(&heard{})
	}
	a := &account{short: newRing(f.Short.Within, f.Short.Within/shortSlots), lasting: was.lasting}
	told, others := was.others.Load(), &heard{rules: make([]counts, len(f.Rules))}
	for i := range f.Rules {
		name, m := f.Rules[i].Name, newMeter()
		if j := slices.Index(was.names, name); j >= 0 {
			m, others.rules[i] = was.rules[j], told.rules[j]
		}
		a.rules, a.names = append(a.rules, m), append(a.names, name)
	}
	if was.short.slot == a.short.slot {
		a.short, others.short = was.short, told.short
	}
	a.others.Store(others)
	return a
}

// version of the form of an account's counts.
const version = 1

// Bounds of what is read of another process.
const (
	maxRules = 1 << 16
	maxName  = 1 << 16
)

// append writes this node's own counts.
func (a *account) append(dst []byte, now time.Time) []byte {
	dst = append(dst, version)
	dst = binary.AppendUvarint(dst, uint64(a.short.slot/time.Millisecond))
	dst = a.short.appendTo(dst, now)
	dst = binary.AppendUvarint(dst, uint64(len(a.rules)))
	for i, m := range a.rules {
		dst = octets.Append(dst, a.names[i])
		for _, r := range m.rings() {
			dst = r.appendTo(dst, now)
		}
		dst = binary.AppendUvarint(dst, m.running(now))
	}
	return dst
}

// read adds another process's counts to sums.
func (a *account) read(b []byte, now time.Time, sums *heard) error {
	r := octets.Read(b)
	if r.Octet() != version {
		return errCounts
	}
	slot, short := r.Number(), a.short.readSum(&r, now)
	if !r.Bad() && time.Duration(slot)*time.Millisecond == a.short.slot {
		sums.short += short
	}
	for range r.Int(maxRules) {
		if a.readRule(&r, now, sums); r.Bad() {
			break
		}
	}
	if r.Bad() {
		return errCounts
	}
	return nil
}

func (a *account) readRule(r *octets.Reader, now time.Time, sums *heard) {
	at := slices.Index(a.names, r.Text(maxName))
	var got [4]uint64
	for i, ring := range a.rules[0].rings() {
		got[i] = ring.readSum(r, now)
	}
	running := min(r.Number(), maxRunning)
	if r.Bad() || at < 0 { // a rule that this node's table does not have
		return
	}
	to := &sums.rules[at]
	to.hourCalls += got[0]
	to.dayCalls += got[1]
	to.hourSeconds += got[2] + running
	to.daySeconds += got[3] + running
}
