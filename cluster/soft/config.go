package soft

import (
	"errors"
	"time"
)

// Errors of Put and Receive.
var (
	// ErrKind is returned for a kind without a rule.
	ErrKind = errors.New("soft: no rule for this kind")
	// ErrSize is returned for a key or value beyond the bounds.
	ErrSize = errors.New("soft: key or value is too large")
	// ErrTTL is returned for a kept entry without a time to live.
	ErrTTL = errors.New("soft: an entry that outlives its owner needs a time to live")
	// ErrFull is returned when the store has no room and nothing to evict.
	ErrFull = errors.New("soft: the store is full; raise its bounds or find out what fills it")
	// ErrFrame is returned for octets that are no frame; nothing of them is taken.
	ErrFrame = errors.New("soft: malformed frame")
	// ErrVersion is returned for a frame of a newer form; it is skipped.
	ErrVersion = errors.New("soft: frame of an unknown version or type")
)

// Defaults of the fields of Config.
const (
	DefaultMaxEntries = 500_000
	DefaultMaxBytes   = 512 << 20
	DefaultChunk      = 48 << 10
	DefaultWindow     = 512 << 10
	DefaultSync       = 5 * time.Second
	DefaultRetry      = 2 * time.Second
)

// Bounds on one entry.
const (
	// MaxKey is the longest key in octets.
	MaxKey = 1024
	// MaxValue is the longest value in octets.
	MaxValue = 32 << 10
	// maxName is the longest name of a node in a frame.
	maxName = 255
	// overhead is about what an entry takes beside its key and value.
	overhead = 200
)

// Config is what a Store is made from.
type Config struct {
	// Node and Boot name this process; both must be set.
	Node string
	Boot uint64
	// Rules by kind; nil means DefaultRules.
	Rules map[Kind]Rule
	// MaxEntries and MaxBytes bound the store, copies of other nodes' entries
	// included; 0 means the default.
	MaxEntries, MaxBytes int
	// Chunk is about the size of a frame in octets, Window about what one
	// Want gets; 0 means the default.
	Chunk, Window int
	// Sync is the time between two vectors to one peer in turn, Retry how long
	// an answer may take; 0 means the default.
	Sync, Retry time.Duration
}

func (c Config) withDefaults() Config {
	if c.Rules == nil {
		c.Rules = DefaultRules()
	}
	rules := make(map[Kind]Rule, len(c.Rules))
	for k, r := range c.Rules {
		if k <= maxKind {
			rules[k] = r.withDefaults()
		}
	}
	c.Rules = rules
	positive(&c.MaxEntries, DefaultMaxEntries)
	positive(&c.MaxBytes, DefaultMaxBytes)
	positive(&c.Chunk, DefaultChunk)
	positive(&c.Window, DefaultWindow)
	positive(&c.Sync, DefaultSync)
	positive(&c.Retry, DefaultRetry)
	return c
}

func positive[T int | time.Duration](v *T, fallback T) {
	if *v <= 0 {
		*v = fallback
	}
}
