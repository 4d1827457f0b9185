package cluster

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Magics that start a backup; the last octet is the version of its format. The state of
// version 1 is in clear, as older builds wrote it.
const (
	backupMagic = "TNDBKP\x00\x02"
	backupClear = "TNDBKP\x00\x01"
)

// MaxBackup bounds a backup in octets.
const MaxBackup = fsm.MaxSnapshotHead + fsm.MaxNumberTable + fsm.MaxAllDecks + 64<<10

// maxBackupHead bounds the description in a backup in octets.
const maxBackupHead = 16 << 10

// BackupInfo says what a backup is of. It is JSON in the file, so that a human finds
// it with a pager.
type BackupInfo struct {
	Cluster    string    `json:"cluster"`
	Generation uint64    `json:"generation"` // of the newest revision
	Revision   uint64    `json:"revision"`
	Revisions  int       `json:"revisions"`         // how many are in it
	Numbers    int       `json:"numbers,omitempty"` // patterns of the number table
	Edition    uint64    `json:"edition,omitempty"` // of the number table
	Decks      int       `json:"decks,omitempty"`   // rate decks
	Node       string    `json:"node"`              // that wrote it
	Build      string    `json:"build"`
	At         time.Time `json:"at"`
}

// Backup is a copy of the configuration log's state: history, versions and all.
type Backup struct {
	Info  BackupInfo
	state *fsm.State
}

// Backup returns the whole state of the configuration as one file with a checksum.
// Without quorum it holds what this node knows.
func (n *Node) Backup() ([]byte, BackupInfo, error) {
	state := n.machine.clone()
	if newest, ok := n.Current(); ok && newest.Version.Newer(state.Version()) {
		// After a restart without quorum only the last known good document is known, and
		// what was before it when that is a canary.
		state = fsm.Of(n.settled())
	}
	_, logged := state.Numbers()
	if table, running := n.publisher.numbersNow(); running.Newer(logged) {
		state.PutNumbers(table, running)
	}
	if running := n.decks.state(); running.Version.Revision > 0 {
		if _, logged := state.Decks(); running.Version.Newer(logged) {
			state.PutDecks(running.List, running.Version)
		}
	}
	body, err := state.Snapshot()
	if err != nil {
		return nil, BackupInfo{}, fmt.Errorf("cluster: backup: %w", err)
	}
	v := state.Version()
	if v.Revision == 0 {
		return nil, BackupInfo{}, errors.New("cluster: backup: there is no document yet")
	}
	info := BackupInfo{
		Cluster: n.cfg.Cluster, Generation: v.Generation, Revision: v.Revision, Revisions: len(state.History()),
		Node: n.cfg.Node, Build: n.cfg.Build, At: time.Now().UTC().Truncate(time.Second),
	}
	table, edition := state.Numbers()
	info.Numbers, info.Edition = table.Len(), edition.Revision
	decks, _ := state.Decks()
	info.Decks = len(decks)
	head, err := json.Marshal(info)
	if err != nil {
		return nil, BackupInfo{}, fmt.Errorf("cluster: backup: %w", err)
	}
	ring, _, _ := n.trust()
	if body, err = sealBackup(body, ring); err != nil {
		return nil, BackupInfo{}, fmt.Errorf("cluster: backup: %w", err)
	}
	return encodeBackup(backupMagic, head, body), info, nil
}

// encodeBackup makes the file: magic, length and text of the description, the body,
// SHA-256 of all of it.
func encodeBackup(magic string, head, body []byte) []byte {
	b := append([]byte(magic), '\n')
	b = binary.BigEndian.AppendUint32(b, uint32(len(head)))
	b = append(append(b, head...), '\n')
	b = append(b, body...)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// ErrBackup is wrapped by what OpenBackup says of a file.
var ErrBackup = errors.New("not a backup of tandem, or damaged")

// OpenBackup checks a backup and reads it. Errors wrap ErrBackup or ErrBackupKey.
func OpenBackup(b []byte, ring *keyring.Keyring) (*Backup, error) {
	const fixed = len(backupMagic) + 1 + 4
	if len(b) < fixed+1+sha256.Size || len(b) > MaxBackup {
		return nil, ErrBackup
	}
	magic := string(b[:len(backupMagic)])
	if magic != backupMagic && magic != backupClear {
		return nil, ErrBackup
	}
	body, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if want := sha256.Sum256(body); !bytes.Equal(sum, want[:]) {
		return nil, fmt.Errorf("%w: the checksum is wrong", ErrBackup)
	}
	n := binary.BigEndian.Uint32(body[fixed-4:])
	if n > maxBackupHead || int(n)+1 > len(body)-fixed {
		return nil, ErrBackup
	}
	var info BackupInfo
	if err := json.Unmarshal(body[fixed:fixed+int(n)], &info); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBackup, err)
	}
	body = body[fixed+int(n)+1:]
	if magic == backupMagic {
		var err error
		if body, err = unsealBackup(body, ring); err != nil {
			return nil, err
		}
	}
	state, err := fsm.Restore(info.Cluster, body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBackup, err)
	}
	if _, ok := state.Current(); !ok {
		return nil, fmt.Errorf("%w: it holds no document", ErrBackup)
	}
	return &Backup{Info: info, state: state}, nil
}

