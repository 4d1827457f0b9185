package config

// Metrics bounds what the metrics page holds.
type Metrics struct {
	// MaxMembers is how many members have series of their own.
	MaxMembers int
}

type fileMetrics struct {
	MaxMembers int `mapstructure:"max_members"`
}

func (c *checker) metrics(f *fileMetrics) Metrics {
	return Metrics{MaxMembers: c.number("metrics.max_members", f.MaxMembers, 1, 1_000_000)}
}
