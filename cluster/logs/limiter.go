package logs

import (
	"sync"
	"time"
)

// Period is the time within which a message is passed on once.
const Period = 10 * time.Second

// maxKeys bounds the memory of a Limiter: what a stranger can make us say.
const maxKeys = 256

// Limiter lets one line per key and Period through. The zero value is ready and
// it may be used from many goroutines.
type Limiter struct {
	mu   sync.Mutex
	keys map[string]*held
}

type held struct {
	until time.Time
	count int
}

// Allow reports whether a line under key may be written at now, and how many
// were held back since the last one.
func (l *Limiter) Allow(key string, now time.Time) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, known := l.keys[key]
	if known && now.Before(h.until) {
		h.count++
		return 0, false
	}
	if !known {
		if len(l.keys) >= maxKeys {
			l.keys = nil
		}
		if l.keys == nil {
			l.keys = make(map[string]*held)
		}
		h = &held{}
		l.keys[key] = h
	}
	suppressed, h.count, h.until = h.count, 0, now.Add(Period)
	return suppressed, true
}
