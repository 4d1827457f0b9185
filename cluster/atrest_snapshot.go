package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/atrest"
	"github.com/tandem-sbc/tandem/cluster/logs"
)

// snapshots are raft's snapshots on disk, each sealed as one text.
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
	b, err := io.ReadAll(io.LimitReader(file, int64(maxSnapshot+atrest.Overhead+1)))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, nil, fmt.Errorf("cluster: read snapshot: %w", err)
	}
	if atrest.Sealed(b) {
		if b, err = s.vault.Open(snapshotLabel(id), b); err != nil {
			return nil, nil, fmt.Errorf("cluster: snapshot %s: %w", id, err)
		}
	}
	plain := *meta
	plain.Size = int64(len(b))
	return &plain, io.NopCloser(bytes.NewReader(b)), nil
}

// sealingSink keeps what raft writes until it is whole, and writes it sealed.
type sealingSink struct {
	raft.SnapshotSink
	vault *vault
	plain bytes.Buffer
	over  bool
}

// Write implements raft.SnapshotSink.
func (s *sealingSink) Write(b []byte) (int, error) {
	if s.plain.Len()+len(b) > maxSnapshot {
		return 0, fmt.Errorf("cluster: a snapshot of more than %d octets", maxSnapshot)
	}
	return s.plain.Write(b)
}

// Close implements raft.SnapshotSink.
func (s *sealingSink) Close() error {
	if s.over {
		return nil
	}
	s.over = true
	if _, err := s.SnapshotSink.Write(s.vault.Seal(snapshotLabel(s.ID()), s.plain.Bytes())); err != nil {
		return errors.Join(err, s.Cancel())
	}
	s.plain = bytes.Buffer{}
	return s.SnapshotSink.Close()
}

// Cancel implements raft.SnapshotSink.
func (s *sealingSink) Cancel() error {
	s.over, s.plain = true, bytes.Buffer{}
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
		return syncDir(filepath.Join(dir, "snapshots"))
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
	return !atrest.Sealed(head[:n]), nil
}
