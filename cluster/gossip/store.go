package gossip

import (
	"bytes"
	"time"
)

// Bounds of the store.
const (
	// MaxRecords bounds the memory that peers can make a node spend.
	MaxRecords = 1 << 18
	// Lifetime is how long a record lives that its observer does not renew.
	Lifetime = time.Hour
)

// recordID names what one observer says under one key.
type recordID struct{ key, observer string }

// store holds the latest record per key and observer. Merging is commutative,
// associative and idempotent. It is not safe for concurrent use.
type store struct {
	records map[recordID]*Record
	refused uint64 // records that did not fit
}

func newStore() *store { return &store{records: make(map[recordID]*Record)} }

// merge takes a record and reports whether it is news. The payload is copied.
func (s *store) merge(r Record, now time.Time) (*Record, bool) {
	if now.Sub(r.At) >= Lifetime {
		return nil, false
	}
	id := recordID{r.Key, r.Observer}
	have, ok := s.records[id]
	if ok && !r.newer(have) {
		return nil, false
	}
	if !ok && len(s.records) >= MaxRecords {
		s.refused++
		return nil, false
	}
	kept := r
	kept.Payload = bytes.Clone(r.Payload)
	s.records[id] = &kept
	return &kept, true
}

// expire forgets what was not renewed.
func (s *store) expire(now time.Time) {
	for id, r := range s.records {
		if now.Sub(r.At) >= Lifetime {
			delete(s.records, id)
		}
	}
}

// encode returns the whole store as one batch.
func (s *store) encode(now time.Time) []byte {
	dst := []byte{recordsVersion}
	for _, r := range s.records {
		dst = r.append(dst, now)
	}
	return dst
}