// History returns the revisions in the backup, oldest first.
func (b *Backup) History() []fsm.Revision { return b.state.History() }

// Document returns a revision of the backup; 0 is the one that was in force. False:
// it is not there.
func (b *Backup) Document(revision uint64) (fsm.Entry, bool) {
	if revision == 0 {
		return b.state.Current()
	}
	for _, v := range b.state.History() {
		if v.Version.Revision == revision {
			return v.Entry, true
		}
	}
	return fsm.Entry{}, false
}

// Restoration says what of a backup is put into force.
type Restoration struct {
	Revision uint64 // of the backup; 0 is the one that was in force
	Author   string
	Reason   string
	Key      string // makes the restoration idempotent, as that of Change
}

// Restore puts a document of a backup into force, with a generation above those of
// the cluster and of the backup, so that every node takes it (DEC-14). What the
// backup remembers and the cluster does not is then added to the history; that this
// failed is the error beside a version. Other errors: ErrBackup and those of Propose.
func (n *Node) Restore(ctx context.Context, b *Backup, r Restoration) (trunkgroup.Version, error) {
	if b.Info.Cluster != n.cfg.Cluster {
		return trunkgroup.Version{}, &RefusedError{Message: fmt.Sprintf("the backup is of cluster %q, and this is %q", b.Info.Cluster, n.cfg.Cluster)}
	}
	e, ok := b.Document(r.Revision)
	if !ok {
		return trunkgroup.Version{}, &RefusedError{Message: fmt.Sprintf("the backup has no revision %d", r.Revision)}
	}
	set := n.set(Change{Document: e.Document, Author: r.Author, Reason: r.Reason, Key: cmp.Or(r.Key, rand.Text())})
	set.Generation = max(n.newest().Generation, b.Info.Generation) + 1
	if err := set.Check(); err != nil {
		return trunkgroup.Version{}, &RefusedError{Message: err.Error()}
	}
	if _, err := n.validate(set.Document, set.Generation); err != nil {
		return trunkgroup.Version{}, err
	}
	v, err := n.commit(ctx, set.Append(nil), true)
	if err != nil {
		return v, err
	}
	if err := n.restoreNumbers(ctx, b, r); err != nil {
		return v, fmt.Errorf("%w: %w", ErrNumbersNotRestored, err)
	}
	if err := n.restoreDecks(ctx, b, r); err != nil {
		return v, fmt.Errorf("%w: %w", ErrDecksNotRestored, err)
	}
	if err := n.recall(ctx, b); err != nil {
		return v, fmt.Errorf("cluster: the document is in force, but the history of the backup was not taken: %w", err)
	}
	return v, nil
}

// restoreNumbers makes the number table that of a backup, when its newest document was restored
// and it has one.
func (n *Node) restoreNumbers(ctx context.Context, b *Backup, r Restoration) error {
	table, v := b.state.Numbers()
	if r.Revision != 0 || v.Revision == 0 {
		return nil
	}
	_, err := n.ImportNumbers(ctx, NumbersImport{
		Rows: table, Author: r.Author, Reason: r.Reason, exactly: true,
		generation: max(n.newestNumbers().Generation, v.Generation) + 1,
	})
	return err
}

// ErrNumbersNotRestored is wrapped by the error of Restore when the document of a backup is in
// force, and its number table is not.
var ErrNumbersNotRestored = errors.New("cluster: the document is in force, but the numbers of the backup are not")

// recall adds the revisions that only the backup knows to the history, newest first.
func (n *Node) recall(ctx context.Context, b *Backup) error {
	have := map[trunkgroup.Version]bool{}
	for _, v := range n.machine.history() {
		have[v.Version] = true
	}
	for _, past := range slices.Backward(b.History()) {
		c := &fsm.Recall{Revision: past}
		if have[c.Version] {
			continue
		}
		if c.State == fsm.Staged {
			c.State = fsm.Abandoned
		}
		if err := c.Check(); err != nil {
			return err
		}
		if _, err := n.commit(ctx, c.Append(nil), false); err != nil {
			return err
		}
	}
	return nil
}
