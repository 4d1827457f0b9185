package config

import (
	"path/filepath"
	"time"
)

// CDRIndex is where call records are found again (`tandem cdr search`).
type CDRIndex struct {
	Enabled bool
	// Path is the database.
	Path string
	// Keep is for how long after its start a call is found.
	Keep time.Duration
	// Size is how many bytes the database may have.
	Size int64
}

type fileCDRIndex struct {
	Enabled bool   `mapstructure:"enabled"`
	Path    string `mapstructure:"path"`
	Keep    string `mapstructure:"keep"`
	Size    string `mapstructure:"size"`
}

// defaultCDRIndex is what an empty section stands for.
func defaultCDRIndex() fileCDRIndex {
	return fileCDRIndex{Enabled: true, Keep: "720h", Size: "2GiB"}
}

func (c *checker) cdrIndex(f *fileCDRIndex, dataDir string, records string) CDRIndex {
	out := CDRIndex{
		Enabled: f.Enabled,
		Path:    c.path(f.Path),
		Keep:    c.duration("cdr.index.keep", f.Keep, time.Hour, longest),
		Size:    c.size("cdr.index.size", f.Size, 16<<20, 1<<42),
	}
	if out.Path == "" {
		out.Path = filepath.Join(dataDir, "cdr-index", "calls.db")
	}
	if out.Path == records {
		c.add("cdr.index.path", "name another file, or leave it out", "the call records themselves are there (cdr.path)")
	}
	return out
}
