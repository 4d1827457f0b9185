package number

import (
	"bytes"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// AppendWritten appends the user of a URI as a carrier wants to see it at one place of an
// INVITE (S-080). The number is read as its sender writes numbers, where sender is not nil,
// and else as the carrier's country does; only one reading is accepted. What is written
// reads as the same number again: a number that the policy has written stays as it is.
//
// Numbers that the policy or the sender preserves, like 911, stay as they are, and so does
// every user in the format none. ok is false, and dst as it was, when the user is no number.
func AppendWritten(dst []byte, p *trunkgroup.WritingPolicy, place trunkgroup.NumberPlace, sender *trunkgroup.Numbering, user []byte) (out []byte, ok bool) {
	format := p.Formats[place]
	if format == trunkgroup.FormatNone {
		return append(dst, user...), true
	}
	var buffer, plain [maxUser]byte
	cleaned, ok := clean(plain[:0], user)
	if !ok {
		return dst, false
	}
	if matches(p.Preserve, cleaned) {
		return append(dst, cleaned...), true
	}
	e164, ok := read(buffer[:0], p, format, sender, cleaned)
	if !ok {
		return dst, false
	}
	number, global := bytes.CutPrefix(e164, []byte{'+'})
	if !global { // the sender preserves it
		return append(dst, e164...), true
	}
	switch format {
	case trunkgroup.FormatPlain:
		return append(dst, number...), true
	case trunkgroup.FormatInternational:
		return append(append(dst, p.InternationalPrefix...), number...), true
	case trunkgroup.FormatNational:
		return appendNational(dst, p, number), true
	}
	return append(dst, e164...), true
}

// read appends the number in E.164 with its plus, or one that the sender preserves.
func read(dst []byte, p *trunkgroup.WritingPolicy, format trunkgroup.Format, sender *trunkgroup.Numbering, cleaned []byte) ([]byte, bool) {
	if sender != nil {
		if e164, err := AppendE164(dst, sender, cleaned); err == nil {
			return e164, true
		}
	}
	if rest, global := bytes.CutPrefix(cleaned, []byte{'+'}); global {
		e164, err := appendGlobal(dst, rest)
		return e164, err == nil
	}
	if digits(cleaned) != nil {
		return dst, false
	}
	return readWritten(dst, p, format, cleaned)
}

// readWritten reads digits as the carrier's country writes them. In the plain format digits
// that can have a country code have one.
func readWritten(dst []byte, p *trunkgroup.WritingPolicy, format trunkgroup.Format, number []byte) ([]byte, bool) {
	if format == trunkgroup.FormatPlain && number[0] != '0' {
		e164, err := appendGlobal(dst, number)
		return e164, err == nil
	}
	if rest, ok := cutPrefix(number, p.InternationalPrefix); ok {
		e164, err := appendGlobal(dst, rest)
		return e164, err == nil
	}
	if p.CountryCode == "" {
		return dst, false
	}
	national, ok := significant(p, format, number)
	if !ok {
		return dst, false
	}
	var whole [2 * maxUser]byte
	e164, err := appendGlobal(dst, append(append(whole[:0], p.CountryCode...), national...))
	return e164, err == nil
}

// significant returns the national number without trunk prefix and country code. Where a
// country has a trunk prefix, digits without it are national in the North American plan
// alone; where it has none, digits that begin with the country code may be both, and are
// national only in the format that writes them so.
func significant(p *trunkgroup.WritingPolicy, format trunkgroup.Format, number []byte) ([]byte, bool) {
	long := func(n []byte) bool { return len(n) >= p.MinNationalDigits }
	if rest, ok := cutPrefix(number, p.TrunkPrefix); ok {
		return rest, long(rest)
	}
	rest, international := cutPrefix(number, p.CountryCode)
	international = international && long(rest)
	switch {
	case p.TrunkPrefix == "":
		return number, long(number) && (!international || format == trunkgroup.FormatNational)
	case international:
		return rest, true
	case p.CountryCode == "1":
		return number, len(number) == p.MinNationalDigits && number[0] >= '2'
	}
	return nil, false
}

// appendNational appends a number as it is dialled in the carrier's country: a foreign one
// with the international prefix, and one of its own too whose national form would read as
// another number.
func appendNational(dst []byte, p *trunkgroup.WritingPolicy, number []byte) []byte {
	if rest, ok := cutPrefix(number, p.CountryCode); ok {
		base := len(dst)
		dst = append(append(dst, p.TrunkPrefix...), rest...)
		var buffer [maxUser]byte
		if again, ok := readWritten(buffer[:0], p, trunkgroup.FormatNational, dst[base:]); ok && bytes.Equal(again[1:], number) {
			return dst
		}
		dst = dst[:base]
	}
	return append(append(dst, p.InternationalPrefix...), number...)
}

func matches(patterns []trunkgroup.Pattern, number []byte) bool {
	for i := range patterns {
		if patterns[i].Matches(number) {
			return true
		}
	}
	return false
}
