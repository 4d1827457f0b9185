package cdrlog

import (
	"errors"
	"fmt"
	"time"
)

// Prune removes the files that were put aside whose records all have numbers below keep,
// and that were last written to before a time. It returns how many. Files without numbers,
// of earlier versions, are not touched.
func (l *Log) Prune(before time.Time, keep uint64) (int, error) {
	files, err := l.files()
	if err != nil {
		return 0, fmt.Errorf("cdrlog: %w", err)
	}
	n := 0
	var faults []error
	for i, f := range files {
		// A file's records are all below the first one of the next file.
		if i+1 == len(files) || files[i+1].first > keep || f.path == l.cfg.Path {
			break
		}
		changed, err := l.cfg.fs.changed(f.path)
		if err == nil && !changed.Before(before) {
			break
		}
		if err == nil {
			err = l.cfg.fs.remove(f.path)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		n++
		l.cfg.Logger.Info("a file of call records was removed: everybody has them, and their time is over", "path", f.path)
	}
	return n, errors.Join(faults...)
}
