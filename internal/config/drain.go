package config

import "time"

// Drain says how patient a node is that is taken out of service (DEC-19).
type Drain struct {
	// Announce is the longest time in which a draining node still takes calls:
	// far ends that probe it have to notice.
	Announce time.Duration
	// Quiet is how long no new call must have come for that to end early.
	Quiet time.Duration
	// Timeout is the longest time from the order until what is left is ended.
	Timeout time.Duration
}

type fileDrain struct {
	Announce string `mapstructure:"announce"`
	Quiet    string `mapstructure:"quiet"`
	Timeout  string `mapstructure:"timeout"`
}

func (c *checker) drain(f *fileDrain) Drain {
	return Drain{
		Announce: c.duration("drain.announce", f.Announce, 0, time.Hour),
		Quiet:    c.duration("drain.quiet", f.Quiet, 0, time.Hour),
		Timeout:  c.duration("drain.timeout", f.Timeout, 0, 24*time.Hour),
	}
}
