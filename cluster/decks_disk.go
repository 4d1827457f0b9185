package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// decksDir holds the last known good rate decks, outside the log as the document's (DEC-14):
// an index that says which there are, and a file for the rows of each, named after their
// SHA-256. What the index names is on disk before the index is, so a crash leaves one edition
// or the other.
const (
	decksDir       = "decks"
	deckIndex      = "index"
	deckIndexLabel = "rate decks index"
	deckFile       = "deck."
)

// errDecks is returned for a file that is not what its name says, or damaged.
var errDecks = errors.New("not a file of the rate decks, or damaged")

// deckDisk keeps the rate decks on disk. One goroutine uses it.
type deckDisk struct {
	dir   string
	vault *vault
}

func newDeckDisk(dataDir string, v *vault) *deckDisk {
	return &deckDisk{dir: filepath.Join(dataDir, decksDir), vault: v}
}

// deckIndexFormat is the version of the index that this build writes and the highest that it
// reads.
const deckIndexFormat = 1

// indexed is the index as JSON, before it is sealed.
type indexed struct {
	Format     int           `json:"format"`
	Cluster    string        `json:"cluster"`
	Generation uint64        `json:"generation"`
	Edition    uint64        `json:"edition"`
	Decks      []indexedDeck `json:"decks"`
}

type indexedDeck struct {
	Name     string    `json:"name"`
	Edition  uint64    `json:"edition"`
	Author   string    `json:"author"`
	Reason   string    `json:"reason"`
	At       time.Time `json:"at,omitzero"`
	Sells    bool      `json:"sells,omitempty"`
	Currency string    `json:"currency,omitempty"`
	Rows     uint64    `json:"rows"`
	Size     uint64    `json:"size"`
	Sum      string    `json:"sha256"`
}

// keep makes what is on disk the given decks. It returns when they are on disk.
func (d *deckDisk) keep(list []fsm.Deck, v trunkgroup.Version) error {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return fmt.Errorf("rate decks: %w", err)
	}
	index := indexed{Format: deckIndexFormat, Cluster: v.Cluster, Generation: v.Generation, Edition: v.Revision, Decks: []indexedDeck{}}
	named := map[string]bool{deckIndex: true}
	for i := range list {
		x := &list[i]
		sum := hex.EncodeToString(x.Sum[:])
		if err := d.write(deckFile+sum, x.Data); err != nil {
			return fmt.Errorf("rate decks: %w", err)
		}
		named[deckFile+sum] = true
		index.Decks = append(index.Decks, indexedDeck{
			Name: x.Name, Edition: x.Edition, Author: x.Author, Reason: x.Reason, At: x.At,
			Sells: x.Sells, Currency: x.Currency, Rows: x.Rows, Size: x.Size, Sum: sum,
		})
	}
	b, err := json.Marshal(index)
	if err == nil {
		err = writeDurable(filepath.Join(d.dir, deckIndex), d.vault.Seal(deckIndexLabel, b))
	}
	if err != nil {
		return fmt.Errorf("rate decks: %w", err)
	}
	return d.clean(named)
}

// write seals the rows of a deck into a file, unless it is there.
func (d *deckDisk) write(name string, data []byte) error {
	path := filepath.Join(d.dir, name)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	var b bytes.Buffer
	w, err := newSealedWriter(&b, d.vault, name)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return writeDurable(path, b.Bytes())
}

// clean removes the files that the index does not name, and what a crash left of those that
// were being written.
func (d *deckDisk) clean(named map[string]bool) error {
	entries, err := os.ReadDir(d.dir)
	for _, e := range entries {
		ours := strings.HasPrefix(e.Name(), deckFile) || strings.HasPrefix(e.Name(), deckIndex)
		if ours && !named[e.Name()] {
			err = errors.Join(err, os.Remove(filepath.Join(d.dir, e.Name())))
		}
	}
	return err
}

// load reads the decks; Revision 0 when there are none. An error tells of files that are there
// and cannot be used, and removes them so that they are written again; what could be read
// comes with it.
func (d *deckDisk) load() ([]fsm.Deck, trunkgroup.Version, error) {
	var v trunkgroup.Version
	sealed, err := os.ReadFile(filepath.Join(d.dir, deckIndex))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, v, nil
	}
	var index indexed
	if err == nil {
		var b []byte
		if b, err = d.vault.Open(deckIndexLabel, sealed); err == nil {
			err = json.Unmarshal(b, &index)
		}
	}
	if err == nil && index.Format > deckIndexFormat {
		err = fmt.Errorf("it is of format %d, this build knows %d", index.Format, deckIndexFormat)
	}
	if err != nil {
		return nil, v, fmt.Errorf("rate decks: %s: %w: %w", filepath.Join(d.dir, deckIndex), errDecks, err)
	}
	v = trunkgroup.Version{Cluster: index.Cluster, Generation: index.Generation, Revision: index.Edition}
	var list []fsm.Deck
	var faults []error
	for i := range index.Decks {
		x, err := d.read(&index.Decks[i])
		if err != nil {
			faults = append(faults, fmt.Errorf("rate deck %s: %w", index.Decks[i].Name, err))
			continue
		}
		list = append(list, x)
	}
	return list, v, errors.Join(faults...)
}

// read reads the rows of a deck.
func (d *deckDisk) read(x *indexedDeck) (fsm.Deck, error) {
	deck := fsm.Deck{Name: x.Name, Edition: x.Edition, Author: x.Author, Reason: x.Reason, At: x.At}
	deck.DeckKind = fsm.DeckKind{Sells: x.Sells, Currency: x.Currency, Rows: x.Rows, Size: x.Size}
	sum, err := hex.DecodeString(x.Sum)
	if err != nil || len(sum) != sha256.Size {
		return deck, errDecks
	}
	copy(deck.Sum[:], sum)
	name := deckFile + x.Sum
	path := filepath.Join(d.dir, name)
	if deck.Data, err = d.unseal(path, name); err == nil && (uint64(len(deck.Data)) != x.Size || sha256.Sum256(deck.Data) != deck.Sum) {
		err = errDecks
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(err, os.Remove(path))
	}
	return deck, err
}

func (d *deckDisk) unseal(path, label string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := newSealedReader(f, d.vault, label)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDecks, err)
	}
	b, err := io.ReadAll(io.LimitReader(r, fsm.MaxDeck+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDecks, err)
	}
	return b, nil
}
