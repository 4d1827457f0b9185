package fsm

import (
	"crypto/sha256"
	"encoding/binary"
	"io"

	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// append adds all of the rate decks but their octets to dst.
func (d *decks) append(dst []byte) []byte {
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, d.generation), d.edition)
	dst = binary.AppendUvarint(dst, uint64(len(d.list)))
	for i := range d.list {
		v := &d.list[i]
		dst = octets.Append(octets.Append(octets.Append(dst, v.Name), v.Author), v.Reason)
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, v.Edition), millis(v.At))
		dst = v.DeckKind.append(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(len(d.history)))
	for i := range d.history {
		v := &d.history[i]
		removed := uint64(0)
		if v.Removed {
			removed = 1
		}
		dst = octets.Append(octets.Append(octets.Append(dst, v.Deck), v.Author), v.Reason)
		for _, n := range []uint64{v.Version.Generation, v.Version.Revision, millis(v.At), removed, v.Rows} {
			dst = binary.AppendUvarint(dst, n)
		}
	}
	dst = appendKeys(dst, d.keys)
	dst = binary.AppendUvarint(dst, uint64(len(d.uploads)))
	for i := range d.uploads {
		u := &d.uploads[i]
		for _, s := range []string{u.Name, u.Deck, u.Author, u.Reason} {
			dst = octets.Append(dst, s)
		}
		for _, n := range []uint64{millis(u.Opened), millis(u.Last), u.Pieces, u.Have} {
			dst = binary.AppendUvarint(dst, n)
		}
		dst = u.DeckKind.append(dst)
	}
	return dst
}

func (r *reader) deckState(cluster string) decks {
	d := decks{generation: r.Number(), edition: r.Number()}
	for n := range r.Int(MaxDecks) {
		v := Deck{Name: r.Text(MaxName), Author: r.Text(MaxName), Reason: r.Text(MaxReason)}
		v.Edition, v.At, v.DeckKind = r.Number(), r.moment(), r.deckKind()
		if r.Bad() || v.Size == 0 || v.Edition > d.edition || n > 0 && v.Name <= d.list[n-1].Name {
			r.Fail()
			return d
		}
		d.list = append(d.list, v)
	}
	for range r.Int(MaxDecksHistory) {
		v := DecksRecord{Deck: r.Text(MaxName), Author: r.Text(MaxName), Reason: r.Text(MaxReason)}
		v.Version = trunkgroup.Version{Cluster: cluster, Generation: r.Number(), Revision: r.Number()}
		v.At, v.Removed, v.Rows = r.moment(), r.Int(1) == 1, r.Number()
		d.history = append(d.history, v)
	}
	d.keys = r.keys(cluster)
	for range r.Int(MaxDeckUploads) {
		u := upload{DeckUpload: DeckUpload{Name: r.Text(MaxName), Deck: r.Text(MaxName), Author: r.Text(MaxName), Reason: r.Text(MaxReason)}}
		u.Opened, u.Last, u.Pieces, u.Have = r.moment(), r.moment(), r.Number(), r.Number()
		if u.DeckKind = r.deckKind(); u.Have > u.Size || (u.Have == 0) != (u.Pieces == 0) {
			r.Fail()
		}
		d.uploads = append(d.uploads, u)
	}
	if d.blank() || (d.edition == 0) != (d.generation == 0) {
		r.Fail()
	}
	return d
}

// writeData writes the octets of the decks and of the uploads, each with its length before it.
func (d *decks) writeData(w io.Writer) error {
	for i := range d.list {
		if err := writeBlock(w, d.list[i].Data); err != nil {
			return err
		}
	}
	for i := range d.uploads {
		if err := writeBlock(w, d.uploads[i].data...); err != nil {
			return err
		}
	}
	return nil
}

// writeBlock writes parts as one text with its length before it.
func writeBlock(w io.Writer, parts ...[]byte) error {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if _, err := w.Write(binary.AppendUvarint(nil, uint64(n))); err != nil {
		return err
	}
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// readData reads what writeData wrote.
func (d *decks) readData(r snapshotReader) error {
	for i := range d.list {
		v := &d.list[i]
		b, err := r.block(MaxDeck)
		if err != nil {
			return err
		}
		if uint64(len(b)) != v.Size || sha256.Sum256(b) != v.Sum {
			return ErrMalformed
		}
		v.Data = b[:len(b):len(b)]
	}
	for i := range d.uploads {
		u := &d.uploads[i]
		b, err := r.block(MaxDeck)
		if err != nil {
			return err
		}
		if uint64(len(b)) != u.Have {
			return ErrMalformed
		}
		if len(b) > 0 {
			u.data = [][]byte{b}
		}
	}
	return nil
}
