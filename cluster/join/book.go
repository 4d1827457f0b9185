package join

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Lives of tokens.
const (
	DefaultLife = time.Hour
	MaxLife     = 7 * 24 * time.Hour
)

// maxOpen bounds the tokens that are good at one time; keep is how long one that is over is remembered, so that who tries it
// is told what happened.
const (
	maxOpen = 100
	keep    = 7 * 24 * time.Hour
)

// Reasons for which a token is not taken.
var (
	ErrUnknown = errors.New("join: this node did not make that token: a token is taken only by the node that made it")
	ErrUsed    = errors.New("join: the token was used before")
	ErrExpired = errors.New("join: the token has expired")
	ErrNode    = errors.New("join: the token is for another node")
	ErrTooMany = errors.New("join: too many tokens are open")
)

// entry is what is remembered of a token.
type entry struct {
	Node    string    `json:"node"`
	Hash    string    `json:"hash"` // SHA-256 of the secret
	Until   time.Time `json:"until"`
	Used    time.Time `json:"used,omitzero"`
	UsedBy  string    `json:"used_by,omitempty"`
	Replace bool      `json:"replace,omitempty"`
}

// Book holds the tokens that this node made. Each change is on disk before its method
// returns.
type Book struct {
	path string
	mu   sync.Mutex
	list map[string]entry
}

// Open reads the book in a file; one that is not there is empty.
func Open(path string) (*Book, error) {
	b := &Book{path: path, list: map[string]entry{}}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return b, nil
	case err != nil:
		return nil, fmt.Errorf("join: %w", err)
	}
	if err := json.Unmarshal(text, &b.list); err != nil {
		return nil, fmt.Errorf("join: %s: %w", path, err)
	}
	return b, nil
}

// Add makes a token of t, whose id and secret it draws.
func (b *Book) Add(now time.Time, t Token, life time.Duration) (Token, time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sweep(now)
	open := 0
	for _, e := range b.list {
		if e.good(now) {
			open++
		}
	}
	if open >= maxOpen {
		return Token{}, time.Time{}, fmt.Errorf("%w: %d", ErrTooMany, open)
	}
	if err := t.fresh(); err != nil {
		return Token{}, time.Time{}, err
	}
	until := now.Add(min(life, MaxLife))
	b.list[t.ID.String()] = entry{Node: t.Node, Hash: hashOf(t.Secret), Until: until}
	if err := b.save(); err != nil {
		delete(b.list, t.ID.String())
		return Token{}, time.Time{}, err
	}
	return t, until, nil
}

// Redeem takes a token, once. When it returns nil the use is on disk. Who does not know the secret
// learns nothing but that.
func (b *Book) Redeem(now time.Time, id ID, secret [32]byte, node, from string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, known := b.list[id.String()]
	right := subtle.ConstantTimeCompare([]byte(hashOf(secret)), []byte(e.Hash)) == 1
	switch {
	case !known || !right:
		return ErrUnknown
	case !e.Used.IsZero():
		return fmt.Errorf("%w, at %s by %s: if that was not you, somebody else has the certificate of %s now", ErrUsed, e.Used.UTC().Format(time.RFC3339), e.UsedBy, e.Node)
	case now.After(e.Until):
		return fmt.Errorf("%w at %s", ErrExpired, e.Until.UTC().Format(time.RFC3339))
	case e.Node != node:
		return fmt.Errorf("%w: %q", ErrNode, e.Node)
	}
	used := e
	used.Used, used.UsedBy = now, from
	b.list[id.String()] = used
	if err := b.save(); err != nil {
		b.list[id.String()] = e
		return err
	}
	return nil
}

// Any reports whether a token is open: only then is there anything to join by.
func (b *Book) Any(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.list {
		// One that is over still tells why to who holds it, for a while.
		if e.good(now) || now.Sub(e.Until) < DefaultLife {
			return true
		}
	}
	return false
}

func (e entry) good(now time.Time) bool { return e.Used.IsZero() && !now.After(e.Until) }

func (b *Book) sweep(now time.Time) {
	for id, e := range b.list {
		if now.Sub(e.Until) > keep {
			delete(b.list, id)
		}
	}
}

// save writes the book so that it is on disk when it returns, and never half of it.
func (b *Book) save() (err error) {
	text, err := json.MarshalIndent(b.list, "", " ")
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(b.path), ".tokens-*") // mode 0600
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), b.path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it may have been renamed
		return fmt.Errorf("join: %w", err)
	}
	dir, err := os.Open(filepath.Dir(b.path))
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("join: %w", err)
	}
	return nil
}

func hashOf(secret [32]byte) string {
	sum := sha256.Sum256(secret[:])
	return hex.EncodeToString(sum[:])
}
