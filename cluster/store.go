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
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/tandem-sbc/tandem/cluster/atrest"
	"github.com/tandem-sbc/tandem/internal/durable"
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
	vault  *vault
	failed func(error)
	// inClear says why entries of an older version are still in clear on disk; nil when
	// none is.
	inClear error

	*raftboltdb.BoltStore
}

// openStore opens the log. It holds a lock on the file, so a second process with the
// same data directory stops here, before it can spend a boot number. An error that
// wraps ErrStore says that the file is damaged.
func openStore(dataDir string, v *vault, failed func(error)) (*store, error) {
	return openStoreIn(filepath.Join(dataDir, raftDir), v, failed)
}

func openStoreIn(dir string, v *vault, failed func(error)) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cluster: data directory: %w", err)
	}
	s := &store{dir: dir, vault: v, failed: failed}
	err := s.open(filepath.Join(dir, logFile))
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("cluster: %s is in use by another process: %w", dir, err)
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
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
		if err != nil && s.BoltStore != nil {
			// The first fault counts.
			_ = s.Close()
		}
	}()
	if err := whole(path); err != nil {
		return err
	}
	if s.BoltStore, err = openBolt(path); err != nil {
		return err
	}
	clear, err := s.readable()
	if err == nil && clear {
		s.inClear = s.reseal(path)
	}
	return err
}

// bounds returns the first and the last index; both 0 when the log is empty.
func (s *store) bounds() (first, last uint64, err error) {
	if first, err = s.FirstIndex(); err == nil {
		last, err = s.LastIndex()
	}
	return first, last, err
}

// readable reads every entry of the log: there is no gap, and each is what it says. It
// reports whether one is in clear.
func (s *store) readable() (clear bool, err error) {
	first, last, err := s.bounds()
	if err != nil || last == 0 {
		return false, err
	}
	for i := first; i <= last; i++ {
		var entry raft.Log
		if err := s.BoltStore.GetLog(i, &entry); err != nil {
			return false, fmt.Errorf("entry %d of %d to %d: %w", i, first, last, err)
		}
		if entry.Index != i {
			return false, fmt.Errorf("entry %d says that it is entry %d", i, entry.Index)
		}
		if len(entry.Data) > 0 && !atrest.Sealed(entry.Data) {
			clear = true
			continue
		}
		if err := s.GetLog(i, &entry); err != nil {
			return false, err
		}
	}
	return clear, nil
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
func (s *store) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

// StoreLogs implements raft.LogStore.
func (s *store) StoreLogs(logs []*raft.Log) error {
	sealed := make([]*raft.Log, len(logs))
	for i, log := range logs {
		sealed[i] = s.sealed(log)
	}
	return s.tell(s.BoltStore.StoreLogs(sealed))
}

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
	return durable.SyncDir(dataDir)
}
