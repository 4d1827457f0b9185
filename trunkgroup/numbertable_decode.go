package trunkgroup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

var errNumberTable = errors.New("not a number table of this version, or a damaged one")

// DecodeNumberTable reads what AppendBinary wrote. Counts that the octets cannot
// hold are refused before memory is taken for them.
func DecodeNumberTable(b []byte) (*NumberTable, error) {
	r := numberReader{b: b}
	t := &NumberTable{}
	if r.octet() != numberTableFormat {
		return nil, errNumberTable
	}
	for range r.count(2) {
		name := r.text()
		if n := len(t.groups.names); !isGroupName(name) || n > 0 && t.groups.names[n-1] >= name {
			r.bad = true
			break
		}
		t.groups.enter(name)
	}
	t.set.exact = r.exact(t)
	t.set.prefixes = r.prefixes(t)
	t.set.ranges = r.ranges(t)
	switch {
	case r.bad || len(r.b) != 8 || slices.Contains(t.groups.rows, 0):
		return nil, errNumberTable
	case binary.BigEndian.Uint64(r.b) != t.sum:
		return nil, fmt.Errorf("%w: its checksum is %x, not %x", errNumberTable, binary.BigEndian.Uint64(r.b), t.sum)
	}
	t.groups.own = false
	return t, nil
}

// numberReader reads the parts of a number table. After a fault everything is
// zero.
type numberReader struct {
	b   []byte
	bad bool
}

func (r *numberReader) octet() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	first := r.b[0]
	r.b = r.b[1:]
	return first
}

func (r *numberReader) varint() uint64 {
	v, size := binary.Uvarint(r.b)
	if size <= 0 || r.bad {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return v
}

// count reads how many entries of at least so many octets follow.
func (r *numberReader) count(octets int) int {
	n := r.varint()
	if n > uint64(len(r.b)/octets) || n > MaxNumbers {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *numberReader) text() string {
	n := r.varint()
	if n > uint64(len(r.b)) {
		r.bad = true
		return ""
	}
	text := string(r.b[:n])
	r.b = r.b[n:]
	return text
}

// owner reads a group and counts a row of it.
func (r *numberReader) owner(t *NumberTable, p Pattern) uint32 {
	n := r.varint()
	if n >= uint64(len(t.groups.names)) {
		r.bad = true
		return 0
	}
	t.count(p, uint32(n), 1)
	return uint32(n)
}

// number checks a packed E.164 number.
func (r *numberReader) number(v uint64) number {
	n := number(v)
	if v >= localBit || n.length() < 1 || n.length() > maxDigits || n.value() >= pow10[n.length()] {
		r.bad = true
		return 0
	}
	return n
}

func (r *numberReader) exact(t *NumberTable) numberMap[uint32] {
	w := numberMapWriter[uint32]{part: leafMax}
	var before number
	for range r.count(2) {
		n := r.number(uint64(before) + r.varint())
		owner := r.owner(t, Pattern{Exact, n, n})
		if r.bad || n <= before {
			r.bad = true
			break
		}
		w.put(n, owner)
		before = n
	}
	return w.done()
}

func (r *numberReader) prefixes(t *NumberTable) prefixIndex {
	var edits []prefixEdit
	for range r.count(9) { // the length makes the packed form eight octets long
		n := r.number(r.varint())
		e := prefixEdit{prefix: n, owner: r.owner(t, Pattern{Prefix, n, n})}
		if r.bad || len(edits) > 0 && comparePrefixes(edits[len(edits)-1].prefix, n) >= 0 {
			r.bad = true
			break
		}
		edits = append(edits, e)
	}
	return (&prefixIndex{}).with(edits)
}

func (r *numberReader) ranges(t *NumberTable) numberMap[rangeEnd] {
	w := numberMapWriter[rangeEnd]{part: leafMax}
	var low, before number // before is the high end of the range before
	for range r.count(3) {
		low = r.number(uint64(low) + r.varint())
		high := r.number(uint64(low) + r.varint())
		owner := r.owner(t, Pattern{Range, low, high})
		if r.bad || low <= before || high <= low || high.length() != low.length() {
			r.bad = true
			break
		}
		w.put(low, rangeEnd{high, owner})
		before = high
	}
	return w.done()
}

// isGroupName tells whether a group of a document may have this name.
func isGroupName(s string) bool { return len(s) <= 63 && isName(s) }
