package fsm

import (
	"encoding/binary"

	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// MaxNumberRows bounds the encoded rows of one command in octets.
const MaxNumberRows = 256 << 10

// minNumberRow is the least that a row takes: its group and a pattern of one digit.
const minNumberRow = 1 + 1 + 2

// AppendNumberRows adds changes of the number table to dst: the names of the groups in the
// order in which rows need them, then the rows, each with the number of its group (0 takes
// the pattern out) and the pattern as text.
func AppendNumberRows(dst []byte, rows []trunkgroup.NumberChange) []byte {
	at := make(map[string]uint64)
	var names []string
	for i := range rows {
		if g := rows[i].Group; g != "" && at[g] == 0 {
			names = append(names, g)
			at[g] = uint64(len(names))
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(names)))
	for _, name := range names {
		dst = octets.Append(dst, name)
	}
	dst = binary.AppendUvarint(dst, uint64(len(rows)))
	for i := range rows {
		dst = binary.AppendUvarint(dst, at[rows[i].Group])
		dst = octets.Append(dst, rows[i].Pattern.String())
	}
	return dst
}

// DecodeNumberRows reads what AppendNumberRows wrote, and nothing behind it.
func DecodeNumberRows(b []byte) ([]trunkgroup.NumberChange, error) {
	r := read(b)
	rows := r.numberRows()
	if !r.End() {
		return nil, ErrMalformed
	}
	return rows, nil
}

// numberRows reads what AppendNumberRows wrote. There is one encoding for each meaning.
func (r *reader) numberRows() []trunkgroup.NumberChange {
	names := []string{""}
	for range r.Length(1) {
		name := r.Text(MaxName)
		if name == "" {
			r.Fail()
		}
		names = append(names, name)
	}
	n := r.Length(minNumberRow)
	if n == 0 {
		if len(names) > 1 {
			r.Fail()
		}
		return nil
	}
	rows := make([]trunkgroup.NumberChange, 0, n)
	seen := make(map[string]bool, len(names))
	for range n {
		group := r.Int(len(names) - 1)
		text := r.Text(MaxName)
		p, err := trunkgroup.ParsePattern(text)
		// Names stand in the order of their first rows, and each once.
		first := group > 0 && !seen[names[group]]
		if r.Bad() || err != nil || p.String() != text || first && group != len(seen)+1 {
			r.Fail()
			return nil
		}
		if group > 0 {
			seen[names[group]] = true
		}
		rows = append(rows, trunkgroup.NumberChange{Pattern: p, Group: names[group]})
	}
	if len(seen) != len(names)-1 {
		r.Fail()
	}
	return rows
}
