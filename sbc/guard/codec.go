package guard

import (
	"errors"
	"net/netip"
	"unicode/utf8"
)

// banVersion is the first octet of a ban as nodes tell each other of it. Later versions
// append fields.
const banVersion = 1

// maxText bounds the texts of a ban in octets.
const maxText = 255

const flagAuto = 1

var errBan = errors.New("guard: not a ban")

// AppendValue appends what nodes tell each other of a ban beside its prefix and its
// times, which are the entry's.
func (b *Ban) AppendValue(dst []byte) []byte {
	flags := byte(0)
	if b.Auto {
		flags |= flagAuto
	}
	dst = append(dst, banVersion, flags, byte(min(b.Level, 255)))
	for _, text := range []string{b.By, b.Node, b.Reason} {
		text = text[:min(len(text), maxText)]
		dst = append(append(dst, byte(len(text))), text...)
	}
	return dst
}

// ParseBan reads a ban of another node: key is its prefix. Since and Until are the
// caller's to set.
func ParseBan(key string, value []byte) (Ban, error) {
	p, err := netip.ParsePrefix(key)
	if err != nil || p != p.Masked() || p.Bits() == 0 {
		return Ban{}, errBan
	}
	if len(value) < 3 || value[0] < banVersion {
		return Ban{}, errBan
	}
	b := Ban{Prefix: p, Auto: value[1]&flagAuto != 0, Level: int(value[2])}
	rest := value[3:]
	for _, text := range []*string{&b.By, &b.Node, &b.Reason} {
		if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
			return Ban{}, errBan
		}
		n := int(rest[0])
		*text, rest = printable(rest[1:1+n]), rest[1+n:]
	}
	return b, nil
}

// printable is a text without what a terminal would obey.
func printable(b []byte) string {
	out := make([]rune, 0, len(b))
	for _, r := range string(b) {
		if r < ' ' || r == utf8.RuneError || r >= 0x7f && r < 0xa0 {
			r = '?'
		}
		out = append(out, r)
	}
	return string(out)
}
