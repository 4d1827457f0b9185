package cdr

import (
	"encoding/binary"
	"errors"
	"math"
	"net/netip"
	"time"
)

// ErrBinary is returned for octets that are no encoded record.
var ErrBinary = errors.New("cdr: malformed record")

// binaryVersion starts every encoding. A field is a number, the length of its value,
// and the value; fields without a value are left out and unknown ones are skipped, so
// fields can be added and never change their number.
const binaryVersion = 1

// Numbers of the fields of a record.
const (
	fieldCallID = iota + 1
	fieldKind
	fieldVersion
	fieldFlags
	fieldClosedBy
	fieldCluster
	fieldNode
	fieldSite
	fieldEgressSite
	fieldDirection
	fieldCustomer
	fieldIngressGroup
	fieldIngressMember
	fieldEgressGroup
	fieldEgressMember
	fieldCaller
	fieldCallerRaw
	fieldCalled
	fieldCalledRaw
	fieldRN
	fieldTo
	fieldSIPCallID
	fieldEgressCallID
	fieldStart
	fieldProgress
	fieldAnswer
	fieldEnd
	fieldPDD
	fieldSIPCode
	fieldSIPReason
	fieldHangupCause
	fieldHangupQ850
	fieldHangupParty
	fieldSource
	fieldLocal
	fieldTransport
	fieldAuthUser
	fieldUserAgent
	fieldAttempt // once per attempt, in order
	fieldCarrierID
	fieldRouteSource
	fieldRate // the eight octets of the number, big end first; absent = no rate
	fieldCurrency
	fieldBillingIncrement
	fieldMinDuration
	fieldFurther // once per field, in order
	fieldRoSession
	fieldRfSession
	fieldRoResult
)

// Numbers of the fields of a further field.
const (
	furtherName = iota + 1
	furtherValue
)

// Numbers of the fields of an attempt.
const (
	attemptN = iota + 1
	attemptGroup
	attemptMember
	attemptSite
	attemptFlags
	attemptCode
	attemptCause
	attemptElapsed
	attemptEgressCallID
	attemptAddress
	attemptCarrierID
)

const (
	flagFinal = 1 << iota
	flagHandedOff
	flagTest
)

const (
	flagDialed = 1 << iota
	flagProgress
)

// text is a field of a record that is a string.
type text struct {
	field int
	value *string
}

func (r *Record) texts() [32]text {
	return [32]text{
		{fieldCallID, &r.CallID},
		{fieldKind, (*string)(&r.Kind)},
		{fieldClosedBy, &r.ClosedBy},
		{fieldCluster, &r.Cluster},
		{fieldNode, &r.Node},
		{fieldSite, &r.Site},
		{fieldEgressSite, &r.EgressSite},
		{fieldDirection, (*string)(&r.Direction)},
		{fieldCustomer, &r.Customer},
		{fieldIngressGroup, &r.IngressGroup},
		{fieldIngressMember, &r.IngressMember},
		{fieldEgressGroup, &r.EgressGroup},
		{fieldEgressMember, &r.EgressMember},
		{fieldCaller, &r.Caller},
		{fieldCallerRaw, &r.CallerRaw},
		{fieldCalled, &r.Called},
		{fieldCalledRaw, &r.CalledRaw},
		{fieldRN, &r.RN},
		{fieldTo, &r.To},
		{fieldSIPCallID, &r.SIPCallID},
		{fieldEgressCallID, &r.EgressCallID},
		{fieldSIPReason, &r.SIPReason},
		{fieldHangupCause, &r.HangupCause},
		{fieldHangupParty, (*string)(&r.HangupParty)},
		{fieldTransport, &r.Transport},
		{fieldAuthUser, &r.AuthUser},
		{fieldUserAgent, &r.UserAgent},
		{fieldCarrierID, &r.CarrierID},
		{fieldRoSession, &r.RoSession},
		{fieldRfSession, &r.RfSession},
		{fieldRouteSource, &r.RouteSource},
		{fieldCurrency, &r.Currency},
	}
}

