package spool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging"
)

const (
	fileName = "charging.journal"
	// rewriteAt is the size from which a journal with little that still counts is written anew.
	rewriteAt = 4 << 20
	// maxLine bounds a line that is read.
	maxLine = 256 << 10
	// retryDisk is how long a disk that failed is left alone.
	retryDisk = 2 * time.Second
	// DefaultMax bounds the requests that are kept.
	DefaultMax = 200_000
)

// ErrFull: more is kept than was allowed; the request is not.
var ErrFull = errors.New("spool: too much is kept already")

// Item is a request that is kept until it is answered.
type Item struct {
	ID      uint64
	Request charging.Request
}

// line is one change, as it is written.
type line struct {
	Keep    uint64            `json:"keep,omitempty"`
	Request *charging.Request `json:"request,omitempty"`
	Done    uint64            `json:"done,omitempty"`
	Open    string            `json:"open,omitempty"` // a session, with its will
	Will    *charging.Will    `json:"will,omitempty"`
	Gone    string            `json:"gone,omitempty"`
	Beat    time.Time         `json:"beat,omitzero"` // the node is alive
}

// Spool is what is kept. Its methods may be called by several goroutines and do not wait for the disk.
type Spool struct {
	path string
	max  int

	mu      sync.Mutex
	items   map[uint64]charging.Request
	wills   map[string]charging.Will
	last    uint64
	buf     []byte // to be written
	size    int    // of the file, with buf
	stale   bool   // the file lacks something: it is to be written anew
	fault   error  // of the disk
	damaged int
	closing bool

	wake   chan struct{}
	closed chan struct{}
	done   sync.WaitGroup
}

// Open reads what was kept in a directory and carries out the wills of calls that a former process
// had. max bounds what is kept; 0 means DefaultMax.
func Open(dir string, limit int) (*Spool, error) {
	if limit <= 0 {
		limit = DefaultMax
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	s := &Spool{
		path: filepath.Join(dir, fileName), max: limit, wake: make(chan struct{}, 1), closed: make(chan struct{}),
		items: make(map[uint64]charging.Request), wills: make(map[string]charging.Will),
	}
	if err := s.read(); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	if err := s.rewrite(s.image()); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	s.done.Go(s.run)
	return s, nil
}

// read reads the journal of the former process.
func (s *Spool) read() error {
	f, err := os.Open(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var beat time.Time
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			s.damaged++
			continue
		}
		s.apply(&l)
		if l.Beat.After(beat) {
			beat = l.Beat
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		s.damaged++
	} else if err := lines.Err(); err != nil {
		return err
	}
	sessions := make([]string, 0, len(s.wills))
	for name := range s.wills {
		sessions = append(sessions, name)
	}
	slices.Sort(sessions)
	type told struct {
		session string
		kind    charging.Kind
		number  uint32
	}
	kept := make(map[told]bool, len(s.items))
	for _, r := range s.items {
		kept[told{r.Session, r.Kind, r.Number}] = true
	}
	for _, name := range sessions {
		w := s.wills[name]
		for _, r := range w.Execute(beat) {
			if kept[told{r.Session, r.Kind, r.Number}] {
				continue // the node died between the call's last word and the end of its will
			}
			s.last++
			s.items[s.last] = r
		}
	}
	clear(s.wills)
	return nil
}

func (s *Spool) apply(l *line) {
	switch {
	case l.Keep != 0 && l.Request != nil:
		r := *l.Request
		r.Repeated = true // it may have been sent before the node died
		s.items[l.Keep] = r
		s.last = max(s.last, l.Keep)
	case l.Done != 0:
		delete(s.items, l.Done)
		s.last = max(s.last, l.Done)
	case l.Open != "" && l.Will != nil:
		s.wills[l.Open] = *l.Will
	case l.Gone != "":
		delete(s.wills, l.Gone)
	}
}

// Items returns all that is kept, oldest first.
func (s *Spool) Items() []Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Item, 0, len(s.items))
	for id, r := range s.items {
		list = append(list, Item{id, r})
	}
	slices.SortFunc(list, func(a, b Item) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return list
}

// Keep keeps a request until Done. It fails with ErrFull alone.
func (s *Spool) Keep(r *charging.Request) (id uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.items) >= s.max {
		return 0, ErrFull
	}
	s.last++
	s.items[s.last] = *r
	s.write(&line{Keep: s.last, Request: r})
	return s.last, nil
}

// Done lets go of a request.
func (s *Spool) Done(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.items, id)
	s.write(&line{Done: id})
}

// Will keeps what is to be told of a session if the node dies, in place of what was.
func (s *Spool) Will(session string, w *charging.Will) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wills[session] = *w
	s.write(&line{Open: session, Will: w})
}

// Gone lets go of a will.
func (s *Spool) Gone(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.wills[session]; ok {
		delete(s.wills, session)
		s.write(&line{Gone: session})
	}
}

// Beat notes that the node is alive: calls that it had when it died ended then. It is for about once
// a second.
func (s *Spool) Beat(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wills) > 0 {
		s.write(&line{Beat: now.UTC()})
	}
}

// Status tells how much is kept, and what is wrong with the disk.
func (s *Spool) Status() (kept, damaged int, fault error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.items), s.damaged, s.fault
}

// write appends a change to what the goroutine writes. While the disk fails nothing is gathered: all
// is written anew then.
func (s *Spool) write(l *line) {
	if s.stale {
		return
	}
	s.buf = appendLine(s.buf, l)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func appendLine(b []byte, l *line) []byte {
	text, err := json.Marshal(l)
	if err != nil { // times beyond the year 9999 alone
		return b
	}
	return append(append(b, text...), '\n')
}

// image is a journal of what counts now.
func (s *Spool) image() []byte {
	var b bytes.Buffer
	for id, r := range s.items {
		b.Write(appendLine(nil, &line{Keep: id, Request: &r}))
	}
	for name, w := range s.wills {
		b.Write(appendLine(nil, &line{Open: name, Will: &w}))
	}
	return b.Bytes()
}
