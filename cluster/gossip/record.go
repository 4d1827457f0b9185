package gossip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Bounds of a record: it must fit into one packet with its envelope.
const (
	MaxKey     = 255
	MaxPayload = 512
)

// recordsVersion starts every batch of records.
const recordsVersion = 1

// ErrRecords is returned for octets that are no batch of records.
var ErrRecords = errors.New("gossip: malformed records")

// Record is what one observer says under one key.
type Record struct {
	Key      string
	Observer string // name of the node that made it
	Boot     uint64 // boot number of the observer
	Seq      uint64 // rises with each record of this boot
	// Payload is opaque; empty means that the observer withdraws what it said.
	Payload []byte
	// At is when the record was made, by the receiver's clock: the age travels, so
	// skewed clocks do not matter.
	At time.Time
}

// newer reports whether r replaces o, a record of the same key and observer.
func (r *Record) newer(o *Record) bool {
	if r.Boot != o.Boot {
		return r.Boot > o.Boot
	}
	return r.Seq > o.Seq
}

// check reports a record that cannot travel.
func (r *Record) check() error {
	if r.Key == "" || len(r.Key) > MaxKey || r.Observer == "" || len(r.Observer) > 255 || len(r.Payload) > MaxPayload {
		return fmt.Errorf("gossip: record %q of %q with %d octets is outside the bounds", r.Key, r.Observer, len(r.Payload))
	}
	return nil
}

// append adds the encoded record, without the batch's version, to dst.
func (r *Record) append(dst []byte, now time.Time) []byte {
	dst = append(dst, byte(len(r.Key)))
	dst = append(dst, r.Key...)
	dst = append(dst, byte(len(r.Observer)))
	dst = append(dst, r.Observer...)
	dst = binary.AppendUvarint(dst, r.Boot)
	dst = binary.AppendUvarint(dst, r.Seq)
	age := max(now.Sub(r.At), 0)
	dst = binary.AppendUvarint(dst, uint64((age+time.Millisecond-1)/time.Millisecond))
	dst = binary.AppendUvarint(dst, uint64(len(r.Payload)))
	return append(dst, r.Payload...)
}

// appendBatch adds a whole batch to dst.
func appendBatch(dst []byte, now time.Time, records ...*Record) []byte {
	dst = append(dst, recordsVersion)
	for _, r := range records {
		dst = r.append(dst, now)
	}
	return dst
}

// parseBatch reads a batch and gives each record to take; the payload shares b's
// memory. What a fault follows was given before.
func parseBatch(b []byte, now time.Time, take func(Record)) error {
	if len(b) == 0 || b[0] != recordsVersion {
		return fmt.Errorf("%w: unknown version", ErrRecords)
	}
	p := parser{b: b[1:]}
	for len(p.b) > 0 {
		r := Record{Key: string(p.short()), Observer: string(p.short()), Boot: p.number(), Seq: p.number()}
		age := p.number()
		r.Payload = p.take(p.number())
		// An age above some years would overflow a duration; it is forgotten anyway.
		r.At = now.Add(-time.Duration(min(age, 1<<40)) * time.Millisecond)
		if p.bad || r.check() != nil {
			return ErrRecords
		}
		take(r)
	}
	return nil
}

// parser takes fields off a batch; after the first fault all is empty.
type parser struct {
	b   []byte
	bad bool
}

func (p *parser) short() []byte {
	if len(p.b) == 0 {
		p.bad = true
		return nil
	}
	n := p.b[0]
	p.b = p.b[1:]
	return p.take(uint64(n))
}

func (p *parser) number() uint64 {
	v, n := binary.Uvarint(p.b)
	if n <= 0 {
		p.bad, p.b = true, nil
		return 0
	}
	p.b = p.b[n:]
	return v
}

func (p *parser) take(n uint64) []byte {
	if n > uint64(len(p.b)) {
		p.bad, p.b = true, nil
		return nil
	}
	v := p.b[:n:n]
	p.b = p.b[n:]
	return v
}
