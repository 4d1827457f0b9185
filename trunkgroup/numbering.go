package trunkgroup

import "fmt"

// Format is how a group wants to see numbers.
type Format uint8

// The formats. The zero value means the default, FormatE164.
const (
	FormatE164          Format = 1 // +12145550100
	FormatPlain         Format = 2 // 12145550100
	FormatInternational Format = 3 // 01112145550100; with the group's international prefix
	FormatNational      Format = 4 // 2145550100 with the trunk prefix; foreign numbers as international
	FormatNone          Format = 5 // as it was dialled
)

// FormatNames lists the formats as a document names them.
func FormatNames() []string {
	return []string{"e164", "plain", "international", "national", "none"}
}

// String returns the name as it stands in YAML; empty for the zero value.
func (f Format) String() string {
	if f < FormatE164 || f > FormatNone {
		return ""
	}
	return FormatNames()[f-1]
}

// MarshalText writes the name.
func (f Format) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the name; empty text leaves the zero value.
func (f *Format) UnmarshalText(b []byte) error {
	*f = 0
	if len(b) == 0 {
		return nil
	}
	for i, name := range FormatNames() {
		if name == string(b) {
			*f = Format(i + 1)
			return nil
		}
	}
	return fmt.Errorf("unknown number format %q", b)
}

// Numbering is how a group writes numbers, with the defaults filled in. Package
// sbc/number applies it.
//
// Without a country code only numbers that begin with + are understood.
// Country code 1 brings trunk prefix 1, international prefix 011 and national
// length 10 along, unless the document says otherwise.
type Numbering struct {
	CountryCode         string    // digits: "1", "44"
	TrunkPrefix         string    // digits before a national number: "1", "0"; may be empty
	InternationalPrefix string    // digits before a country code: "011", "00"; may be empty
	NationalLengths     []int     // digits of a national number without trunk prefix
	StripPrefixes       []string  // tech prefixes that are removed first, the longest that fits
	Preserve            []Pattern // numbers that pass as they are: 911, 0800*
	Format              Format    // how the group's members see numbers
}

func compileNumbering(s NumberingSpec) Numbering {
	n := Numbering{
		CountryCode:         s.CountryCode,
		TrunkPrefix:         s.TrunkPrefix,
		InternationalPrefix: s.InternationalPrefix,
		NationalLengths:     s.NationalLengths,
		StripPrefixes:       s.StripPrefixes,
		Format:              s.Format,
	}
	if n.CountryCode == "1" {
		if n.TrunkPrefix == "" {
			n.TrunkPrefix = "1"
		}
		if n.InternationalPrefix == "" {
			n.InternationalPrefix = "011"
		}
		if len(n.NationalLengths) == 0 {
			n.NationalLengths = []int{10}
		}
	}
	if n.Format == 0 {
		n.Format = FormatE164
	}
	for _, text := range s.Preserve {
		if p, err := ParseLocalPattern(text); err == nil {
			n.Preserve = append(n.Preserve, p)
		}
	}
	return n
}
