package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Epoch names one life of the configuration log. It is raised by a recovery from
// lost quorum, and nodes of another epoch have no part in the consensus (DEC-14,
// fencing). Number 0 is the log that the cluster was founded with.
type Epoch struct {
	Number uint64 `json:"number"`
	// ID tells two recoveries apart that were made on both sides of a cut.
	ID     string    `json:"id,omitempty"`
	By     string    `json:"by,omitempty"` // the node that was recovered
	Author string    `json:"author,omitempty"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at,omitzero"`
}

// epochProtocol is the protocol that knows epochs.
const epochProtocol = 2

// compare orders epochs; of two with one number the ID decides, the same way
// everywhere.
func (e Epoch) compare(than Epoch) int {
	return cmp.Or(cmp.Compare(e.Number, than.Number), strings.Compare(e.ID, than.ID))
}

// String says whose epoch it is.
func (e Epoch) String() string {
	if e.Number == 0 {
		return "epoch 0 (as founded)"
	}
	return fmt.Sprintf("epoch %d (recovered on %s at %s by %q: %s)", e.Number, e.By, e.At.UTC().Format(time.RFC3339), e.Author, e.Reason)
}

// tag is the epoch as it goes in front of an RPC: number and id.
func (e Epoch) tag() string { return strconv.FormatUint(e.Number, 10) + "." + e.ID }

// maxEpochID bounds the id in octets.
const maxEpochID = 64

// parseTag reads what tag wrote; an empty one is epoch 0.
func parseTag(s string) (Epoch, bool) {
	if s == "" {
		return Epoch{}, true
	}
	number, id, ok := strings.Cut(s, ".")
	n, err := strconv.ParseUint(number, 10, 64)
	return Epoch{Number: n, ID: id}, ok && err == nil && len(id) <= maxEpochID
}

// standing is a node's place among the epochs, as it is on disk.
type standing struct {
	Mine Epoch `json:"mine"`
	// Over is the later epoch that was met: this node is out of the consensus until it
	// rejoins. Number 0: none.
	Over Epoch `json:"over,omitzero"`
	// Blank: the log was lost or discarded. What this node promised before, by votes and
	// acknowledgements, it does not know, so it must not vote until the others have taken
	// its vote away.
	Blank bool `json:"blank,omitempty"`
	// Adopt are the nodes that took part in the recovery here: they rejoin by themselves.
	Adopt []string `json:"adopt,omitempty"`
}

// epochFile holds the standing as JSON; without it all is epoch 0.
const epochFile = "epoch.json"

func loadStanding(dir string) (standing, error) {
	var s standing
	b, err := os.ReadFile(filepath.Join(dir, epochFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		// A node that does not know its epoch might vote in a dead one.
		return s, fmt.Errorf("cluster: epoch of the configuration log: %s: %w", filepath.Join(dir, epochFile), err)
	}
	return s, nil
}

func saveStanding(dir string, s standing) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = writeDurable(filepath.Join(dir, epochFile), append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("cluster: epoch of the configuration log: %w", err)
	}
	return nil
}

// notice is the frame by which nodes tell each other their epoch.
type notice struct {
	Epoch Epoch `json:"epoch"`
	// Adopt asks the receiver, which took part in the recovery, to rejoin by itself.
	Adopt bool `json:"adopt,omitempty"`
}

// maxNotice bounds a notice in octets.
const maxNotice = 16 << 10

func parseNotice(b []byte) (notice, bool) {
	var n notice
	if len(b) > maxNotice || json.Unmarshal(b, &n) != nil || len(n.Epoch.ID) > maxEpochID || strings.ContainsAny(n.Epoch.ID, "\n.") {
		return notice{}, false
	}
	return n, true
}
