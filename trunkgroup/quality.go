package trunkgroup

import "time"

// Quality is what the calls of a member must achieve, compiled (D10).
type Quality struct {
	MinAnswerRatio int // percent; 0 demands nothing
	MaxShortCalls  int // percent; 0 demands nothing
	ShortCall      time.Duration
	Window         time.Duration
	MinSamples     int
	Cooldown       time.Duration
}
