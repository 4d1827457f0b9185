package cluster

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// decksProtocol is the protocol of which all members must be before a change of the rate decks
// is put into the log: an older build would halt at it.
const decksProtocol = 4

// Decks is the rate decks as this node runs them. Their rows are opaque here.
type Decks struct {
	List    []fsm.Deck         // by name
	Version trunkgroup.Version // Revision is the edition; 0 before the first change
	Source  string             // SourceDisk, SourceRaft or SourceNone
	At      time.Time          // since when they run
	Lower   uint64             // editions that were refused for a lower pair; a replay counts
	Uploads []fsm.DeckUpload
}

// Decks returns the rate decks that this node runs.
func (n *Node) Decks() Decks {
	d := n.decks.state()
	if d.Version.Revision == 0 {
		d.Version, d.Source = trunkgroup.Version{Cluster: n.cfg.Cluster, Generation: 1}, SourceNone
	}
	d.Uploads = n.machine.deckUploads()
	return d
}

// DecksHistory returns the changes of the rate decks that the cluster remembers, oldest first;
// empty after a restart until there is a leader.
func (n *Node) DecksHistory() []fsm.DecksRecord { return n.machine.deckHistory() }

// OnDecks registers a function that is told of all rate decks whenever they change, with who
// changed what; no records when that is not known. Register it before Start, which calls it
// with what the disk holds; later calls come from one goroutine, and the decks count as
// running when they have returned.
func (n *Node) OnDecks(f func(Decks, []fsm.DecksRecord)) { n.decks.tell = append(n.decks.tell, f) }

// DeckImport is a rate deck that is to be in force.
type DeckImport struct {
	Name     string
	Data     []byte // its rows, as readers of Decks understand them
	Rows     int
	Sells    bool // what customers pay
	Currency string
	Author   string
	Reason   string
	// Expect, when set, is the edition that the author saw; the change is refused with
	// *fsm.DecksEditionError when another one is current.
	Expect *uint64
	Key    string // makes the import idempotent, as that of Change
}

// ImportDeck makes a rate deck the one of its name, in one step that all nodes take at the
// same place of the log, and waits until this node runs it or the context ends. changed is
// false when it was so already. On an error nothing has changed, but for ErrNoLeader, after
// which it may have: repeat it. Errors: *fsm.DecksEditionError, *RefusedError, ErrNoLeader.
func (n *Node) ImportDeck(ctx context.Context, i DeckImport) (v trunkgroup.Version, changed bool, err error) {
	kind := fsm.DeckKind{Sells: i.Sells, Currency: i.Currency, Rows: uint64(i.Rows), Size: uint64(len(i.Data)), Sum: sha256.Sum256(i.Data)}
	list, before := n.machine.deckList()
	if (i.Expect == nil || *i.Expect == before.Revision) && slices.ContainsFunc(list, func(d fsm.Deck) bool { return d.Name == i.Name && d.DeckKind == kind }) {
		n.awaitDecks(ctx, before)
		return before, false, nil
	}
	if i.Key == "" {
		i.Key = rand.Text()
	}
	for _, u := range n.orphanedUploads() {
		n.abandonUpload(u.Name, n.cfg.Node, "left behind by a restart")
	}
	name := n.uploadPrefix() + rand.Text()
	step := func(s fsm.DecksStep, adjust func(*fsm.Decks)) (trunkgroup.Version, error) {
		c := &fsm.Decks{Step: s, Cluster: n.cfg.Cluster, Upload: name, Author: i.Author, Reason: i.Reason, At: time.Now()}
		adjust(c)
		return n.commitDecks(ctx, c)
	}
	_, err = step(fsm.DecksOpen, func(c *fsm.Decks) { c.Deck, c.Kind = i.Name, kind })
	piece := uint64(0)
	for part := range slices.Chunk(i.Data, fsm.MaxDeckPiece) {
		if err != nil {
			break
		}
		_, err = step(fsm.DecksPiece, func(c *fsm.Decks) { c.Piece, c.Data = piece, part })
		piece++
	}
	if err == nil {
		v, err = step(fsm.DecksCommit, func(c *fsm.Decks) { c.Expect, c.Key = i.Expect, i.Key })
	}
	if err != nil {
		if !n.isStopping() {
			n.wg.Go(func() { n.abandonUpload(name, i.Author, err.Error()) })
		}
		if other, is := errors.AsType[*fsm.DecksEditionError](err); is {
			n.awaitDecks(ctx, other.Have) // who puts his rows into that edition finds it here
		}
		return v, false, err
	}
	n.awaitDecks(ctx, v)
	return v, v.Newer(before), nil
}

// DeckRemoval takes a rate deck out; its fields are those of DeckImport.
type DeckRemoval struct {
	Name, Author, Reason string
	Expect               *uint64
	Key                  string
}

// RemoveDeck takes a rate deck out, and waits until this node runs without it. Errors are those
// of ImportDeck.
func (n *Node) RemoveDeck(ctx context.Context, r DeckRemoval) (trunkgroup.Version, error) {
	if r.Key == "" {
		r.Key = rand.Text()
	}
	v, err := n.commitDecks(ctx, &fsm.Decks{
		Step: fsm.DecksRemove, Cluster: n.cfg.Cluster, Deck: r.Name, Author: r.Author, Reason: r.Reason, Expect: r.Expect, Key: r.Key, At: time.Now(),
	})
	if err == nil {
		n.awaitDecks(ctx, v)
	}
	return v, err
}

// commitDecks checks a step and has it applied.
func (n *Node) commitDecks(ctx context.Context, c *fsm.Decks) (trunkgroup.Version, error) {
	if err := c.Check(); err != nil {
		return trunkgroup.Version{}, &RefusedError{Message: err.Error()}
	}
	return n.commit(ctx, c.Append(nil), false)
}

