package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/internal/app"
	"github.com/tandem-sbc/tandem/internal/config"
)

// heldKey is a key of a file as it is shown: never the key.
type heldKey struct {
	ID  string `json:"id"`
	Use string `json:"use"` // used, accepted
}

// readKeys reads a key file with the id of each key.
func readKeys(path string) (config.KeyFile, []heldKey, error) {
	f, err := config.ReadKeyFile(path)
	if err != nil {
		code := exitFailed
		if errors.Is(err, fs.ErrNotExist) {
			code = exitNotFound
		}
		return f, nil, fail(code, "cluster.key_file of the node file names it", "%w", err)
	}
	ids, err := describeKeys(f)
	return f, ids, err
}

// describeKeys shows a key file without its secrets.
func describeKeys(f config.KeyFile) ([]heldKey, error) {
	var secrets [][]byte
	for _, k := range f.Keys {
		secrets = append(secrets, k.Bytes())
	}
	ring, err := keyring.New(secrets...)
	if err != nil {
		return nil, err
	}
	var list []heldKey
	for i, id := range ring.IDs() {
		use := "accepted"
		if i == 0 {
			use = "used"
		}
		list = append(list, heldKey{id.String(), use})
	}
	return list, nil
}

// keepSeed writes down the seed that the first key gives, before another one comes to stand there: nodes compute hashes alike by it.
func keepSeed(f *config.KeyFile) {
	if f.Seed == 0 {
		f.Seed = app.Seed(f.Keys[0].Bytes())
	}
}

// writePrivate replaces a file at once and on disk, with the owner of the old one. A new one belongs to who runs the command and is for him alone.
func writePrivate(path string, text []byte) error {
	mode, uid, gid := os.FileMode(0o600), -1, -1
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm() &^ 0o007
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			uid, gid = int(s.Uid), int(s.Gid)
		}
	}
	return writeWhole(path, text, mode, uid, gid)
}

// writeWhole writes a file so that there is never half of it.
func writeWhole(path string, text []byte, mode os.FileMode, uid, gid int) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // it is of no use
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode))
	if uid >= 0 && uid != os.Geteuid() {
		err = errors.Join(err, f.Chown(uid, gid))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}
