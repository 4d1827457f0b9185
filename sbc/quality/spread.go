package quality

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// told is what another process tells of one member.
type told struct {
	print uint64          // of the demands that its bar is of
	from  time.Time       // zero for none
	bar   *trunkgroup.Bar // nil for none
	parts []part
}

// Spread calls tell for each member of which there is something new: what this node
// tells of it, or nil when nothing is left. What tell does not take is told again. tell
// must not call the Watch.
func (w *Watch) Spread(now time.Time, tell func(member string, value []byte) error) (untold int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key := range w.gone {
		if err := tell(key, nil); err != nil {
			untold++
			continue
		}
		delete(w.gone, key)
	}
	w.each(func(key string, s *seat) {
		if !s.dirty.Load() && !s.known {
			return
		}
		// From here on a count is noted again, so that none is missed.
		news := s.dirty.Swap(false)
		value := s.append(nil, now)
		if value != nil && !news || value == nil && !s.known {
			return
		}
		if err := tell(key, value); err != nil {
			untold++
			s.dirty.Store(true)
			return
		}
		s.known = value != nil
	})
	return untold
}

// version of the form of what is told.
const version = 1

// Bounds of what is told.
const (
	maxReason = 400
	maxAge    = uint64(48 * time.Hour / time.Millisecond)
)

var errTold = errors.New("quality: malformed counts")

// append writes what this node counted of a member, its bar and from when on it
// counts; nil when there is nothing. Times are milliseconds before now.
func (s *seat) append(dst []byte, now time.Time) []byte {
	r := s.ring
	var body []byte
	n := 0
	r.each(now, func(age int, p part) {
		n++
		body = append(body, byte(age))
		t := &p.tally
		for _, v := range [...]uint64{t.Attempts, t.Answered, t.Delivered, t.Short, t.Ended, t.Seconds} {
			body = binary.AppendUvarint(body, v)
		}
	})
	bar := s.bar.Load()
	if bar != nil && !now.Before(bar.Until) {
		bar = nil
	}
	from := s.from
	if now.Sub(from) > s.demand.Window {
		from = time.Time{}
	}
	if n == 0 && bar == nil && from.IsZero() {
		return nil
	}
	dst = append(dst, version)
	dst = binary.AppendUvarint(dst, fingerprint(s.demand))
	dst = appendAge(dst, now, from)
	if bar == nil {
		dst = append(dst, 0)
	} else {
		dst = appendAge(append(dst, 1), now, bar.Since)
		dst = binary.AppendUvarint(dst, uint64(bar.Until.Sub(now)/time.Millisecond))
		dst = octets.Append(dst, bar.Reason[:min(len(bar.Reason), maxReason)])
	}
	dst = binary.AppendUvarint(dst, uint64(r.slot/time.Millisecond))
	dst = binary.AppendUvarint(dst, uint64(now.Sub(time.Unix(0, r.at(now)*int64(r.slot)))/time.Millisecond))
	return append(append(dst, byte(n)), body...)
}

// appendAge writes how long ago something was, one more than its milliseconds; 0 for
// never.
func appendAge(dst []byte, now, at time.Time) []byte {
	if at.IsZero() {
		return append(dst, 0)
	}
	return binary.AppendUvarint(dst, 1+uint64(max(now.Sub(at), 0)/time.Millisecond))
}

func readAge(r *octets.Reader, now time.Time) time.Time {
	age := r.Number()
	if age == 0 || age > maxAge {
		return time.Time{}
	}
	return now.Add(-time.Duration(age-1) * time.Millisecond)
}

// decode reads what another process told at a time.
func decode(b []byte, at time.Time) (t told, err error) {
	r := octets.Read(b)
	if r.Octet() != version {
		return told{}, errTold
	}
	t.print = r.Number()
	t.from = readAge(&r, at)
	if r.Octet() == 1 {
		bar := &trunkgroup.Bar{Since: readAge(&r, at)}
		bar.Until = at.Add(time.Duration(min(r.Number(), maxAge)) * time.Millisecond)
		bar.Reason = r.Text(maxReason)
		t.bar = bar
	}
	slot := min(r.Number(), maxAge)
	into := min(r.Number(), maxAge)
	for range r.Octet() {
		age := uint64(r.Octet())
		var v [counters]uint64
		for i := range v {
			v[i] = min(r.Number(), maxCount)
		}
		if r.Bad() || age >= slots {
			return told{}, errTold
		}
		t.parts = append(t.parts, part{
			at.Add(-time.Duration(into+age*slot) * time.Millisecond),
			trunkgroup.CallTally{Attempts: v[0], Answered: v[1], Delivered: v[2], Short: v[3], Ended: v[4], Seconds: v[5]},
		})
	}
	if r.Bad() || len(t.parts) > slots || t.bar != nil && t.bar.Since.IsZero() {
		return told{}, errTold
	}
	return t, nil
}

// Heard takes what another process told of a member, at a time of this node's clock;
// no value means that it tells nothing any more, or is gone.
func (w *Watch) Heard(process, member string, value []byte, at time.Time) error {
	if w == nil {
		return nil
	}
	var t told
	if len(value) > 0 {
		var err error
		if t, err = decode(value, at); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.seats[member]
	if s == nil {
		s = w.carrier(member)
	}
	if s != nil {
		put(s.others, process, t, len(value) > 0)
		return nil
	}
	others := w.early[member]
	if others == nil {
		others = make(map[string]told)
	}
	put(others, process, t, len(value) > 0)
	w.remember(member, others)
	return nil
}

func put(others map[string]told, process string, t told, is bool) {
	if is {
		others[process] = t
	} else {
		delete(others, process)
	}
}

// remember keeps what others tell of a member that the table does not have: they may
// have a newer one. The lock is held.
func (w *Watch) remember(member string, others map[string]told) {
	switch {
	case len(others) == 0:
		delete(w.early, member)
	case len(w.early) < maxEarly || w.early[member] != nil:
		w.early[member] = others
	}
}

// fingerprint tells demands apart.
func fingerprint(q trunkgroup.Quality) uint64 {
	h := fnv.New64a()
	var b [8]byte
	for _, v := range [...]int64{
		int64(q.MinAnswerRatio), int64(q.MaxShortCalls), int64(q.ShortCall), int64(q.Window), int64(q.MinSamples), int64(q.Cooldown),
	} {
		binary.BigEndian.PutUint64(b[:], uint64(v))
		_, _ = h.Write(b[:])
	}
	if q.MinEffectiveness != 0 { // else as earlier versions have it
		binary.BigEndian.PutUint64(b[:], uint64(q.MinEffectiveness))
		_, _ = h.Write(b[:])
	}
	return h.Sum64()
}
