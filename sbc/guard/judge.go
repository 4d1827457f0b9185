package guard

import (
	"container/list"
	"fmt"
	"net/netip"
	"time"
)

// Offence is something that a stranger did and nobody else can have done in his name.
type Offence struct {
	Source netip.Addr
	// Reason is a word of ours: digest, malformed, scanner.
	Reason string
	// Weight is how much it counts; at Law.Weight the source is banned at once.
	Weight int
}

// The reasons of offences.
const (
	ReasonDigest    = "digest"    // credentials that were refused
	ReasonMalformed = "malformed" // a message that the gate refused, over a connection
	ReasonScanner   = "scanner"   // the signature of a scanner, over a connection
)

// Law says what is punished and how. The zero value of a field means its default.
type Law struct {
	// Weight of offences Within a time is a ban. Defaults 10 and 60 s.
	Weight int
	Within time.Duration
	// First is how long the first ban of a source lasts; each further one lasts twice
	// as long, up to Longest. Defaults 10 min and 24 h.
	First, Longest time.Duration
	// Memory is for how long after its end a ban makes the next one longer. Default
	// 24 h.
	Memory time.Duration
	// Sources bounds the sources that are remembered. Default 65,536.
	Sources int
}

// defaultLaw returns the defaults.
func defaultLaw() Law {
	return Law{
		Weight: 10, Within: time.Minute, First: 10 * time.Minute, Longest: 24 * time.Hour, Memory: 24 * time.Hour, Sources: 1 << 16,
	}
}

func (l Law) withDefaults() Law {
	d := defaultLaw()
	for _, f := range []struct{ have, def *int }{{&l.Weight, &d.Weight}, {&l.Sources, &d.Sources}} {
		if *f.have <= 0 {
			*f.have = *f.def
		}
	}
	for _, f := range []struct{ have, def *time.Duration }{
		{&l.Within, &d.Within}, {&l.First, &d.First}, {&l.Longest, &d.Longest}, {&l.Memory, &d.Memory},
	} {
		if *f.have <= 0 {
			*f.have = *f.def
		}
	}
	return l
}

// Judge counts offences and says who is banned. It is not safe for use by more than one
// goroutine.
type Judge struct {
	law     Law
	sources map[netip.Prefix]*list.Element
	recent  list.List // of *record, who was heard of last in front
}

// record is what is held against one source.
type record struct {
	source  netip.Prefix
	strikes []strike // oldest first, none older than Law.Within
	level   int      // bans so far
	until   time.Time
}

type strike struct {
	at     time.Time
	weight int
}

// NewJudge returns a judge who has heard of nobody.
func NewJudge(l Law) *Judge {
	return &Judge{law: l.withDefaults(), sources: make(map[netip.Prefix]*list.Element)}
}

// Offended takes an offence and returns the ban that it earns, if any.
func (j *Judge) Offended(now time.Time, o Offence) (Ban, bool) {
	r := j.record(sourceOf(o.Source))
	keep := r.strikes[:0]
	sum := o.Weight
	for _, s := range r.strikes {
		if now.Sub(s.at) < j.law.Within {
			keep = append(keep, s)
			sum += s.weight
		}
	}
	r.strikes = append(keep, strike{now, o.Weight})
	if sum < j.law.Weight {
		return Ban{}, false
	}
	count := len(r.strikes)
	r.strikes = nil
	if !r.until.IsZero() && now.Sub(r.until) > j.law.Memory {
		r.level = 0
	}
	b := Ban{Prefix: r.source, Auto: true, Level: r.level, By: "auto", Since: now, Until: now.Add(j.law.length(r.level))}
	b.Reason = fmt.Sprintf("%s: %d in %s", o.Reason, count, j.law.Within)
	if count == 1 {
		b.Reason = o.Reason
	}
	j.Banned(b)
	return b, true
}

// length is how long a ban lasts after so many earlier ones.
func (l *Law) length(level int) time.Duration {
	d := l.First
	for range level {
		if d *= 2; d >= l.Longest {
			break
		}
	}
	return min(d, l.Longest)
}

// Banned takes note of a ban, of this judge's or of another node's: the next one of
// this source is longer.
func (j *Judge) Banned(b Ban) {
	if !b.Auto {
		return
	}
	r := j.record(b.Prefix)
	r.level = max(r.level, b.Level+1)
	if b.Until.After(r.until) {
		r.until = b.Until
	}
	r.strikes = nil
}

// Pardoned forgets what is held against a source.
func (j *Judge) Pardoned(p netip.Prefix) {
	if e := j.sources[p]; e != nil {
		j.recent.Remove(e)
		delete(j.sources, p)
	}
}

// record returns what is held against a source and makes room for it. Who was not
// heard of for the longest time is forgotten first.
func (j *Judge) record(p netip.Prefix) *record {
	if e := j.sources[p]; e != nil {
		j.recent.MoveToFront(e)
		return e.Value.(*record)
	}
	if len(j.sources) >= j.law.Sources {
		last := j.recent.Back()
		j.recent.Remove(last)
		delete(j.sources, last.Value.(*record).source)
	}
	r := &record{source: p}
	j.sources[p] = j.recent.PushFront(r)
	return r
}
