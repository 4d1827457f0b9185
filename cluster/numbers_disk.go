package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tandem-sbc/tandem/internal/durable"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// numbersDir holds the last known good number table, outside the log as the document's
// (DEC-14): bases, which are whole tables, and journals, which are the changes since. Their
// names end with a number that rises by one with each file; a table is the newest base that
// can be read and the journals from its number on.
const (
	numbersDir    = "numbers"
	basePrefix    = "base."
	journalPrefix = "journal."
)

// When the base is written again: the journals are this large, and as large as a part of the base.
const (
	compactOctets = 4 << 20
	compactShare  = 4
	maxJournals   = 16
)

// numberDisk keeps the number table on disk. One goroutine uses it, but for the writing of a
// base in the background.
type numberDisk struct {
	dir     string
	vault   *vault
	cluster string

	next    uint64 // number of the next file
	kept    trunkgroup.Version
	journal *journal // open for changes; nil: none since the last base
	dirty   bool     // what is on disk is not what was to be kept

	baseOctets    int64
	journalOctets int64
	journals      int

	background sync.WaitGroup
	mu         sync.Mutex
	writing    bool  // a base, in the background
	failure    error // of the last one
}

func newNumberDisk(dataDir, cluster string, v *vault) *numberDisk {
	return &numberDisk{dir: filepath.Join(dataDir, numbersDir), vault: v, cluster: cluster, next: 1}
}

// used reports whether there is anything on disk.
func (d *numberDisk) used() bool { return d.next > 1 }

// numberFiles are the files of the directory by number, lowest first.
type numberFiles struct{ bases, journals []uint64 }

func (d *numberDisk) list() (numberFiles, error) {
	var f numberFiles
	entries, err := os.ReadDir(d.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	for _, e := range entries {
		for prefix, list := range map[string]*[]uint64{basePrefix: &f.bases, journalPrefix: &f.journals} {
			if text, ok := strings.CutPrefix(e.Name(), prefix); ok {
				if n, bad := strconv.ParseUint(text, 10, 64); bad == nil {
					*list = append(*list, n)
				}
			}
		}
	}
	slices.Sort(f.bases)
	slices.Sort(f.journals)
	return f, err
}

func (d *numberDisk) base(n uint64) string {
	return filepath.Join(d.dir, basePrefix+strconv.FormatUint(n, 10))
}

func (d *numberDisk) journalPath(n uint64) string {
	return filepath.Join(d.dir, journalPrefix+strconv.FormatUint(n, 10))
}

// load reads the table; Revision 0 when there is none. An error tells of files that are there
// and cannot be used; what could be read comes with it.
func (d *numberDisk) load() (*trunkgroup.NumberTable, trunkgroup.Version, error) {
	files, err := d.list()
	if err != nil {
		return nil, d.kept, fmt.Errorf("numbers: %w", err)
	}
	if err := d.sweep(); err != nil {
		return nil, d.kept, err
	}
	var faults []error
	var table *trunkgroup.NumberTable
	v, from := trunkgroup.Version{}, uint64(0)
	for _, n := range slices.Backward(files.bases) {
		t, of, err := d.readBase(n)
		if err == nil {
			table, v, from = t, of, n
			break
		}
		faults = append(faults, fmt.Errorf("%s: %w", d.base(n), err))
	}
	for _, n := range files.journals {
		if d.next = max(d.next, n+1); n < from {
			continue
		}
		var size int64
		if table, v, size, err = d.readJournal(n, table, v); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", d.journalPath(n), err))
		}
		d.journalOctets += size
		d.journals++
	}
	for _, n := range files.bases {
		d.next = max(d.next, n+1)
	}
	d.kept = v
	return table, v, errors.Join(faults...)
}

// sweep removes what a crash left of files that were being written.
func (d *numberDisk) sweep() error {
	left, err := filepath.Glob(filepath.Join(d.dir, "*.tmp-*"))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// keep makes what is on disk the given table: by the journal when the changes lead from what is
// there, else by a new base. It returns when that is on disk.
func (d *numberDisk) keep(fresh []numbersOffer, table *trunkgroup.NumberTable, v trunkgroup.Version) error {
	if len(fresh) == 0 && !d.dirty && d.fault() == nil {
		return nil
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return fmt.Errorf("numbers: %w", err)
	}
	if len(fresh) > 0 && !d.dirty && d.leads(fresh) {
		if err := d.add(fresh); err == nil {
			d.kept = v
			d.compact(table, v)
			return nil
		}
		// What is half written there is nobody's: the whole table is written instead.
		d.endJournal()
	}
	if err := d.whole(table, v); err != nil {
		d.dirty = true
		return err
	}
	d.dirty, d.kept = false, v
	return nil
}

// leads reports whether the changes lead from what is on disk to the last of them. One without
// rows does not: it is an import, or its rows were dropped since too many waited.
func (d *numberDisk) leads(fresh []numbersOffer) bool {
	at := d.kept
	for _, o := range fresh {
		if len(o.rows) == 0 || o.before.Revision != at.Revision || at.Revision > 0 && o.before != at {
			return false
		}
		at = o.version
	}
	return true
}

// fault returns why a base could not be written in the background.
func (d *numberDisk) fault() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failure
}

// take returns the number of a new file; what comes after it goes to a journal of its own.
func (d *numberDisk) take() uint64 {
	n := d.next
	d.next++
	d.endJournal()
	return n
}

// endJournal closes the journal that is open, if any.
func (d *numberDisk) endJournal() {
	if d.journal != nil {
		d.journal.close()
		d.journal = nil
	}
}

// whole writes a new base and waits for it.
func (d *numberDisk) whole(table *trunkgroup.NumberTable, v trunkgroup.Version) error {
	d.background.Wait()
	size, err := d.writeBase(d.take(), table, v)
	if err != nil {
		return err
	}
	d.rebased(size)
	return d.clean()
}

// rebased notes that a base holds all.
func (d *numberDisk) rebased(size int64) {
	d.baseOctets, d.journalOctets, d.journals = size, 0, 0
	d.mu.Lock()
	d.failure = nil
	d.mu.Unlock()
}

// compact writes a new base in the background when the journals have grown. The table is
// immutable, and changes go on to a new journal meanwhile.
func (d *numberDisk) compact(table *trunkgroup.NumberTable, v trunkgroup.Version) {
	if d.journalOctets < max(compactOctets, d.baseOctets/compactShare) && d.journals < maxJournals {
		return
	}
	d.mu.Lock()
	busy := d.writing
	d.writing = true
	d.mu.Unlock()
	if busy {
		return
	}
	n := d.take()
	d.journalOctets, d.journals = 0, 0
	d.background.Go(func() {
		_, err := d.writeBase(n, table, v)
		if err == nil {
			err = d.clean()
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.writing, d.failure = false, err
	})
}

// clean removes all files but the two newest bases and the journals from the older one on.
func (d *numberDisk) clean() error {
	files, err := d.list()
	if err != nil || len(files.bases) == 0 {
		return err
	}
	from := files.bases[max(len(files.bases)-2, 0)]
	for _, n := range files.bases {
		if n < from {
			err = errors.Join(err, os.Remove(d.base(n)))
		}
	}
	for _, n := range files.journals {
		if n < from {
			err = errors.Join(err, os.Remove(d.journalPath(n)))
		}
	}
	return errors.Join(err, durable.SyncDir(d.dir))
}

// close waits for what is being written.
func (d *numberDisk) close() {
	d.endJournal()
	d.background.Wait()
}
