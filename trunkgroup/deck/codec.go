package deck

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// magic starts a deck before it is compressed; the last octet is the version of its format.
const magic = "TNDDECK\x01"

// Bounds of an encoded deck in octets.
const (
	MaxEncoded = 64 << 20
	// maxPlain is more than MaxRows rows take before they are compressed.
	maxPlain = 160 << 20
)

// ErrEncoding is wrapped by what Decode says of octets that are no deck.
var ErrEncoding = errors.New("not a rate deck, or damaged")

// Encode returns the deck in a compact form that Decode reads: some six octets a row.
//
//	magic, sells (0 or 1), currency
//	carriers  count, then each
//	terms     count, then each: group, tech prefix, number policy, increment, min duration, priority
//	rows      count of all
//	prefixes  count, then each: word - the one before, shifted by 4, and its rows: count, then
//	          carrier, terms, price, from, to
//
// Texts have their length before them and numbers are varints; all of it is compressed by
// DEFLATE (RFC 1951).
func (d *Deck) Encode() ([]byte, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.DefaultCompression)
	if err != nil {
		return nil, fmt.Errorf("compress a deck: %w", err)
	}
	if _, err := w.Write(d.plain()); err != nil {
		return nil, fmt.Errorf("compress a deck: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress a deck: %w", err)
	}
	if out.Len() > MaxEncoded {
		return nil, fmt.Errorf("the deck has %d octets, at most %d are possible", out.Len(), MaxEncoded)
	}
	return out.Bytes(), nil
}

// plain is the deck before it is compressed.
func (d *Deck) plain() []byte {
	b := append(make([]byte, 0, 64+24*len(d.rows)), magic...)
	sells := byte(0)
	if d.sells {
		sells = 1
	}
	b = octets.Append(append(b, sells), d.currency)
	b = binary.AppendUvarint(b, uint64(len(d.carriers)))
	for _, c := range d.carriers {
		b = octets.Append(b, c)
	}
	b = binary.AppendUvarint(b, uint64(len(d.terms)))
	for i := range d.terms {
		t := &d.terms[i]
		b = octets.Append(octets.Append(octets.Append(b, t.Group), t.TechPrefix), t.NumberPolicy)
		for _, n := range []uint32{t.Increment, t.MinDuration, t.Priority} {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	b = binary.AppendUvarint(b, uint64(len(d.rows)))
	b = binary.AppendUvarint(b, uint64(len(d.prefixes)))
	var before prefix
	for at, p := range d.prefixes {
		b = binary.AppendUvarint(b, uint64(p-before)>>4)
		before = p
		rows := d.rowsOf(int32(at))
		b = binary.AppendUvarint(b, uint64(len(rows)))
		for i := range rows {
			r := &rows[i]
			for _, n := range [...]uint64{uint64(r.carrier), uint64(r.terms), uint64(r.price), uint64(r.from), uint64(r.to)} {
				b = binary.AppendUvarint(b, n)
			}
		}
	}
	return b
}

// Decode reads what Encode wrote. An error wraps ErrEncoding. However the octets look, it
// takes no more memory than the largest deck.
func Decode(b []byte) (*Deck, error) {
	from := bytes.NewReader(b)
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(from), maxPlain+1))
	if err != nil || len(plain) > maxPlain || from.Len() > 0 || !bytes.HasPrefix(plain, []byte(magic)) {
		return nil, errors.Join(ErrEncoding, err)
	}
	return parse(plain[len(magic):])
}

// parse reads what plain wrote behind the magic.
func parse(b []byte) (*Deck, error) {
	r := decoder{octets.ReadStrict(b)}
	d := &Deck{sells: r.Int(1) == 1, currency: r.Text(3)}
	if d.currency != "" && !isCurrency(d.currency) {
		r.Fail()
	}
	r.carriers(d)
	r.terms(d)
	r.rows(d)
	if !r.End() {
		return nil, ErrEncoding
	}
	d.link()
	return d, nil
}

type decoder struct{ octets.Reader }

func (r *decoder) carriers(d *Deck) {
	n := r.Length(2)
	if n > MaxCarriers || d.sells && n > 0 {
		r.Fail()
		return
	}
	for i := range n {
		c := r.Text(maxName)
		if !isName(c) || i > 0 && c <= d.carriers[i-1] {
			r.Fail()
			return
		}
		d.carriers = append(d.carriers, c)
	}
}

func (r *decoder) terms(d *Deck) {
	n := r.Length(6)
	if n > maxTerms {
		r.Fail()
		return
	}
	for i := range n {
		t := Terms{Group: r.Text(maxName), TechPrefix: r.Text(maxTech), NumberPolicy: r.Text(maxName)}
		t.Increment, t.MinDuration, t.Priority = uint32(r.Int(maxSeconds)), uint32(r.Int(maxSeconds)), uint32(r.Int(maxPriority))
		named := d.sells && t == (Terms{Increment: t.Increment, MinDuration: t.MinDuration}) || !d.sells && isName(t.Group)
		if r.Bad() || !named || !isTech(t.TechPrefix) || t.NumberPolicy != "" && !isName(t.NumberPolicy) || i > 0 && d.terms[i-1].compare(t) >= 0 {
			r.Fail()
			return
		}
		d.terms = append(d.terms, t)
	}
}

// minRow is the least that a row takes.
const minRow = 5

func (r *decoder) rows(d *Deck) {
	all, prefixes := r.Length(minRow), r.Length(minRow+2)
	if all > MaxRows || prefixes > all {
		r.Fail()
	}
	if r.Bad() {
		return
	}
	d.prefixes, d.first, d.rows = make([]prefix, 0, prefixes), make([]uint32, 0, prefixes+1), make([]packed, 0, all)
	var p prefix
	for i := range prefixes {
		step := r.Number()
		p += prefix(step << 4)
		// The shortest prefix is 0 and comes first, if it is there at all.
		if r.Bad() || step>>60 != 0 || i > 0 && p <= d.prefixes[i-1] || !p.valid() {
			r.Fail()
			return
		}
		d.prefixes, d.first = append(d.prefixes, p), append(d.first, uint32(len(d.rows)))
		if n := r.Length(minRow); n == 0 || n > all-len(d.rows) || !r.rowsOf(d, n) {
			r.Fail()
			return
		}
	}
	d.first = append(d.first, uint32(len(d.rows)))
	if len(d.rows) != all {
		r.Fail()
	}
}

// rowsOf reads the rows of one prefix.
func (r *decoder) rowsOf(d *Deck, n int) bool {
	carriers := max(len(d.carriers), 1)
	for i := range n {
		row := packed{
			carrier: uint32(r.Int(carriers - 1)), terms: uint32(r.Int(max(len(d.terms)-1, 0))), price: trunkgroup.Price(r.Number()),
			from: instant(r.Int(lastInstant)), to: instant(r.Int(lastInstant)),
		}
		switch {
		case r.Bad(), len(d.terms) == 0, !d.sells && len(d.carriers) == 0:
			return false
		case row.price > blocked, d.sells && row.price == blocked, row.to != 0 && row.to <= row.from:
			return false
		}
		if i > 0 {
			last := &d.rows[len(d.rows)-1]
			if row.carrier < last.carrier || row.carrier == last.carrier && row.from >= last.from {
				return false
			}
		}
		d.rows = append(d.rows, row)
	}
	return true
}
