package trunkgroup

import (
	"encoding/binary"
	"slices"
)

// numberTableFormat is the first octet of a number table in binary form.
const numberTableFormat = 1

// AppendBinary appends the table in a compact form that DecodeNumberTable
// reads, of about four octets a number. Tables of equal content have equal
// octets:
//
//	format 1
//	groups    count, then per group in order of names: length, name
//	exact     count, then per number: number - the one before, group
//	prefixes  count, then per prefix: number, group
//	ranges    count, then per range: low - the low before, high - low, group
//	checksum  eight octets, big endian
//
// Numbers are in packed form; all others are varints.
func (t *NumberTable) AppendBinary(dst []byte) []byte {
	dst = append(dst, numberTableFormat)
	if t == nil {
		t = &NumberTable{}
	}
	var names []string
	for _, name := range t.groups.names {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	dst = binary.AppendUvarint(dst, uint64(len(names)))
	place := make([]uint64, len(t.groups.names)) // of owners, in the order of names
	for i, name := range names {
		dst = binary.AppendUvarint(dst, uint64(len(name)))
		dst = append(dst, name...)
		place[t.groups.places[name]] = uint64(i)
	}
	var before number
	dst = binary.AppendUvarint(dst, uint64(t.set.exact.size))
	for n, owner := range t.set.exact.from(0) {
		dst = binary.AppendUvarint(dst, uint64(n-before))
		dst = binary.AppendUvarint(dst, place[owner])
		before = n
	}
	dst = binary.AppendUvarint(dst, uint64(t.set.prefixes.size))
	t.set.prefixes.after(0, func(n number, owner uint32) bool {
		dst = binary.AppendUvarint(dst, uint64(n))
		dst = binary.AppendUvarint(dst, place[owner])
		return true
	})
	before = 0
	dst = binary.AppendUvarint(dst, uint64(t.set.ranges.size))
	for low, end := range t.set.ranges.from(0) {
		dst = binary.AppendUvarint(dst, uint64(low-before))
		dst = binary.AppendUvarint(dst, uint64(end.high-low))
		dst = binary.AppendUvarint(dst, place[end.owner])
		before = low
	}
	return binary.BigEndian.AppendUint64(dst, t.sum)
}
