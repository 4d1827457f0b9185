package cluster

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"

	"github.com/tandem-sbc/tandem/cluster/atrest"
	"github.com/tandem-sbc/tandem/internal/durable"
)

// logLabel binds an entry to its place.
func logLabel(entry *raft.Log) string {
	return "log " + strconv.FormatUint(entry.Term, 10) + " " + strconv.FormatUint(entry.Index, 10)
}

// sealed returns an entry as it goes to disk. raft's own stays as it is: it is sent to
// the other nodes, and what goes over the wire is not sealed.
func (s *store) sealed(entry *raft.Log) *raft.Log {
	if len(entry.Data) == 0 {
		return entry
	}
	out := *entry
	out.Data = s.vault.Seal(logLabel(entry), entry.Data)
	return &out
}

// GetLog implements raft.LogStore.
func (s *store) GetLog(index uint64, entry *raft.Log) error {
	if err := s.BoltStore.GetLog(index, entry); err != nil {
		return err
	}
	if !atrest.Sealed(entry.Data) {
		return nil // of a version before there was a data key
	}
	data, err := s.vault.Open(logLabel(entry), entry.Data)
	if err != nil {
		return fmt.Errorf("entry %d: %w", index, err)
	}
	entry.Data = data
	return nil
}

// stableKeys are all that raft keeps beside the log.
var stableKeys = [...]string{"CurrentTerm", "LastVoteTerm", "LastVoteCand"}

// reseal copies a log that an older version wrote in clear into a new file, sealed, and
// puts it in the place of the old one: pages that bbolt has freed still hold what was in
// them. The old file stays open, and with it the lock, until the new one is; a crash
// leaves one of the two.
func (s *store) reseal(path string) error {
	fresh := path + ".sealing"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := s.copyTo(fresh); err != nil {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	if err := durable.SyncDir(s.dir); err != nil {
		return err
	}
	db, err := openBolt(path)
	if err != nil {
		return err
	}
	old := s.BoltStore
	s.BoltStore = db
	return old.Close()
}

// copyTo writes all of the log, sealed, to a file that is on disk when it returns.
func (s *store) copyTo(path string) (err error) {
	db, err := openBolt(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, key := range stableKeys {
		value, err := s.Get([]byte(key))
		if errors.Is(err, raftboltdb.ErrKeyNotFound) {
			continue
		}
		if err = errors.Join(err, db.Set([]byte(key), value)); err != nil {
			return err
		}
	}
	first, last, err := s.bounds()
	if err != nil || last == 0 {
		return err
	}
	for i := first; i <= last; i++ {
		var entry raft.Log
		if err := s.GetLog(i, &entry); err != nil {
			return err
		}
		if err := db.StoreLog(s.sealed(&entry)); err != nil {
			return err
		}
	}
	return nil
}

func openBolt(path string) (*raftboltdb.BoltStore, error) {
	return raftboltdb.New(raftboltdb.Options{Path: path, BoltOptions: &bbolt.Options{Timeout: lockTimeout}})
}
