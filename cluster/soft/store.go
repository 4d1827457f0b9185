package soft

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Store is the soft state of one node with its copies of all others'. It is not safe
// for use by more than one goroutine.
type Store struct {
	cfg Config
	now time.Time // of the step in progress

	own     *origin
	origins map[originKey]*origin
	order   []*origin           // by node and boot, so that every walk is the same
	latest  map[ref]*entry      // of Versioned kinds, over all origins
	nodes   map[string]liveness // other nodes
	names   []string            // of nodes that are up, sorted

	expiry expiry
	cache  []*entry // of Evict kinds, oldest first
	count  int
	bytes  int
	kinds  [maxKind + 1]int

	pushed   uint64 // own changes up to here were told
	out      []Message
	changes  []Change
	nextSync time.Time
	turn     int // whose turn of the vector it is
	stats    Stats
}

type originKey struct {
	node string
	boot uint64
}

// liveness is what the node was told of another one.
type liveness struct {
	up   bool
	boot uint64
}

// Message is a frame for one node.
type Message struct {
	To    string
	Frame []byte // shared by the messages of one Output: do not change it
}

// New returns the empty store of a process.
func New(cfg Config, now time.Time) *Store {
	s := &Store{
		cfg: cfg.withDefaults(), now: now,
		origins: make(map[originKey]*origin), latest: make(map[ref]*entry), nodes: make(map[string]liveness),
	}
	s.nextSync = now.Add(s.cfg.Sync)
	s.own = s.origin(cfg.Node, cfg.Boot)
	s.own.live = true
	return s
}

// origin returns the origin of that process and makes it when it is new.
func (s *Store) origin(node string, boot uint64) *origin {
	k := originKey{node, boot}
	if o := s.origins[k]; o != nil {
		return o
	}
	o := newOrigin(node, boot)
	n := s.nodes[node]
	o.live = n.up && n.boot == boot
	if !o.live {
		o.lost, o.heard = s.now, s.now
	}
	s.origins[k] = o
	at, _ := slices.BinarySearchFunc(s.order, o, compareOrigins)
	s.order = slices.Insert(s.order, at, o)
	return o
}

func compareOrigins(a, b *origin) int {
	if c := strings.Compare(a.node, b.node); c != 0 {
		return c
	}
	switch {
	case a.boot < b.boot:
		return -1
	case a.boot > b.boot:
		return 1
	}
	return 0
}

// Put writes an entry of this node's own. ttl is how long it lives without another
// Put; zero means as long as this process, which kinds that are kept refuse. The
// value is copied.
func (s *Store) Put(now time.Time, kind Kind, key string, value []byte, ttl time.Duration) error {
	return s.PutOf(now, now, kind, key, value, ttl)
}

// PutOf is Put for what became so at an earlier time, since: to a kind that goes
// by the newest, the entry is as old as that.
func (s *Store) PutOf(now, since time.Time, kind Kind, key string, value []byte, ttl time.Duration) error {
	s.now = now
	rule, ok := s.cfg.Rules[kind]
	switch {
	case !ok:
		return ErrKind
	case len(key) == 0 || len(key) > MaxKey || len(value) > MaxValue:
		return ErrSize
	case rule.Keep && ttl <= 0:
		return ErrTTL
	}
	e := &entry{ref: ref{kind, key}, origin: s.own, value: slices.Clone(value), since: since, pos: -1}
	if ttl > 0 {
		e.expires = now.Add(min(ttl, rule.MaxTTL))
	}
	return s.write(e, rule)
}

// Delete removes this node's entry, or of a Versioned kind the one over all owners.
// Removing what is not there does nothing.
func (s *Store) Delete(now time.Time, kind Kind, key string) {
	s.now = now
	rule, ok := s.cfg.Rules[kind]
	if !ok {
		return
	}
	r := ref{kind, key}
	was := s.own.entries[r]
	if rule.Versioned {
		was = s.latest[r]
	}
	if was == nil || was.tombstone {
		return
	}
	e := &entry{ref: r, origin: s.own, since: now, expires: now.Add(rule.Tombstone), tombstone: true, pos: -1}
	// Without room for a tombstone the entry still goes: copies keep it until it expires.
	if err := s.write(e, rule); err != nil {
		s.discard(was)
	}
}

// write gives a change of this node's own its number and version.
func (s *Store) write(e *entry, rule Rule) error {
	was := s.own.entries[e.ref]
	if rule.Versioned {
		if was = s.latest[e.ref]; was != nil {
			e.version = was.version
		}
		e.version++
	}
	freed := 0
	if was != nil {
		freed = was.size()
	}
	if !s.room(e.size()-freed, was == nil) {
		s.stats.Full++
		return ErrFull
	}
	if was != nil && !was.removed {
		s.discard(was)
	}
	s.own.tip++
	e.seq = s.own.tip
	s.add(e, rule)
	return nil
}

