package cluster

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/atrest"
	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/cluster/logs"
	"github.com/tandem-sbc/tandem/internal/durable"
)

// snapshots are raft's snapshots on disk, each sealed as one text, and in pieces when there is
// a number table in it.
type snapshots struct {
	raft.SnapshotStore
	vault *vault
}

func snapshotLabel(id string) string { return "snapshot " + id }

// openSnapshots opens the snapshots of a raft directory.
func openSnapshots(dir string, v *vault, cfg *Config) (snapshots, error) {
	files, err := raft.NewFileSnapshotStoreWithLogger(dir, retainSnapshots, logs.HCLog(cfg.Logger.With("component", "raft")))
	if err != nil {
		return snapshots{}, fmt.Errorf("cluster: snapshots: %w: %w", ErrStore, err)
	}
	return snapshots{SnapshotStore: files, vault: v}, nil
}

// Create implements raft.SnapshotStore.
func (s snapshots) Create(
	v raft.SnapshotVersion, index, term uint64, c raft.Configuration, configured uint64, t raft.Transport,
) (raft.SnapshotSink, error) {
	sink, err := s.SnapshotStore.Create(v, index, term, c, configured, t)
	if err != nil {
		return nil, err
	}
	return &sealingSink{SnapshotSink: sink, vault: s.vault}, nil
}

// Open implements raft.SnapshotStore. The size is that of the plain text, which is what
// raft sends to another node.
func (s snapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	meta, file, err := s.SnapshotStore.Open(id)
	if err != nil {
		return nil, nil, err
	}
	plain := *meta
	head := bufio.NewReader(file)
	if start, _ := head.Peek(len(streamMagic)); streamed(start) {
		r, err := newSealedReader(head, s.vault, snapshotLabel(id))
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("cluster: snapshot %s: %w", id, err), file.Close())
		}
		plain.Size = plainSize(meta.Size)
		return &plain, readCloser{r, file}, nil
	}
	b, err := io.ReadAll(io.LimitReader(head, int64(fsm.MaxSnapshotHead+atrest.Overhead+1)))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, nil, fmt.Errorf("cluster: read snapshot: %w", err)
	}
	if atrest.Sealed(b) {
		if b, err = s.vault.Open(snapshotLabel(id), b); err != nil {
			return nil, nil, fmt.Errorf("cluster: snapshot %s: %w", id, err)
		}
	}
	plain.Size = int64(len(b))
	return &plain, io.NopCloser(bytes.NewReader(b)), nil
}

// readCloser reads from one and closes the other.
type readCloser struct {
	io.Reader
	io.Closer
}

// sealingSink keeps what raft writes until it is whole, and writes it sealed. What has a
// number table in it is too large for that, and sealed in pieces.
type sealingSink struct {
	raft.SnapshotSink
	vault  *vault
	plain  bytes.Buffer
	pieces *sealedWriter // nil: it is kept
	over   bool
}

// Write implements raft.SnapshotSink.
func (s *sealingSink) Write(b []byte) (int, error) {
	if s.pieces != nil {
		return s.pieces.Write(b)
	}
	if s.plain.Len()+len(b) > fsm.MaxSnapshotHead && !fsm.HasNumbers(s.plain.Bytes()) && !fsm.HasNumbers(b) {
		return 0, fmt.Errorf("cluster: a snapshot of more than %d octets", fsm.MaxSnapshotHead)
	}
	n, err := s.plain.Write(b)
	if err != nil || !fsm.HasNumbers(s.plain.Bytes()) {
		return n, err
	}
	if s.pieces, err = newSealedWriter(s.SnapshotSink, s.vault, snapshotLabel(s.ID())); err == nil {
		_, err = s.pieces.Write(s.plain.Bytes())
	}
	s.plain = bytes.Buffer{}
	return n, err
}

// Close implements raft.SnapshotSink.
func (s *sealingSink) Close() error {
	if s.over {
		return nil
	}
	s.over = true
	var err error
	if s.pieces != nil {
		err = s.pieces.Close()
	} else {
		_, err = s.SnapshotSink.Write(s.vault.Seal(snapshotLabel(s.ID()), s.plain.Bytes()))
	}
	if err != nil {
		return errors.Join(err, s.Cancel())
	}
	s.plain, s.pieces = bytes.Buffer{}, nil
	return s.SnapshotSink.Close()
}

// Cancel implements raft.SnapshotSink.
func (s *sealingSink) Cancel() error {
	s.over, s.plain, s.pieces = true, bytes.Buffer{}, nil
	return s.SnapshotSink.Cancel()
}

// reseal makes sealed ones of the snapshots that an older version wrote in clear: the newest that
// can be read is written again, and all that are in clear are removed when it is on disk.
func (s snapshots) reseal(dir string) error {
	list, err := s.List()
	if err != nil {
		return err
	}
	clear := map[string]bool{}
	for _, meta := range list {
		if plain, err := inClear(filepath.Join(dir, "snapshots", meta.ID, "state.bin")); err != nil || plain {
			clear[meta.ID] = true
		}
	}
	if len(clear) == 0 {
		return nil
	}
	var faults error
	for _, meta := range list {
		if clear[meta.ID] {
			if err := s.again(meta.ID); err != nil {
				faults = errors.Join(faults, err)
				continue
			}
		}
		// The newest one that is sound is sealed.
		for id := range clear {
			if err := os.RemoveAll(filepath.Join(dir, "snapshots", id)); err != nil {
				return err
			}
		}
		return durable.SyncDir(filepath.Join(dir, "snapshots"))
	}
	return faults
}

// again writes a snapshot once more.
func (s snapshots) again(id string) error {
	meta, r, err := s.Open(id)
	if err != nil {
		return err
	}
	sink, err := s.Create(meta.Version, meta.Index, meta.Term, meta.Configuration, meta.ConfigurationIndex, addresses{})
	if err != nil {
		return err
	}
	if _, err := io.Copy(sink, r); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

// addresses is as much of a transport as a snapshot's description needs.
type addresses struct{ raft.Transport }

// EncodePeer implements raft.Transport.
func (addresses) EncodePeer(_ raft.ServerID, a raft.ServerAddress) []byte { return []byte(a) }

// inClear reports whether a file holds something that is not sealed.
func inClear(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, atrest.Overhead)
	n, err := io.ReadFull(f, head)
	if n == 0 && errors.Is(err, io.EOF) {
		return false, nil
	}
	return !atrest.Sealed(head[:n]) && !streamed(head[:n]), nil
}