// acceptDecks is what the leader says of a change of rate decks. Once there was one, a build
// that does not know it has no part in the log any more.
func (n *Node) acceptDecks() error {
	if _, v := n.machine.deckList(); v.Revision > 0 || len(n.machine.deckUploads()) > 0 {
		return nil
	}
	return n.allSpeak(decksProtocol)
}

// awaitDecks waits until this node runs the version or a newer one.
func (n *Node) awaitDecks(ctx context.Context, v trunkgroup.Version) {
	for {
		running, changed := n.decks.now()
		if v.Revision == 0 || !v.Newer(running) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-n.ctx.Done():
			return
		}
	}
}

// watchDecks raises an alarm when the replay is over and the cluster's rate decks are still
// older than those that run, and ends uploads whose node is gone. One goroutine calls it.
func (n *Node) watchDecks() {
	n.decks.poke()
	now := time.Now()
	running, _ := n.decks.now()
	if !n.caughtUp() || n.quorumAge() > 0 {
		n.decksLower.reset()
		return
	}
	_, v := n.machine.deckList()
	n.decksLower.look(now, &n.alarms, AlarmDecksLower, "rate decks", running, v, running == v)
	for _, u := range n.orphanedUploads() {
		n.wg.Go(func() { n.abandonUpload(u.Name, n.cfg.Node, "left behind by a restart") })
	}
	if n.raft.State() != raft.Leader {
		return
	}
	for _, u := range n.machine.deckUploads() {
		if now.Sub(u.Last) > fsm.ImportPatience {
			n.wg.Go(func() { n.abandonUpload(u.Name, n.cfg.Node, "no sign of life") })
		}
	}
}

// uploadPrefix begins the names of the uploads of this process.
func (n *Node) uploadPrefix() string { return fmt.Sprintf("%s/%d/", n.cfg.Node, n.boot) }

// orphanedUploads are those of this node that it began before it was started anew.
func (n *Node) orphanedUploads() []fsm.DeckUpload {
	return slices.DeleteFunc(n.machine.deckUploads(), func(u fsm.DeckUpload) bool {
		return !strings.HasPrefix(u.Name, n.cfg.Node+"/") || strings.HasPrefix(u.Name, n.uploadPrefix())
	})
}

// abandonUpload drops an upload; that it failed leaves the upload to its end by age.
func (n *Node) abandonUpload(name, author, reason string) {
	ctx, cancel := context.WithTimeout(n.ctx, rpcTimeout)
	defer cancel()
	c := &fsm.Decks{Step: fsm.DecksAbandon, Cluster: n.cfg.Cluster, Upload: name, Author: author, Reason: reason[:min(len(reason), fsm.MaxReason)], At: time.Now()}
	if _, err := n.commitDecks(ctx, c); err != nil {
		n.log.Warn("an upload of a rate deck was not abandoned; it ends by itself", "upload", name, "error", err)
	}
}

// raiseDecks makes the rate decks those of list and puts them into force above every version
// that may run elsewhere (DEC-14). Generation is the highest that was seen.
func (n *Node) raiseDecks(ctx context.Context, list []fsm.Deck, generation uint64, author, reason string) error {
	have, v := n.machine.deckList()
	if len(list) == 0 && v.Revision == 0 && generation <= v.Generation {
		return nil
	}
	for _, d := range list {
		i := DeckImport{Name: d.Name, Data: d.Data, Rows: int(d.Rows), Sells: d.Sells, Currency: d.Currency, Author: author, Reason: reason}
		if _, _, err := n.ImportDeck(ctx, i); err != nil {
			return fmt.Errorf("rate deck %s: %w", d.Name, err)
		}
	}
	for _, d := range have {
		if slices.ContainsFunc(list, func(x fsm.Deck) bool { return x.Name == d.Name }) {
			continue
		}
		if _, err := n.RemoveDeck(ctx, DeckRemoval{Name: d.Name, Author: author, Reason: reason}); err != nil {
			return fmt.Errorf("rate deck %s: %w", d.Name, err)
		}
	}
	_, now := n.machine.deckList()
	raised, err := n.commitDecks(ctx, &fsm.Decks{
		Step: fsm.DecksRaise, Cluster: n.cfg.Cluster, Generation: max(generation, now.Generation) + 1, Author: author, Reason: reason, At: time.Now(),
	})
	if err == nil {
		n.awaitDecks(ctx, raised)
	}
	return err
}

// recoverDecks puts the newest rate decks that are known into force again, after the log was
// recovered.
func (n *Node) recoverDecks(ctx context.Context, author, reason string) error {
	list, v := n.machine.deckList()
	running := n.decks.state()
	if v.Revision == 0 && running.Version.Revision == 0 {
		return nil
	}
	if running.Version.Newer(v) {
		list = running.List // the log that knew them is lost
	}
	return n.raiseDecks(ctx, list, max(v.Generation, running.Version.Generation), author, reason)
}

// ErrDecksNotRestored is wrapped by the error of Restore when the document and the numbers of a
// backup are in force, and its rate decks are not.
var ErrDecksNotRestored = errors.New("cluster: the document is in force, but the rate decks of the backup are not")

// restoreDecks makes the rate decks those of a backup, when its newest document was restored
// and it has some.
func (n *Node) restoreDecks(ctx context.Context, b *Backup, r Restoration) error {
	list, v := b.state.Decks()
	if r.Revision != 0 || v.Revision == 0 {
		return nil
	}
	running, _ := n.decks.now()
	return n.raiseDecks(ctx, list, max(running.Generation, v.Generation), r.Author, r.Reason)
}
