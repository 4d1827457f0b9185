package trunkgroup

import (
	"encoding/binary"
	"errors"
)

var errNumberTable = errors.New("not a number table, or a damaged one")

// AppendBinary appends the table in a compact form that DecodeNumberTable
// reads. Tables of equal content have equal bytes.
func (t *NumberTable) AppendBinary(dst []byte) []byte {
	for p, group := range t.All() {
		for _, s := range []string{p.String(), group} {
			dst = binary.AppendUvarint(dst, uint64(len(s)))
			dst = append(dst, s...)
		}
	}
	return dst
}

// DecodeNumberTable reads what AppendBinary wrote.
func DecodeNumberTable(b []byte) (*NumberTable, error) {
	var changes []NumberChange
	for len(b) > 0 {
		var text [2]string
		for i := range text {
			n, size := binary.Uvarint(b)
			if size <= 0 || n > uint64(len(b)-size) {
				return nil, errNumberTable
			}
			text[i] = string(b[size : size+int(n)])
			b = b[size+int(n):]
		}
		p, err := ParsePattern(text[0])
		if err != nil || text[1] == "" {
			return nil, errNumberTable
		}
		changes = append(changes, NumberChange{p, text[1]})
	}
	return (*NumberTable)(nil).With(changes)
}
