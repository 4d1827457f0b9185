package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	logFile     = "log.db"
	lockTimeout = time.Second
	// raftDir and discardedDir are the log that is used and the last one that was
	// discarded, which a human may still want to look into.
	raftDir      = "raft"
	discardedDir = "raft.discarded"
)

// ErrStore is wrapped when the log on disk is damaged or cannot be written.
var ErrStore = errors.New("the configuration log on disk cannot be used")

// store is raft's log and votes on disk. A write that fails is told once; from then
// on the caller must keep everybody from seeing what raft does.
type store struct {
	dir    string
	failed func(error)

	*raftboltdb.BoltStore
}

// openStore opens the log. It holds a lock on the file, so a second process with the
// same data directory stops here, before it can spend a boot number. An error that
// wraps ErrStore says that the file is damaged.
func openStore(dataDir string, failed func(error)) (*store, error) {
	dir := filepath.Join(dataDir, raftDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cluster: data directory: %w", err)
	}
	s := &store{dir: dir, failed: failed}
	err := s.open(filepath.Join(dir, logFile))
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("cluster: %s is in use by another process: %w", dataDir, err)
	case err != nil:
		return nil, fmt.Errorf("cluster: %s: %w: %w", filepath.Join(dir, logFile), ErrStore, err)
	}
	return s, nil
}

// open opens the file and reads all of it: what is torn must show now and not as a
// fault while the node works. bbolt maps the file; a part that is missing is a fault of
// the memory, and a page of nonsense a panic. Both become errors here.
func (s *store) open(path string) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var db *raftboltdb.BoltStore
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
		if err != nil && db != nil {
			// The first fault counts.
			_ = db.Close()
		}
	}()
	if err := whole(path); err != nil {
		return err
	}
	db, err = raftboltdb.New(raftboltdb.Options{Path: path, BoltOptions: &bbolt.Options{Timeout: lockTimeout}})
	if err != nil {
		return err
	}
	if err := readable(db); err != nil {
		return err
	}
	s.BoltStore = db
	return nil
}

// readable reads every entry of the log: there is no gap, and each is what it says.
func readable(db *raftboltdb.BoltStore) error {
	first, err := db.FirstIndex()
	if err != nil {
		return err
	}
	last, err := db.LastIndex()
	if err != nil || last == 0 {
		return err
	}
	for i := first; i <= last; i++ {
		var entry raft.Log
		if err := db.GetLog(i, &entry); err != nil {
			return fmt.Errorf("entry %d of %d to %d: %w", i, first, last, err)
		}
		if entry.Index != i {
			return fmt.Errorf("entry %d says that it is entry %d", i, entry.Index)
		}
	}
	return nil
}

// whole reports a bbolt file that is shorter than its own meta pages say. bbolt does
// not check it, and the first write into the missing part would end the process.
func whole(path string) error {
	const head, magic = 8192 + 80, 0xED0CDAED
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	b := make([]byte, head)
	n, _ := f.ReadAt(b, 0)
	b = b[:n]
	// A meta page: 16 octets of page header, then magic, version, page size, flags, root
	// (16 octets), free list, high-water mark, transaction, checksum.
	order := binary.LittleEndian
	for at := 0; at+16+64 <= len(b); at += 4096 {
		meta := b[at+16:]
		sum := fnv.New64a()
		sum.Write(meta[:56])
		if order.Uint32(meta) != magic || order.Uint64(meta[56:]) != sum.Sum64() {
			continue // torn: bbolt takes the other one
		}
		pageSize, pages := uint64(order.Uint32(meta[8:])), order.Uint64(meta[40:])
		if pages > 1<<40 || pageSize*pages > uint64(info.Size()) {
			return fmt.Errorf("truncated: it has %d octets and says %d", info.Size(), pageSize*pages)
		}
	}
	return nil
}

// tell reports a write that failed.
func (s *store) tell(err error) error {
	if err != nil {
		s.failed(fmt.Errorf("%w: %w", ErrStore, err))
	}
	return err
}

// StoreLog implements raft.LogStore.
func (s *store) StoreLog(log *raft.Log) error { return s.tell(s.BoltStore.StoreLog(log)) }

// StoreLogs implements raft.LogStore.
func (s *store) StoreLogs(logs []*raft.Log) error { return s.tell(s.BoltStore.StoreLogs(logs)) }

// DeleteRange implements raft.LogStore.
func (s *store) DeleteRange(first, last uint64) error {
	return s.tell(s.BoltStore.DeleteRange(first, last))
}

// Set implements raft.StableStore.
func (s *store) Set(key, value []byte) error { return s.tell(s.BoltStore.Set(key, value)) }

// SetUint64 implements raft.StableStore. raft panics when the term cannot be written,
// which would take the calls with it. The failure is told instead, upon which the
// fence is closed: nothing that follows from the unwritten term leaves this node, and
// raft is ended.
func (s *store) SetUint64(key []byte, value uint64) error {
	err := s.tell(s.BoltStore.SetUint64(key, value))
	if bytes.Equal(key, []byte("CurrentTerm")) {
		return nil
	}
	return err
}

// try writes something, to see whether the disk takes it.
func (s *store) try() error {
	return s.BoltStore.Set([]byte("tandem.try"), bytes.Repeat([]byte("x"), 64<<10))
}

// discard puts the log aside, so that the next openStore begins with none. The store
// must be closed.
func discard(dataDir string) error {
	old := filepath.Join(dataDir, discardedDir)
	if err := os.RemoveAll(old); err != nil {
		return fmt.Errorf("cluster: discard the log: %w", err)
	}
	if err := os.Rename(filepath.Join(dataDir, raftDir), old); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cluster: discard the log: %w", err)
	}
	return syncDir(dataDir)
}
