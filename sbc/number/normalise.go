package number

import (
	"bytes"
	"errors"
	"slices"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Errors of Normalise. Code tells what the caller gets.
var (
	ErrNotNumber  = errors.New("not a telephone number")
	ErrIncomplete = errors.New("too few digits for a number")
	ErrUnknown    = errors.New("the numbering policy knows no number of this form")
	ErrAmbiguous  = errors.New("the numbering policy reads it as two different numbers")
)

// Code returns the final response for a called number that could not be read:
// 484 when digits are missing (RFC 3261 section 21.4.22), else 404 (NUM-05).
func Code(err error) int {
	if errors.Is(err, ErrIncomplete) {
		return 484
	}
	return 404
}

const (
	minDigits = 7  // the shortest numbers with country code in use
	maxDigits = 15 // ITU-T E.164 section 6.1
	maxUser   = 64 // characters of a user, tech prefix included
)

// Policy returns the ways of this package to read numbers, for those who route
// by them.
func Policy() trunkgroup.NumberPolicy {
	return trunkgroup.NumberPolicy{Normalise: Normalise, Code: Code, Portability: Portability}
}

// Normalise returns the user of a URI as an E.164 number with its plus. See
// AppendE164.
func Normalise(policy trunkgroup.Numbering, user []byte) ([]byte, error) {
	return AppendE164(nil, &policy, user)
}

// AppendE164 appends the user of a URI as an E.164 number with its plus.
// Parameters are cut off, escapes undone, visual separators taken out; then the
// longest tech prefix of the policy and a leading # go (P-28). A number that
// the policy preserves, with or without tech prefix, stays as it is. One with a plus is E.164; any other is
// read by international prefix, trunk prefix, country code or national length,
// and only one reading is accepted.
func AppendE164(dst []byte, policy *trunkgroup.Numbering, user []byte) ([]byte, error) {
	var buffer [maxUser]byte
	number, ok := clean(buffer[:0], user)
	if !ok {
		return dst, ErrNotNumber
	}
	if preserved(policy, number) { // 911 stays 911 where 9 is a tech prefix
		return append(dst, number...), nil
	}
	number = stripPrefix(number, policy.StripPrefixes)
	if preserved(policy, number) {
		return append(dst, number...), nil
	}
	if len(number) > 0 && number[0] == '+' {
		return appendGlobal(dst, number[1:])
	}
	if err := digits(number); err != nil {
		return dst, err
	}
	return appendLocal(dst, policy, number)
}

func preserved(p *trunkgroup.Numbering, number []byte) bool { return matches(p.Preserve, number) }

// stripPrefix takes off the longest tech prefix that fits, and then a leading #.
func stripPrefix(number []byte, prefixes []string) []byte {
	longest := 0
	for _, p := range prefixes {
		if len(p) > longest && len(p) <= len(number) && string(number[:len(p)]) == p {
			longest = len(p)
		}
	}
	return bytes.TrimPrefix(number[longest:], []byte{'#'})
}

func digits(s []byte) error {
	if len(s) == 0 {
		return ErrIncomplete
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return ErrNotNumber
		}
	}
	return nil
}

// appendGlobal appends digits that begin with a country code.
func appendGlobal(dst, number []byte) ([]byte, error) {
	switch err := digits(number); {
	case err != nil:
		return dst, err
	case len(number) < minDigits:
		return dst, ErrIncomplete
	case len(number) > maxDigits || number[0] == '0':
		return dst, ErrNotNumber
	}
	return append(append(dst, '+'), number...), nil
}

// appendLocal reads digits without a plus.
func appendLocal(dst []byte, p *trunkgroup.Numbering, number []byte) ([]byte, error) {
	if p.CountryCode == "" {
		return dst, ErrUnknown
	}
	if rest, ok := cutPrefix(number, p.InternationalPrefix); ok {
		return appendGlobal(dst, rest)
	}
	byTrunk, okTrunk := cutPrefix(number, p.TrunkPrefix)
	okTrunk = okTrunk && national(p, byTrunk)
	byCountry, okCountry := cutPrefix(number, p.CountryCode)
	okCountry = okCountry && national(p, byCountry)
	bare := !okTrunk && national(p, number)
	var found []byte
	switch {
	case okTrunk && okCountry && !bytes.Equal(byTrunk, byCountry), okCountry && bare:
		return dst, ErrAmbiguous
	case okTrunk:
		found = byTrunk
	case okCountry:
		found = byCountry
	case bare:
		found = number
	case short(p, number):
		return dst, ErrIncomplete
	default:
		return dst, ErrUnknown
	}
	dst = append(append(dst, '+'), p.CountryCode...)
	return append(dst, found...), nil
}

func cutPrefix(number []byte, prefix string) ([]byte, bool) {
	if prefix == "" || len(number) < len(prefix) || string(number[:len(prefix)]) != prefix {
		return number, false
	}
	return number[len(prefix):], true
}

// national reports whether the digits can be a national number. In the North
// American plan an area code begins with 2 to 9.
func national(p *trunkgroup.Numbering, number []byte) bool {
	if !slices.Contains(p.NationalLengths, len(number)) {
		return false
	}
	return p.CountryCode != "1" || number[0] >= '2'
}

// short reports whether more digits could make it a national number.
func short(p *trunkgroup.Numbering, number []byte) bool {
	return len(p.NationalLengths) > 0 && len(number) < slices.Min(p.NationalLengths)
}
