package fsm

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// MaxNumberTable bounds one encoded number table in octets.
const MaxNumberTable = 1 << 30

// MaxSnapshot bounds a whole snapshot: the documents, the number table, what imports would
// make of it, and the rate decks.
const MaxSnapshot = MaxSnapshotHead + (1+MaxImports)*(MaxNumberTable+binary.MaxVarintLen64) + MaxAllDecks + (MaxDecks+MaxDeckUploads)*binary.MaxVarintLen64

// append adds all of the numbers but the tables to dst.
func (n *numbers) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, n.generation)
	dst = binary.AppendUvarint(dst, n.edition)
	dst = binary.AppendUvarint(dst, uint64(len(n.history)))
	for i := range n.history {
		v := &n.history[i]
		dst = binary.AppendUvarint(dst, v.Version.Generation)
		dst = binary.AppendUvarint(dst, v.Version.Revision)
		for _, s := range []string{v.Author, v.Reason, v.Import} {
			dst = octets.Append(dst, s)
		}
		for _, x := range []uint64{millis(v.At), v.Set, v.Removed, v.Len} {
			dst = binary.AppendUvarint(dst, x)
		}
	}
	dst = appendKeys(dst, n.keys)
	dst = binary.AppendUvarint(dst, uint64(len(n.branches)))
	for i := range n.branches {
		b := &n.branches[i]
		for _, s := range []string{b.Name, b.Author, b.Reason, b.Fault} {
			dst = octets.Append(dst, s)
		}
		for _, x := range []uint64{millis(b.Opened), millis(b.Last), b.Pieces, b.Set, b.Gone} {
			dst = binary.AppendUvarint(dst, x)
		}
	}
	return dst
}

// maxFault bounds the text of why an import cannot become the table.
const maxFault = 4096

func (r *reader) numberState(cluster string) numbers {
	n := numbers{generation: r.Number(), edition: r.Number()}
	for range r.Int(MaxNumbersHistory) {
		v := NumbersRecord{Version: trunkgroup.Version{Cluster: cluster, Generation: r.Number(), Revision: r.Number()}}
		v.Author, v.Reason, v.Import = r.Text(MaxName), r.Text(MaxReason), r.Text(MaxName)
		v.At, v.Set, v.Removed, v.Len = r.moment(), r.Number(), r.Number(), r.Number()
		n.history = append(n.history, v)
	}
	n.keys = r.keys(cluster)
	for range r.Int(MaxImports) {
		b := branch{NumbersImport: NumbersImport{
			Name: r.Text(MaxName), Author: r.Text(MaxName), Reason: r.Text(MaxReason), Fault: r.Text(maxFault),
		}}
		b.Opened, b.Last, b.Pieces, b.Set, b.Gone = r.moment(), r.moment(), r.Number(), r.Number(), r.Number()
		n.branches = append(n.branches, b)
	}
	if n.blank() || (n.edition == 0) != (n.generation == 0) {
		r.Fail()
	}
	return n
}

// writeTables writes the table and those of the imports, each with its length before it.
func (n *numbers) writeTables(w io.Writer) error {
	if err := writeTable(w, n.table); err != nil {
		return err
	}
	for i := range n.branches {
		if err := writeTable(w, n.branches[i].table); err != nil {
			return err
		}
	}
	return nil
}

func writeTable(w io.Writer, t *trunkgroup.NumberTable) error {
	b := t.AppendBinary(nil)
	if _, err := w.Write(binary.AppendUvarint(nil, uint64(len(b)))); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

// readTables reads what writeTables wrote.
func (n *numbers) readTables(r snapshotReader) (err error) {
	if n.table, err = readTable(r); err != nil {
		return err
	}
	for i := range n.branches {
		if n.branches[i].table, err = readTable(r); err != nil {
			return err
		}
	}
	return nil
}

func readTable(r snapshotReader) (*trunkgroup.NumberTable, error) {
	b, err := r.block(MaxNumberTable)
	if err != nil || len(b) == 0 {
		return nil, err
	}
	t, err := trunkgroup.DecodeNumberTable(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if t.Len() > MaxNumbers {
		return nil, ErrMalformed
	}
	return t, nil
}
