package cluster

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/internal/durable"
	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// numbersMagic starts a base before it is sealed; the last octet is the version of its format.
const numbersMagic = "TNDNUM\x00\x01"

// errNumbers is returned for a file that is not what its name says, or damaged.
var errNumbers = errors.New("not a file of the number table, or damaged")

// writeBase writes a whole table: magic, cluster, version, checksum and the table, sealed in
// pieces. After it returns, a crash leaves the file whole.
func (d *numberDisk) writeBase(n uint64, t *trunkgroup.NumberTable, v trunkgroup.Version) (size int64, err error) {
	path := d.base(n)
	f, err := os.CreateTemp(d.dir, filepath.Base(path)+".tmp-*")
	if err != nil {
		return 0, fmt.Errorf("numbers: %w", err)
	}
	err = d.fillBase(f, n, t, v)
	if err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		// The fault that counts is reported.
		_ = os.Remove(f.Name())
		return 0, fmt.Errorf("numbers: write %s: %w", path, err)
	}
	return size, durable.SyncDir(d.dir)
}

func (d *numberDisk) fillBase(f io.Writer, n uint64, t *trunkgroup.NumberTable, v trunkgroup.Version) error {
	w := bufio.NewWriterSize(f, streamPiece)
	sealed, err := newSealedWriter(w, d.vault, baseLabel(n))
	if err != nil {
		return err
	}
	b := octets.Append([]byte(numbersMagic), v.Cluster)
	for _, x := range []uint64{v.Generation, v.Revision, t.Checksum()} {
		b = binary.AppendUvarint(b, x)
	}
	if _, err := sealed.Write(t.AppendBinary(b)); err != nil {
		return err
	}
	if err := sealed.Close(); err != nil {
		return err
	}
	return w.Flush()
}

func baseLabel(n uint64) string { return "numbers base " + strconv.FormatUint(n, 10) }

// readBase reads what writeBase wrote.
func (d *numberDisk) readBase(n uint64) (*trunkgroup.NumberTable, trunkgroup.Version, error) {
	var v trunkgroup.Version
	f, err := os.Open(d.base(n))
	if err != nil {
		return nil, v, err
	}
	defer f.Close()
	sealed, err := newSealedReader(f, d.vault, baseLabel(n))
	if err != nil {
		return nil, v, fmt.Errorf("%w: %w", errNumbers, err)
	}
	b, err := io.ReadAll(io.LimitReader(sealed, fsm.MaxNumberTable))
	if err != nil {
		return nil, v, fmt.Errorf("%w: %w", errNumbers, err)
	}
	if len(b) < len(numbersMagic) || string(b[:len(numbersMagic)]) != numbersMagic {
		return nil, v, errNumbers
	}
	r := octets.Read(b[len(numbersMagic):])
	v.Cluster = r.Text(fsm.MaxName)
	v.Generation, v.Revision = r.Number(), r.Number()
	sum := r.Number()
	if r.Bad() {
		return nil, trunkgroup.Version{}, errNumbers
	}
	t, err := trunkgroup.DecodeNumberTable(r.Rest())
	if err != nil || t.Checksum() != sum {
		return nil, trunkgroup.Version{}, errors.Join(errNumbers, err)
	}
	if info, err := f.Stat(); err == nil {
		d.baseOctets = info.Size()
	}
	return t, v, nil
}

// journal is a file of changes, open for more.
type journal struct {
	f *os.File
	n uint64 // of the file
	i int    // of the next change
}

func (j *journal) close() { _ = j.f.Close() } // each change was synced

// changeLabel binds a change to its place.
func changeLabel(n uint64, i int) string {
	return "numbers journal " + strconv.FormatUint(n, 10) + " " + strconv.Itoa(i)
}

// add appends changes to the journal; they are on disk when it returns.
func (d *numberDisk) add(fresh []numbersOffer) error {
	if d.journal == nil {
		n := d.take()
		f, err := os.OpenFile(d.journalPath(n), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("numbers: %w", err)
		}
		d.journal = &journal{f: f, n: n}
		d.journals++
		if err := durable.SyncDir(d.dir); err != nil {
			return err
		}
	}
	j := d.journal
	var b []byte
	for _, o := range fresh {
		sealed := d.vault.Seal(changeLabel(j.n, j.i), encodeChange(d.cluster, &o))
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(sealed))), sealed...)
		j.i++
	}
	_, err := j.f.Write(b)
	if err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("numbers: write %s: %w", j.f.Name(), err)
	}
	d.journalOctets += int64(len(b))
	return nil
}

func encodeChange(cluster string, o *numbersOffer) []byte {
	b := octets.Append(nil, cluster)
	for _, x := range []uint64{o.before.Generation, o.before.Revision, o.version.Generation, o.version.Revision} {
		b = binary.AppendUvarint(b, x)
	}
	return fsm.AppendNumberRows(b, o.rows)
}

func decodeChange(b []byte) (o numbersOffer, ok bool) {
	r := octets.Read(b)
	cluster := r.Text(fsm.MaxName)
	o.before = trunkgroup.Version{Cluster: cluster, Generation: r.Number(), Revision: r.Number()}
	o.version = trunkgroup.Version{Cluster: cluster, Generation: r.Number(), Revision: r.Number()}
	if r.Bad() {
		return o, false
	}
	var err error
	o.rows, err = fsm.DecodeNumberRows(r.Rest())
	return o, err == nil
}

// maxChange bounds a sealed change in octets.
const maxChange = fsm.MaxNumberRows + 4<<10

// readJournal applies the changes of a file that lead on from v. What a crash left half written
// at its end is not there: nobody saw it.
func (d *numberDisk) readJournal(n uint64, t *trunkgroup.NumberTable, v trunkgroup.Version) (*trunkgroup.NumberTable, trunkgroup.Version, int64, error) {
	f, err := os.Open(d.journalPath(n))
	if err != nil {
		return t, v, 0, err
	}
	defer f.Close()
	r, size := bufio.NewReader(f), int64(0)
	for i := 0; ; i++ {
		var head [4]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return t, v, size, nil
		}
		length := binary.BigEndian.Uint32(head[:])
		if length > maxChange {
			return t, v, size, errNumbers
		}
		sealed := make([]byte, length)
		if _, err := io.ReadFull(r, sealed); err != nil {
			return t, v, size, nil
		}
		size += int64(len(head) + len(sealed))
		plain, err := d.vault.Open(changeLabel(n, i), sealed)
		if err != nil {
			return t, v, size, fmt.Errorf("%w: change %d: %w", errNumbers, i, err)
		}
		o, ok := decodeChange(plain)
		if !ok {
			return t, v, size, fmt.Errorf("%w: change %d", errNumbers, i)
		}
		if v.Revision == 0 && o.before.Revision == 0 {
			v = o.before
		}
		if o.before != v {
			continue // it is in the base, or the base before it is gone
		}
		next, err := t.With(o.rows)
		if err != nil {
			return t, v, size, fmt.Errorf("%w: change %d: %w", errNumbers, i, err)
		}
		t, v = next, o.version
	}
}
