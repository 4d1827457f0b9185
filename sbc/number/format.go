package number

import (
	"bytes"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// AppendFormatted appends a number as a group's members want to see it. e164 is
// what Normalise returned; dialled is the user as it came, for the format none.
// A number without plus, which a policy has preserved, stays as it is. National
// format writes foreign numbers with the international prefix.
func AppendFormatted(dst []byte, policy *trunkgroup.Numbering, e164, dialled []byte) []byte {
	number, global := bytes.CutPrefix(e164, []byte{'+'})
	if !global && policy.Format != trunkgroup.FormatNone {
		return append(dst, e164...)
	}
	switch policy.Format {
	case trunkgroup.FormatNone:
		return append(dst, dialled...)
	case trunkgroup.FormatPlain:
		return append(dst, number...)
	case trunkgroup.FormatInternational:
		return append(append(dst, policy.InternationalPrefix...), number...)
	case trunkgroup.FormatNational:
		if rest, ok := cutPrefix(number, policy.CountryCode); ok {
			return append(append(dst, policy.TrunkPrefix...), rest...)
		}
		return append(append(dst, policy.InternationalPrefix...), number...)
	}
	return append(dst, e164...)
}
