package sbc

import (
	"bytes"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
)

const (
	// surgeWindow is how often the readers learn how many calls the shards take.
	surgeWindow = 100 * time.Millisecond
	// surgeHold is for how long a refusal keeps the readers watchful: longer than the
	// patience of a shard, that takes what it gets in between.
	surgeHold = time.Second
	// surgeShare is how many INVITEs are let in for one that is taken. The rest
	// of them is refused with a 503, which costs a fourteenth of a call; what is
	// beyond is dropped unread, which costs an eightieth, or by the kernel, which
	// costs nothing here. Ten times the load would else leave no time for calls.
	surgeShare = 2
	// surgeLeast is let in per window whatever was taken before.
	surgeLeast = 64
	// surgeFinest is the least share that the kernel is told to let in: below it
	// there would be too few to learn from.
	surgeFinest = 0.01
)

// surge is what a node does when more calls are offered than it can even refuse:
// its readers let in a few times what its shards take and drop the rest of the
// new INVITEs over UDP unread, as a full socket buffer would do with whatever
// comes, in-dialog requests too. When reading them is too much as well, the
// kernel is told to drop a share. Nothing is dropped before shards refuse, and
// emergency calls never are: who makes them is found out behind the parser.
type surge struct {
	until   atomic.Int64  // Unix nanoseconds until which the readers are watchful; 0 = they are not
	taken   atomic.Int64  // new INVITEs that shards took in this window
	seen    atomic.Int64  // new INVITEs that readers saw in it
	window  atomic.Int64  // its begin, in Unix nanoseconds
	room    atomic.Int64  // INVITEs that this window still lets in
	dropped atomic.Uint64 // by readers

	mu    sync.Mutex // guards the rest; taken once per window
	sieve func(share float64) error
	tell  func(begun bool, dropped uint64) // of the kernel's help; nil tells nobody
	share float64                          // of new INVITEs that the kernel lets in; 0 = the kernel has not been told
	best  int64                            // most calls that shards took in a window, fading
	timer *time.Timer
}

// refused notes that a shard refused an INVITE for overload.
func (s *surge) refused(now time.Time) { s.until.Store(now.Add(surgeHold).UnixNano()) }

// took notes that a shard took one.
func (s *surge) took() { s.taken.Add(1) }

// drops tells whether to drop a datagram unread. It is one load of an atomic
// while no shard refuses.
func (s *surge) drops(raw []byte) bool {
	return s.until.Load() != 0 && s.dropsAt(time.Now(), raw)
}

func (s *surge) dropsAt(now time.Time, raw []byte) bool {
	at := now.UnixNano()
	if until := s.until.Load(); until < at {
		if s.until.CompareAndSwap(until, 0) {
			s.over()
		}
		return false
	}
	if !newInvite(raw) {
		return false
	}
	s.seen.Add(1)
	if begin := s.window.Load(); at-begin >= int64(surgeWindow) && s.window.CompareAndSwap(begin, at) {
		s.turn(now, time.Duration(at-begin))
	}
	if s.room.Add(-1) >= 0 {
		return false
	}
	s.dropped.Add(1)
	return true
}

// turn begins a window: how much it has room for, and what share of the offered the
// kernel lets in, so that readers see that much and little more. It runs in one
// reader at a time.
func (s *surge) turn(now time.Time, last time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// A window in which the shards do nothing but refuse takes no calls: how many
	// they can take is forgotten slowly.
	s.best = max(s.taken.Swap(0), s.best-s.best/16)
	room := max(surgeLeast, surgeShare*s.best)
	s.room.Store(room)
	seen := s.seen.Swap(0)
	if last >= 2*surgeWindow {
		return // nobody counted the whole of it
	}
	share := s.share
	if share == 0 {
		share = 1
	}
	if float64(seen)/share > float64(room) {
		s.until.Store(now.Add(surgeHold).UnixNano()) // as much as ever is offered
	}
	s.steer(share, float64(room)/float64(max(1, seen)))
}

// steer changes the kernel's share when it is off by more than a tenth.
func (s *surge) steer(share, ratio float64) {
	if s.sieve == nil || ratio > 0.9 && ratio < 1.1 || ratio >= 1 && share == 1 {
		return
	}
	share = min(1, max(surgeFinest, share*min(ratio, 4)))
	if s.sieve(share) != nil {
		s.sieve = nil // this system cannot; the readers do it alone
		return
	}
	if s.share == 0 && s.tell != nil {
		s.tell(true, s.dropped.Load())
	}
	if s.share = share; s.timer == nil {
		s.timer = time.AfterFunc(surgeHold, s.look)
	}
}

// look ends a surge after which nothing came that could have ended it.
func (s *surge) look() {
	until := s.until.Load()
	if until < time.Now().UnixNano() && s.until.CompareAndSwap(until, 0) {
		s.over()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Reset(surgeHold)
	}
}

// over takes the kernel's orders back.
func (s *surge) over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.share != 0 && s.sieve != nil {
		_ = s.sieve(1) // fails on closed sockets only
		if s.tell != nil {
			s.tell(false, s.dropped.Load())
		}
	}
	s.share, s.best = 0, 0
}

// newInvite tells whether a datagram is an INVITE outside of a dialog and no
// emergency call, as far as can be seen without parsing it. What it does not
// recognise is parsed.
func newInvite(raw []byte) bool {
	if !bytes.HasPrefix(raw, []byte("INVITE ")) {
		return false
	}
	line, rest, ok := bytes.Cut(raw, []byte("\r\n"))
	if !ok || b2bua.LooksLikeEmergency(line) {
		return false
	}
	for len(rest) > 0 {
		if line, rest, ok = bytes.Cut(rest, []byte("\r\n")); !ok || len(line) == 0 {
			return false
		}
		if isTo(line) {
			folded := len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t')
			return !folded && !hasTag(line)
		}
	}
	return false
}

// isTo recognises the To line in its usual spellings.
func isTo(line []byte) bool {
	return len(line) > 3 && (line[0]|0x20) == 't' && (line[1] == ':' || line[1] == ' ' || (line[1]|0x20) == 'o' && (line[2] == ':' || line[2] == ' '))
}

// hasTag finds the word in any case, wherever it stands: whoever has it in a name
// is parsed.
func hasTag(line []byte) bool {
	for i := range len(line) - 2 {
		if line[i]|0x20 == 't' && line[i+1]|0x20 == 'a' && line[i+2]|0x20 == 'g' {
			return true
		}
	}
	return false
}

// tellSurge writes down when the kernel begins and ends to help: one line each, and
// a surge lasts a second at least.
func (s *Server) tellSurge(begun bool, dropped uint64) {
	if begun {
		s.log.Warn("more calls are offered than can be refused: new INVITEs over UDP are dropped unread, emergency calls are not")
		return
	}
	s.log.Info("every INVITE is read again", slog.Uint64("dropped_by_readers", dropped))
}
