package tally

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
)

// version of the form of what is told.
const version = 1

// maxCount bounds each number that another process tells.
const maxCount = 1 << 40

var (
	errTold = errors.New("tally: malformed counts")
	errKey  = errors.New("tally: no such thing is counted")
)

// Spread calls tell for each key of which there is something new: the sums of this
// node's windows, or nil when they have run empty. What tell does not take is told again.
func (b *Board) Spread(now time.Time, tell func(key string, value []byte) error) (untold int) {
	for k, s := range b.seats {
		value := s.append(nil, now)
		if bytes.Equal(value, s.told) {
			b.tidy(k, s)
			continue
		}
		if err := tell(k.text(), value); err != nil {
			untold++
			continue
		}
		s.told = value
	}
	return untold
}

// tidy forgets a key of which nobody knows anything any more.
func (b *Board) tidy(k Key, s *seat) {
	if s.told == nil && len(s.others) == 0 {
		delete(b.seats, k)
		b.count[k.Scope]--
	}
}

// append writes this node's sums; nil when there is nothing.
func (s *seat) append(dst []byte, now time.Time) []byte {
	if s.rings[Day].sum(now, Day) == (Sum{}) {
		return nil
	}
	dst = append(dst, version)
	for w := range windows {
		t := s.rings[w].sum(now, w)
		for _, v := range [...]uint64{t.Attempts, t.Answered, t.Delivered, t.Rang, t.Waited, t.Ended, t.Seconds} {
			dst = binary.AppendUvarint(dst, v)
		}
	}
	return dst
}

func decode(value []byte) (sums [windows]Sum, err error) {
	r := octets.Read(value)
	if r.Octet() != version {
		return sums, errTold
	}
	for w := range sums {
		t := &sums[w]
		for _, v := range [...]*uint64{&t.Attempts, &t.Answered, &t.Delivered, &t.Rang, &t.Waited, &t.Ended, &t.Seconds} {
			*v = min(r.Number(), maxCount)
		}
	}
	if r.Bad() {
		return sums, errTold
	}
	return sums, nil
}

// Heard takes what another process told of a key; no value means that it tells nothing any
// more, or is gone.
func (b *Board) Heard(process, key string, value []byte) error {
	k, ok := parseKey(key)
	if !ok {
		return errKey
	}
	if len(value) == 0 {
		if s := b.seats[k]; s != nil {
			delete(s.others, process)
		}
		return nil
	}
	sums, err := decode(value)
	if err != nil {
		return err
	}
	b.seat(k).others[process] = sums
	return nil
}
