package cdrsink

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/cdr/profile"
	"github.com/tandem-sbc/tandem/monitor/cdrlog"
)

// batch is what is passed on at once.
type batch struct {
	first, last uint64 // numbers of its records
	count       int
	text        []byte      // the records in the sink's words
	ends        []int       // where each of them ends in text
	at          []time.Time // when the call of each ended
	after       cdrlog.Position
	unusable    uint64 // records that could not be read or written
}

// messages calls fn with each record of the batch.
func (b *batch) messages(fn func(text []byte, at time.Time) error) error {
	begin := 0
	for i, end := range b.ends {
		if err := fn(b.text[begin:end], b.at[i]); err != nil {
			return err
		}
		begin = end
	}
	return nil
}

// fill reads the next batch: at most limit records, and none behind the number through
// when that is not 0. It is false when the spool holds nothing more.
func (s *sink) fill(limit int, through uint64) (bool, error) {
	b := &s.batch
	*b = batch{text: b.text[:0], ends: b.ends[:0], at: b.at[:0], after: s.tail.Position()}
	for b.count < limit && len(b.text) < batchBytes && (through == 0 || b.after.Next <= through) {
		line, seq, err := s.tail.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, err
		}
		s.add(line, seq)
		b.after = s.tail.Position()
	}
	return b.after != s.place.At, nil
}

// add puts a record into the batch, if it is for this sink.
func (s *sink) add(line []byte, seq uint64) {
	b := &s.batch
	end, ok := s.encode(line, seq)
	if !ok {
		return
	}
	if b.count == 0 {
		b.first = seq
	}
	b.last = seq
	b.count++
	b.ends = append(b.ends, len(b.text))
	b.at = append(b.at, end)
}

// encode appends a record in the sink's words, and says when its call ended. It is false
// for one that is not for this sink, or cannot be read.
func (s *sink) encode(line []byte, seq uint64) (time.Time, bool) {
	b := &s.batch
	if s.raw() {
		var r struct {
			End time.Time `json:"end_time"`
		}
		if json.Unmarshal(line, &r) != nil {
			s.spoil(seq)
			return time.Time{}, false
		}
		b.text = append(append(b.text, line...), '\n')
		return r.End, true
	}
	r, _, err := cdr.ParseJSON(line)
	if err != nil {
		s.spoil(seq)
		return time.Time{}, false
	}
	if !s.cfg.takes(r.Kind) {
		return time.Time{}, false
	}
	switch {
	case s.cfg.Format == CSV:
		b.text = s.cfg.Profile.AppendCSV(b.text, r, seq)
	case s.cfg.Profile.Name == profile.Tandem:
		b.text = append(append(b.text, line...), '\n')
	default:
		b.text = append(s.cfg.Profile.AppendJSON(b.text, r, seq), '\n')
	}
	return r.End, true
}

// spoil notes a record that cannot be passed on at all.
func (s *sink) spoil(seq uint64) {
	s.batch.unusable++
	s.log.Error("a call record cannot be passed on", "seq", seq)
}

// raw reports whether every line is passed on as it stands in the spool.
func (s *sink) raw() bool {
	return s.cfg.Format != CSV && s.cfg.Profile.Name == profile.Tandem && len(s.cfg.Kinds) == 0
}

func (c *Config) takes(k cdr.Kind) bool {
	if len(c.Kinds) > 0 {
		return slices.Contains(c.Kinds, k)
	}
	return c.Profile.Takes(k)
}

// array makes one JSON array of lines.
func array(dst, lines []byte) []byte {
	dst = append(dst, '[')
	first := true
	for line := range bytes.Lines(lines) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, bytes.TrimSuffix(line, []byte{'\n'})...)
	}
	return append(dst, ']')
}
