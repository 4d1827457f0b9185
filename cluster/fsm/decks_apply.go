package fsm

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func (c *Decks) apply(s *State) Result {
	d := &s.decks
	now := d.version(s.cluster)
	if c.Cluster != s.cluster {
		return Result{Version: now, Err: fmt.Errorf("%w: %q, this is %q", ErrCluster, c.Cluster, s.cluster)}
	}
	if v, ok := seen(d.keys, c.Key); ok {
		return Result{Version: v}
	}
	var err error
	switch c.Step {
	case DecksOpen:
		err = c.open(d)
	case DecksPiece:
		err = c.piece(d)
	case DecksCommit:
		return c.commit(s)
	case DecksAbandon:
		d.drop(c.Upload)
	case DecksRemove:
		return c.remove(s)
	case DecksRaise:
		return c.raise(s)
	default:
		err = fmt.Errorf("fsm: step %d of a change of rate decks is not known", c.Step)
	}
	return Result{Version: now, Err: err}
}

func (c *Decks) open(d *decks) error {
	if d.find(c.Upload) != nil {
		return nil
	}
	d.expire(c.At)
	switch {
	case len(d.uploads) >= MaxDeckUploads:
		busy := &DecksBusyError{}
		for i := range d.uploads {
			busy.Uploads = append(busy.Uploads, d.uploads[i].DeckUpload)
		}
		return busy
	case !d.fits(c.Deck, c.Kind):
		return ErrTooManyDecks
	}
	d.uploads = append(slices.Clip(d.uploads), upload{DeckUpload: DeckUpload{
		Name: c.Upload, Deck: c.Deck, Author: c.Author, Reason: c.Reason, Opened: c.At, Last: c.At, DeckKind: c.Kind,
	}})
	return nil
}

func (c *Decks) piece(d *decks) error {
	u := d.find(c.Upload)
	switch {
	case u == nil:
		return ErrNoUpload
	case c.Piece < u.Pieces:
		return nil // it came again
	case c.Piece > u.Pieces:
		return errPiece
	case u.Have+uint64(len(c.Data)) > u.Size:
		return ErrDeckDamaged
	}
	// Copies of the state go on to share what they have.
	u.data = append(slices.Clip(u.data), bytes.Clone(c.Data))
	u.Last = c.At
	u.Have += uint64(len(c.Data))
	u.Pieces++
	return nil
}

// next returns the version that a change makes, or why it must not.
func (c *Decks) next(s *State) (trunkgroup.Version, error) {
	v := s.decks.version(s.cluster)
	if c.Expect != nil && *c.Expect != v.Revision {
		return v, &DecksEditionError{Expected: *c.Expect, Have: v}
	}
	v.Revision++
	return v, nil
}

func (c *Decks) commit(s *State) Result {
	d := &s.decks
	now := d.version(s.cluster)
	u := d.find(c.Upload)
	if u == nil {
		return Result{Version: now, Err: ErrNoUpload}
	}
	next, err := c.next(s)
	if err != nil {
		return Result{Version: now, Err: err}
	}
	data := bytes.Join(u.data, nil)
	if uint64(len(data)) != u.Size || sha256.Sum256(data) != u.Sum {
		return Result{Version: now, Err: ErrDeckDamaged}
	}
	deck := Deck{Name: u.Deck, Edition: next.Revision, Author: c.Author, Reason: c.Reason, At: c.At, DeckKind: u.DeckKind, Data: data}
	d.drop(c.Upload)
	i, there := d.place(deck.Name)
	switch {
	case there && d.list[i].DeckKind == deck.DeckKind:
		d.keys = remembered(d.keys, c.Key, now)
		return Result{Version: now}
	case !d.fits(deck.Name, deck.DeckKind):
		// Another upload was committed meanwhile.
		return Result{Version: now, Err: ErrTooManyDecks}
	}
	d.list = slices.Clone(d.list)
	if there {
		d.list[i] = deck
	} else {
		d.list = slices.Insert(d.list, i, deck)
	}
	return c.put(s, next, DecksRecord{Deck: deck.Name, Rows: deck.Rows})
}

func (c *Decks) remove(s *State) Result {
	d := &s.decks
	now := d.version(s.cluster)
	i, there := d.place(c.Deck)
	if !there {
		return Result{Version: now, Err: ErrNoDeck}
	}
	next, err := c.next(s)
	if err != nil {
		return Result{Version: now, Err: err}
	}
	d.list = slices.Delete(slices.Clone(d.list), i, i+1)
	return c.put(s, next, DecksRecord{Deck: c.Deck, Removed: true})
}

func (c *Decks) raise(s *State) Result {
	next := s.decks.version(s.cluster)
	if c.Generation <= next.Generation {
		return Result{Version: next, Err: fmt.Errorf("%w: %d, it is %d", ErrGeneration, c.Generation, next.Generation)}
	}
	next.Generation = c.Generation
	next.Revision++
	return c.put(s, next, DecksRecord{})
}

// put makes what was changed an edition.
func (c *Decks) put(s *State, v trunkgroup.Version, r DecksRecord) Result {
	d := &s.decks
	d.generation, d.edition = v.Generation, v.Revision
	d.keys = remembered(d.keys, c.Key, v)
	r.Version, r.Author, r.Reason, r.At = v, c.Author, c.Reason, c.At
	d.history = append(d.history, r)
	if over := len(d.history) - MaxDecksHistory; over > 0 {
		d.history = append([]DecksRecord(nil), d.history[over:]...)
	}
	return Result{Version: v, Changed: true, Decks: &DecksDelta{Record: r}}
}
