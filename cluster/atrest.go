package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tandem-sbc/tandem/cluster/atrest"
	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// keyFile is the envelope of the data key: what this node writes is sealed under that
// key, and the key is wrapped under the secrets of the cluster.
const keyFile = "data-key.json"

// AlarmDataKey: the data key is not wrapped under the cluster keys that this node holds,
// or something of an older version is still in clear on disk.
const AlarmDataKey = "cluster_data_key"

// vault is the data key of a data directory. The key itself never changes.
type vault struct {
	*atrest.Key
	path string

	mu      sync.Mutex
	wrapped []keyring.ID // what the file on disk is wrapped under
}

// openVault reads the data key of a directory, or makes one where there is none. Its
// errors name the file and say what to do.
func openVault(dir string, ring *keyring.Keyring) (*vault, error) {
	v, err := readVault(dir, ring)
	if !errors.Is(err, fs.ErrNotExist) {
		return v, err
	}
	if err := found(dir, ring); err != nil {
		return nil, fmt.Errorf("cluster: data key: %w", err)
	}
	return readVault(dir, ring)
}

// readVault reads the data key of a directory and changes nothing. Without one the error
// wraps fs.ErrNotExist.
func readVault(dir string, ring *keyring.Keyring) (*vault, error) {
	v := &vault{path: filepath.Join(dir, keyFile)}
	b, err := os.ReadFile(v.path)
	if err != nil {
		return nil, fmt.Errorf("cluster: data key: %w", err)
	}
	v.Key, v.wrapped, err = atrest.Unwrap(b, ring)
	_, foreign := errors.AsType[*atrest.ForeignError](err)
	switch {
	case foreign:
		return nil, fmt.Errorf("cluster: %s: %w: add the missing key to the end of the key file and start again; if it is lost, move "+
			"the data directory aside: the node then gets the configuration from the others", v.path, err)
	case err != nil:
		return nil, fmt.Errorf("cluster: %s: %w: put back the file of a copy of this data directory, or move "+
			"the directory aside: the node then gets the configuration from the others", v.path, err)
	}
	return v, nil
}

// found makes the key of a directory that has none. Of two processes that do it at once the
// first one wins: nothing is ever sealed under a key that another one replaces.
func found(dir string, ring *keyring.Keyring) error {
	path := filepath.Join(dir, keyFile)
	for _, name := range []string{lkgFile, lkgPrevious, filepath.Join(raftDir, logFile)} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil && atrest.Within(b) {
			return fmt.Errorf("%s is missing, and %s is sealed with it: put it back, or move the data directory aside: "+
				"the node then gets the configuration from the others", path, name)
		}
	}
	k, err := atrest.NewKey()
	if err != nil {
		return err
	}
	b, err := k.Wrap(ring)
	if err != nil {
		return err
	}
	return createDurable(path, b)
}

// wrap writes the envelope again when the ring has other secrets than those that the file
// is wrapped under, in one step: a crash leaves the old file or the new one.
func (v *vault) wrap(ring *keyring.Keyring) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if sameIDs(v.wrapped, ring.IDs()) {
		return nil
	}
	b, err := v.Wrap(ring)
	if err == nil {
		err = writeDurable(v.path, b)
	}
	if err != nil {
		return fmt.Errorf("cluster: data key: %w", err)
	}
	v.wrapped = ring.IDs()
	return nil
}

func sameIDs(a, b []keyring.ID) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(id keyring.ID) bool { return !slices.Contains(b, id) })
}

// resealAll seals what an older version left in clear in the data directory. What cannot be
// sealed now is told by an alarm, and tried again at the next start.
func (n *Node) resealAll() {
	faults := resealLKG(n.cfg.DataDir, n.vault)
	if s := n.lives.store; s != nil {
		list, err := openSnapshots(s.dir, n.vault, &n.cfg)
		if err == nil {
			err = list.reseal(s.dir)
		}
		faults = errors.Join(faults, s.inClear, err)
	}
	faults = errors.Join(faults, n.resealDiscarded())
	if faults != nil {
		n.inClear = fmt.Sprintf("something that an older version wrote is still in clear in %s: %v; it is tried again at the next start", n.cfg.DataDir, faults)
		n.alarms.raise(AlarmDataKey, n.inClear)
	}
}

// resealDiscarded does the same for a log that was put aside. It may have been put aside
// because it is damaged: then nothing can be sealed, and a human is told.
func (n *Node) resealDiscarded() error {
	dir := filepath.Join(n.cfg.DataDir, discardedDir)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s, err := openStoreIn(dir, n.vault, func(error) {})
	if err == nil {
		err = errors.Join(s.inClear, s.Close())
	}
	if err != nil {
		return unsealable(dir, err)
	}
	list, err := openSnapshots(dir, n.vault, &n.cfg)
	if err != nil {
		return err
	}
	return list.reseal(dir)
}

// unsealable says what to do about a log that cannot be read, unless it was sealed before it was
// damaged.
func unsealable(dir string, cause error) error {
	b, err := os.ReadFile(filepath.Join(dir, logFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && (len(b) == 0 || atrest.Within(b)) {
		return nil
	}
	return fmt.Errorf("the log that was put aside cannot be read: remove %s when you do not need it: %w", dir, cause)
}

// keepWrapped wraps the data key under the secrets that the node holds now. While that
// fails the node runs on, and an alarm says what must not be removed.
func (n *Node) keepWrapped() {
	ring, _, _ := n.trust()
	if err := n.vault.wrap(ring); err != nil {
		n.alarms.raise(AlarmDataKey, fmt.Sprintf("%v; it is tried again every %v. Until then leave the cluster key that was used before "+
			"in the key file: without it this node does not start again", err, keysInterval))
		return
	}
	n.alarmIf(AlarmDataKey, n.inClear)
}