// add enters an entry whose place is free into all indexes.
func (s *Store) add(e *entry, rule Rule) {
	e.origin.insert(e)
	if rule.Versioned {
		s.latest[e.ref] = e
	}
	if !e.expires.IsZero() {
		s.expiry.add(e)
	}
	if rule.Evict && !e.tombstone {
		s.cache = append(s.cache, e)
	}
	s.count++
	s.bytes += e.size()
	if !e.tombstone {
		s.kinds[e.kind]++
	}
}

// discard takes an entry out of all indexes; nobody is told.
func (s *Store) discard(e *entry) {
	e.removed = true
	s.expiry.remove(e)
	if s.latest[e.ref] == e {
		delete(s.latest, e.ref)
	}
	s.count--
	s.bytes -= e.size()
	if !e.tombstone {
		s.kinds[e.kind]--
	}
	e.origin.take(e)
}

// tell notes a change for the user of the store.
func (s *Store) tell(e *entry, why Reason) {
	s.changes = append(s.changes, Change{e.public(), why})
}

// Get returns the entry under a key: over all owners for a Versioned kind, otherwise
// this node's own or else that of the first owner by name.
func (s *Store) Get(kind Kind, key string) (Entry, bool) {
	r := ref{kind, key}
	if s.cfg.Rules[kind].Versioned {
		return visible(s.latest[r])
	}
	if e, ok := visible(s.own.entries[r]); ok {
		return e, true
	}
	for _, o := range s.order {
		if e, ok := visible(o.entries[r]); ok {
			return e, true
		}
	}
	return Entry{}, false
}

func visible(e *entry) (Entry, bool) {
	if e == nil || e.tombstone {
		return Entry{}, false
	}
	return e.public(), true
}

// Each calls fn with every entry of a kind, by owner and in the order of their
// changes, until fn returns false. fn must not change the store.
func (s *Store) Each(kind Kind, fn func(Entry) bool) {
	for _, o := range s.order {
		if !o.each(kind, fn) {
			return
		}
	}
}

// EachOf is Each for the entries of one process.
func (s *Store) EachOf(kind Kind, node string, boot uint64, fn func(Entry) bool) {
	if o := s.origins[originKey{node, boot}]; o != nil {
		o.each(kind, fn)
	}
}

func (o *origin) each(kind Kind, fn func(Entry) bool) bool {
	for _, at := range o.after(0) {
		if e := at.e; !e.removed && !e.tombstone && e.kind == kind && !fn(e.public()) {
			return false
		}
	}
	return true
}

// Drop forgets the copy of one entry of another process, because whatever it was
// needed for is done. It is not an operation on the entry: its owner, if it comes
// back, still has it.
func (s *Store) Drop(now time.Time, kind Kind, key, owner string, boot uint64) {
	s.now = now
	o := s.origins[originKey{owner, boot}]
	if o == nil || o == s.own {
		return
	}
	if e := o.entries[ref{kind, key}]; e != nil && !e.tombstone {
		o.partial = true
		o.remember = s.now.Add(s.cfg.Rules[kind].Linger)
		s.discard(e)
	}
}

// Origin is a process with entries in the store.
type Origin struct {
	Node string
	Boot uint64
	// Live: the node is up and this is its process.
	Live bool
	// Lost is when this node learned that it is not, Heard when it was heard last,
	// by this node's clock; zero while it is live.
	Lost, Heard time.Time
	Entries     int
}

// Origins returns all processes by node and boot, this one included.
func (s *Store) Origins() []Origin {
	list := make([]Origin, 0, len(s.order))
	for _, o := range s.order {
		list = append(list, Origin{Node: o.node, Boot: o.boot, Live: o.live, Lost: o.lost, Heard: o.heard, Entries: o.alive})
	}
	return list
}

// Stats are counts: the first four are of now, the others since the start.
type Stats struct {
	Entries    map[Kind]int
	Tombstones int
	Bytes      int
	Missing    int // origins of which a peer is known to have more

	Full     uint64 // writes that found no room
	Refused  uint64 // received entries that found no room
	Evicted  uint64
	Unknown  uint64 // received entries of a kind without a rule
	Gaps     uint64 // deltas that did not fit and were asked for again
	Resyncs  uint64 // origins fetched anew
	Deltas   uint64 // frames of changes sent
	Received uint64 // entries taken from frames
}

// Stats returns the counts.
func (s *Store) Stats() Stats {
	st := s.stats
	st.Entries = make(map[Kind]int, len(s.cfg.Rules))
	live := 0
	for k := range maps.Keys(s.cfg.Rules) {
		st.Entries[k] = s.kinds[k]
		live += s.kinds[k]
	}
	st.Tombstones, st.Bytes = s.count-live, s.bytes
	for _, o := range s.order {
		if o.asked != "" || o.resync {
			st.Missing++
		}
	}
	return st
}

// Changes returns what changed since the last call, other than by Put and Delete of
// this node, and forgets it.
func (s *Store) Changes() []Change {
	c := s.changes
	s.changes = nil
	return c
}
