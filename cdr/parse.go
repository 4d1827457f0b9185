package cdr

import (
	"encoding/binary"
	"math"
	"net/netip"
	"time"
)

// ParseBinary reads what AppendBinary wrote, of this version of the program or
// another one. The record holds nothing of b.
func ParseBinary(b []byte) (*Record, error) {
	if len(b) == 0 || b[0] != binaryVersion {
		return nil, ErrBinary
	}
	r := new(Record)
	texts := r.texts()
	err := eachField(b[1:], func(field uint64, v []byte) error {
		for _, t := range texts {
			if uint64(t.field) == field {
				*t.value = string(v)
				return nil
			}
		}
		return r.parseField(field, v)
	})
	if err != nil || r.CallID == "" || r.Kind == "" {
		return nil, ErrBinary
	}
	return r, nil
}

// parseField reads a field that is no string. An unknown one is skipped.
func (r *Record) parseField(field uint64, v []byte) error {
	f := value{v, nil}
	switch field {
	case fieldFlags:
		n := f.number()
		r.Final, r.HandedOff, r.Test = n&flagFinal != 0, n&flagHandedOff != 0, n&flagTest != 0
	case fieldVersion:
		r.Version = f.number()
	case fieldSIPCode:
		r.SIPCode = f.number()
	case fieldHangupQ850:
		r.HangupQ850 = f.number()
	case fieldPDD:
		r.PDD = f.duration()
	case fieldStart:
		r.Start = f.instant()
	case fieldProgress:
		r.Progress = f.instant()
	case fieldAnswer:
		r.Answer = f.instant()
	case fieldEnd:
		r.End = f.instant()
	case fieldSource:
		r.Source = f.address()
	case fieldLocal:
		r.Local = f.address()
	case fieldAttempt:
		var a Attempt
		if err := eachField(v, a.parseField); err != nil {
			return err
		}
		r.Attempts = append(r.Attempts, a)
	default:
		return r.parsePrice(field, v)
	}
	return f.err
}

func (r *Record) parsePrice(field uint64, v []byte) error {
	f := value{v, nil}
	switch field {
	case fieldRate:
		r.Rate, r.Rated = f.float(), true
	case fieldBillingIncrement:
		r.BillingIncrement = f.seconds()
	case fieldMinDuration:
		r.MinDuration = f.seconds()
	case fieldRoResult:
		r.RoResult = f.seconds()
	case fieldFurther:
		var further Field
		if err := eachField(v, further.parseField); err != nil {
			return err
		}
		r.Fields = append(r.Fields, further)
	}
	return f.err
}

func (f *Field) parseField(field uint64, v []byte) error {
	switch field {
	case furtherName:
		f.Name = string(v)
	case furtherValue:
		f.Value = string(v)
	}
	return nil
}

func (a *Attempt) parseField(field uint64, v []byte) error {
	f := value{v, nil}
	switch field {
	case attemptN:
		a.N = f.number()
	case attemptGroup:
		a.Group = string(v)
	case attemptMember:
		a.Member = string(v)
	case attemptSite:
		a.Site = string(v)
	case attemptFlags:
		n := f.number()
		a.Dialed, a.Progress = n&flagDialed != 0, n&flagProgress != 0
	case attemptCode:
		a.Code = f.number()
	case attemptCause:
		a.Cause = string(v)
	case attemptElapsed:
		a.Elapsed = f.duration()
	case attemptEgressCallID:
		a.EgressCallID = string(v)
	case attemptAddress:
		a.Address = string(v)
	case attemptCarrierID:
		a.CarrierID = string(v)
	}
	return f.err
}

// eachField calls fn with every field of an encoding.
func eachField(b []byte, fn func(field uint64, v []byte) error) error {
	for len(b) > 0 {
		field, n := binary.Uvarint(b)
		if n <= 0 {
			return ErrBinary
		}
		b = b[n:]
		length, n := binary.Uvarint(b)
		if n <= 0 || length > uint64(len(b)-n) {
			return ErrBinary
		}
		v := b[n : n+int(length)]
		b = b[n+int(length):]
		if err := fn(field, v); err != nil {
			return err
		}
	}
	return nil
}

// value is the value of a field that is being read.
type value struct {
	b   []byte
	err error
}

func (v *value) number() int {
	n, size := binary.Uvarint(v.b)
	if size <= 0 || n > math.MaxInt32 {
		v.err = ErrBinary
		return 0
	}
	return int(n)
}

func (v *value) duration() time.Duration { return time.Duration(v.number()) * time.Millisecond }

func (v *value) seconds() uint32 {
	n, size := binary.Uvarint(v.b)
	if size <= 0 || n > math.MaxUint32 {
		v.err = ErrBinary
		return 0
	}
	return uint32(n)
}

// float reads a number that is one: what is infinite, or none, prices nothing.
func (v *value) float() float64 {
	if len(v.b) != 8 {
		v.err = ErrBinary
		return 0
	}
	n := math.Float64frombits(binary.BigEndian.Uint64(v.b))
	if math.IsNaN(n) || math.IsInf(n, 0) {
		v.err = ErrBinary
		return 0
	}
	return n
}

func (v *value) instant() time.Time {
	ms, size := binary.Varint(v.b)
	if size <= 0 {
		v.err = ErrBinary
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

func (v *value) address() (a netip.AddrPort) {
	if err := a.UnmarshalBinary(v.b); err != nil {
		v.err = ErrBinary
	}
	return a
}
