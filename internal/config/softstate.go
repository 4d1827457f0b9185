package config

// SoftState bounds what the nodes hold of each other in memory: answered calls,
// registrations and what else is not configuration.
type SoftState struct {
	// Entries and Size (in bytes) bound all entries, those of other nodes included.
	Entries int
	Size    int64
}

type fileSoftState struct {
	Entries int    `mapstructure:"entries"`
	Size    string `mapstructure:"size"`
}

func (c *checker) softState(f *fileSoftState) SoftState {
	return SoftState{
		Entries: c.number("soft_state.entries", f.Entries, 1000, 100_000_000),
		Size:    c.size("soft_state.size", f.Size, 1<<20, 1<<40),
	}
}
