package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/cluster/interconnect"
)

// bootFile holds the number of the last boot as decimal text.
const bootFile = "boot"

// inquiryTimeout bounds how long a node without a boot number asks its peers.
const inquiryTimeout = 1500 * time.Millisecond

// nextBoot raises the boot number on disk and returns it (DEC-13: "a counter
// fsynced before the first packet (data lost: highest seen by peers + 1)").
// seen asks the peers; it is called only when there is no number on disk.
func nextBoot(dir string, seen func() uint64) (uint64, error) {
	path := filepath.Join(dir, bootFile)
	last, err := readBoot(path)
	if errors.Is(err, fs.ErrNotExist) {
		last, err = seen(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("cluster: boot number: %w", err)
	}
	return last + 1, writeBoot(dir, last+1)
}

func readBoot(path string) (uint64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

func writeBoot(dir string, n uint64) error {
	err := writeDurable(filepath.Join(dir, bootFile), []byte(strconv.FormatUint(n, 10)+"\n"))
	if err != nil {
		return fmt.Errorf("cluster: boot number: %w", err)
	}
	return nil
}

// askPeers returns the highest boot number of this node that any peer has seen.
func askPeers(ctx context.Context, cfg interconnect.Config, peers []Peer) uint64 {
	ctx, cancel := context.WithTimeout(ctx, inquiryTimeout)
	defer cancel()
	var mu sync.Mutex
	var highest uint64
	var wg sync.WaitGroup
	for _, p := range peers {
		wg.Go(func() {
			seen, err := interconnect.Inquire(ctx, cfg, interconnect.Endpoint{Name: p.Name, Address: p.Interconnect})
			if err != nil {
				cfg.Logger.Debug("peer tells no boot number", "peer", p.Name, "error", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			highest = max(highest, seen)
		})
	}
	wg.Wait()
	return highest
}
