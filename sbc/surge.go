package sbc

import (
	"bytes"
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
	// of them is refused with a 503, which costs a twentieth of a call; what is
	// beyond is not read at all, which costs a hundredth. Ten times the load would
	// else cost half of the calls that could be taken.
	surgeShare = 3
	// surgeLeast is let in per window whatever was taken before.
	surgeLeast = 64
)

// surge is what a node does when more calls are offered than it can even refuse:
// its readers let in a few times what its shards take and drop the rest of the
// new INVITEs over UDP unread, as a full socket buffer would do with whatever
// comes, in-dialog requests too. Nothing is dropped before shards refuse, and
// emergency calls never are: who makes them is found out behind the parser.
type surge struct {
	until atomic.Int64 // Unix nanoseconds until which the readers are watchful
	taken atomic.Int64 // new INVITEs that shards took in this window

	window  atomic.Int64 // its begin, in Unix nanoseconds
	room    atomic.Int64 // INVITEs that this window still lets in
	dropped atomic.Uint64
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
		s.until.CompareAndSwap(until, 0)
		return false
	}
	if !newInvite(raw) {
		return false
	}
	if begin := s.window.Load(); at-begin >= int64(surgeWindow) && s.window.CompareAndSwap(begin, at) {
		s.room.Store(max(surgeLeast, surgeShare*s.taken.Swap(0)))
	}
	if s.room.Add(-1) >= 0 {
		return false
	}
	s.dropped.Add(1)
	return true
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
