package lease

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/limit"
)

// version is the version of the frames. One that is newer is skipped.
const version = 1

// The kinds of records.
const (
	kindReport byte = iota + 1
	kindCall
	kindGrant
	kindSite
)

// The flags of records.
const (
	flagHungry byte = 1 << iota // rights are short: report each one that becomes idle
	flagFull                    // there is nothing more to be had
	flagAsk                     // answer this
)

// bounds of what a frame may hold.
const (
	maxName  = 300
	maxRows  = 64
	maxMates = 1000
	maxMoved = 1 << 62
	// fillFrame is the size from which on a frame gets no further record.
	fillFrame = 32 << 10
)

var (
	errMalformed = errors.New("the frame is malformed, or ends too early")
	// ErrVersion is the error of a frame that a newer build has sent.
	ErrVersion = errors.New("the frame is of a version that this build does not know")
)

// record is what nodes tell each other of one limit. Which fields mean something
// depends on the kind.
type record struct {
	kind  byte
	key   limit.Key
	flags byte
	term  uint64 // the term joined, called into, or granted in
	seq   uint64 // of the grant that is acknowledged or made
	share int    // held, or granted
	used  int
	// waiting are calls that wait, missed the uses that were not to be had lately.
	// Between sites, waiting is what is asked for; in a grant, what other sites use.
	waiting int
	missed  int
	sent    uint64 // when the report left, by the reporter's clock; echoed in the grant
	rows    rows
}

// header begins a frame. It names the site's other nodes by their last boots, so
// that nobody takes one for dead that has come back where it cannot see it.
func (e *Engine) header() []byte {
	b := []byte{version}
	b = binary.AppendUvarint(b, e.cfg.Boot)
	b = binary.AppendUvarint(b, e.number)
	names := slices.Sorted(maps.Keys(e.nodes))
	names = slices.DeleteFunc(names, func(name string) bool { return !e.mate(e.nodes[name]) })
	names = names[:min(len(names), maxMates)]
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		b = binary.AppendUvarint(octets.Append(b, name), e.nodes[name].Boot)
	}
	return b
}

// mate is a node of the sender's site as a frame names it.
type mate struct {
	name string
	boot uint64
}

func (r *record) append(b []byte) []byte {
	b = append(b, r.kind, byte(r.key.Kind), byte(r.key.Scope))
	b = octets.Append(b, r.key.Name)
	b = append(b, r.flags)
	for _, n := range [...]uint64{r.term, r.seq, uint64(r.share), uint64(r.used), uint64(r.waiting), uint64(r.missed), r.sent, uint64(len(r.rows))} {
		b = binary.AppendUvarint(b, n)
	}
	for _, p := range r.rows.sorted() {
		b = octets.Append(octets.Append(b, p.from), p.to)
		b = binary.AppendUvarint(b, r.rows[p])
	}
	return b
}

// reader takes fields off a frame.
type reader struct{ octets.Reader }

func read(b []byte) *reader { return &reader{octets.Read(b)} }

func (r *reader) count() int { return r.Int(limit.Unlimited) }

func (r *reader) text() string { return r.Text(maxName) }

func (r *reader) record() (rec record) {
	rec.kind = r.Octet()
	rec.key.Kind, rec.key.Scope = limit.Kind(r.Octet()), limit.Scope(r.Octet())
	rec.key.Name = r.text()
	rec.flags = r.Octet()
	rec.term, rec.seq = r.Number(), r.Number()
	rec.share, rec.used = r.count(), r.count()
	rec.waiting, rec.missed = r.count(), r.count()
	rec.sent = r.Number()
	rec.rows = make(rows)
	for range r.Int(maxRows) {
		p := pair{from: r.text(), to: r.text()}
		if rec.rows[p] = r.Number(); rec.rows[p] > maxMoved {
			r.Fail() // it could not be subtracted any more
		}
	}
	return rec
}

// frame is what one node wrote to another.
type frame struct {
	boot, number uint64
	mates        []mate
	records      []record
}

// parse reads a whole frame.
func parse(b []byte) (f frame, err error) {
	r := read(b)
	if v := r.Octet(); !r.Bad() && v != version {
		return frame{}, ErrVersion
	}
	f.boot, f.number = r.Number(), r.Number()
	for range r.Int(maxMates) {
		f.mates = append(f.mates, mate{r.text(), r.Number()})
	}
	for r.More() {
		f.records = append(f.records, r.record())
	}
	if r.Bad() {
		return frame{}, fmt.Errorf("limits: %w", errMalformed)
	}
	return f, nil
}

// Receive takes a frame of another node.
func (e *Engine) Receive(now time.Time, from string, payload []byte) error {
	e.step(now)
	n := e.nodes[from]
	if n == nil {
		return nil // not introduced yet: it will say it again
	}
	f, err := parse(payload)
	if err != nil {
		return err
	}
	if f.boot < n.Boot || f.boot == n.Boot && f.number <= n.heard {
		return nil // late or repeated
	}
	n.Boot, n.heard = f.boot, f.number
	if n.State == Dead { // it is not
		n.State, n.since = Silent, now
	}
	if e.mate(n) {
		for _, m := range f.mates {
			e.hearsay(m)
		}
	}
	for i := range f.records {
		e.take(n, &f.records[i])
	}
	return nil
}

// take carries one record out.
func (e *Engine) take(from *node, r *record) {
	x := e.entries[r.key]
	if x == nil || !x.limited() {
		return
	}
	x.rows.merge(r.rows)
	switch r.kind {
	case kindReport:
		x.reported(from.Name, from.Boot, r)
	case kindCall:
		x.called(from.Name, r)
	case kindGrant:
		x.granted(from.Name, r)
	case kindSite:
		x.asked(from, r)
	}
	x.due(e.now)
}

// send queues a record; one for this node itself is carried out at once.
func (x *entry) send(to string, r record) {
	e := x.e
	r.key = x.limit.Key
	if r.rows == nil {
		r.rows = x.rows
	}
	if to != e.cfg.Node {
		list := e.out[to]
		if n := len(list); n == 0 || len(list[n-1]) >= fillFrame {
			list = append(list, nil)
		}
		list[len(list)-1] = r.append(list[len(list)-1])
		e.out[to] = list
		return
	}
	switch r.kind {
	case kindReport:
		x.reported(to, e.cfg.Boot, &r)
	case kindCall:
		x.called(to, &r)
	case kindGrant:
		x.granted(to, &r)
	}
}