// AppendBinary appends the record in the form in which nodes give each other the
// records of calls that are up (DEC-24). Times keep their milliseconds.
func (r *Record) AppendBinary(dst []byte) []byte {
	dst = append(dst, binaryVersion)
	for _, t := range r.texts() {
		if *t.value != "" {
			dst = appendField(dst, t.field, *t.value)
		}
	}
	var flags uint64
	if r.Final {
		flags |= flagFinal
	}
	if r.HandedOff {
		flags |= flagHandedOff
	}
	if r.Test {
		flags |= flagTest
	}
	dst = appendNumber(dst, fieldFlags, flags)
	dst = appendNumber(dst, fieldVersion, uint64(max(r.Version, 0)))
	dst = appendNumber(dst, fieldSIPCode, uint64(max(r.SIPCode, 0)))
	dst = appendNumber(dst, fieldHangupQ850, uint64(max(r.HangupQ850, 0)))
	dst = appendNumber(dst, fieldPDD, uint64(max(r.PDD.Milliseconds(), 0)))
	dst = appendInstant(dst, fieldStart, r.Start)
	dst = appendInstant(dst, fieldProgress, r.Progress)
	dst = appendInstant(dst, fieldAnswer, r.Answer)
	dst = appendInstant(dst, fieldEnd, r.End)
	dst = appendAddress(dst, fieldSource, r.Source)
	dst = appendAddress(dst, fieldLocal, r.Local)
	var scratch [256]byte
	for i := range r.Attempts {
		dst = appendField(dst, fieldAttempt, r.Attempts[i].appendBinary(scratch[:0]))
	}
	return r.appendPrice(dst)
}

// appendPrice appends what the route that won says of the call.
func (r *Record) appendPrice(dst []byte) []byte {
	if r.Rated {
		var b [8]byte
		dst = appendField(dst, fieldRate, binary.BigEndian.AppendUint64(b[:0], math.Float64bits(r.Rate)))
	}
	dst = appendNumber(dst, fieldBillingIncrement, uint64(r.BillingIncrement))
	dst = appendNumber(dst, fieldMinDuration, uint64(r.MinDuration))
	dst = appendNumber(dst, fieldRoResult, uint64(r.RoResult))
	var scratch [256]byte
	for _, f := range r.Fields {
		b := appendField(scratch[:0], furtherName, f.Name)
		dst = appendField(dst, fieldFurther, appendField(b, furtherValue, f.Value))
	}
	return dst
}

func (a *Attempt) appendBinary(dst []byte) []byte {
	for _, t := range [...]struct {
		field int
		value string
	}{
		{attemptGroup, a.Group},
		{attemptMember, a.Member},
		{attemptSite, a.Site},
		{attemptCause, a.Cause},
		{attemptEgressCallID, a.EgressCallID},
		{attemptAddress, a.Address},
		{attemptCarrierID, a.CarrierID},
	} {
		if t.value != "" {
			dst = appendField(dst, t.field, t.value)
		}
	}
	var flags uint64
	if a.Dialed {
		flags |= flagDialed
	}
	if a.Progress {
		flags |= flagProgress
	}
	dst = appendNumber(dst, attemptFlags, flags)
	dst = appendNumber(dst, attemptN, uint64(max(a.N, 0)))
	dst = appendNumber(dst, attemptCode, uint64(max(a.Code, 0)))
	return appendNumber(dst, attemptElapsed, uint64(max(a.Elapsed.Milliseconds(), 0)))
}

func appendField[T string | []byte](dst []byte, field int, v T) []byte {
	dst = binary.AppendUvarint(dst, uint64(field))
	dst = binary.AppendUvarint(dst, uint64(len(v)))
	return append(dst, v...)
}

// appendNumber leaves a zero out.
func appendNumber(dst []byte, field int, v uint64) []byte {
	if v == 0 {
		return dst
	}
	var b [binary.MaxVarintLen64]byte
	return appendField(dst, field, binary.AppendUvarint(b[:0], v))
}

func appendInstant(dst []byte, field int, t time.Time) []byte {
	if t.IsZero() {
		return dst
	}
	var b [binary.MaxVarintLen64]byte
	return appendField(dst, field, binary.AppendVarint(b[:0], t.UnixMilli()))
}

func appendAddress(dst []byte, field int, a netip.AddrPort) []byte {
	if !a.IsValid() {
		return dst
	}
	b, err := a.MarshalBinary()
	if err != nil || len(b) > 255 {
		return dst
	}
	return appendField(dst, field, b)
}
