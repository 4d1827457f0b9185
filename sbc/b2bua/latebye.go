package b2bua

import "time"

const (
	// byeMemory is for how long a BYE is kept for an owner that is away.
	byeMemory = 10 * time.Minute
	// byeRecall is the pause between two looks at whether it is back.
	byeRecall = 2 * time.Second
	// maxLateByes bounds what a shard keeps of them.
	maxLateByes = 4096
)

// lateBye is a BYE that had its answer from us because its owner was away (DEC-09).
// Whoever sent it is gone and will not say it again; an owner that was only cut off
// or paused would keep the call, and bill it, until its longest duration. So the BYE
// is passed on when the owner is back, unless another process has taken its place.
type lateBye struct {
	place
	s           *Shard
	p           Packet
	next, until time.Time
}

// keepBye keeps a BYE for its owner.
func (s *Shard) keepBye(p *Packet) {
	if s.lateByes >= maxLateByes {
		return
	}
	s.lateByes++
	s.alarms.set(&lateBye{s: s, p: *p, next: s.now.Add(byeRecall), until: s.now.Add(byeMemory)})
}

func (l *lateBye) deadline() time.Time { return l.next }

func (l *lateBye) expire(now time.Time) {
	owner, ok := l.s.remoteOwner(l.p.Message)
	if ok && !owner.Over && now.Before(l.until) && !(owner.Up && l.s.toOwner(owner, &l.p)) {
		l.next = now.Add(byeRecall)
		return
	}
	l.next = time.Time{}
	l.s.lateByes--
}
