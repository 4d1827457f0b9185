package cdrsink

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tandem-sbc/tandem/internal/durable"
	"github.com/tandem-sbc/tandem/monitor/cdrlog"
)

// place is where a sink is in the spool, as its file has it.
type place struct {
	At cdrlog.Position `json:"at"`
	// Sending is the number of the last record of the batch that was being sent: after a
	// crash the same batch is sent again, under the same key. 0 = none.
	Sending uint64 `json:"sending,omitempty"`
}

// errPlace is a file of a place that cannot be understood.
var errPlace = errors.New("it holds no place")

// readPlace reads a place; ok is false when there is none yet.
func readPlace(path string) (p place, ok bool, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return place{}, false, nil
	}
	if err != nil {
		return place{}, false, fmt.Errorf("place of a sink: %w", err)
	}
	// A batch that was being sent ends behind the place; one that does not could never be made.
	if err := json.Unmarshal(b, &p); err != nil || p.At.Offset < 0 || p.Sending > 0 && p.Sending < p.At.Next {
		return place{}, false, fmt.Errorf("place of a sink: %s: %w", path, errPlace)
	}
	return p, true, nil
}

// writePlace replaces a place in one step that survives a power loss.
func writePlace(path string, p place) error {
	b, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("place of a sink: %w", err)
	}
	if err := durable.Replace(path, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("place of a sink: %w", err)
	}
	return nil
}
