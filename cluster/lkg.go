package cluster

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tandem-sbc/tandem/cluster/atrest"
	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/internal/durable"
)

// Files of the last known good document: the current one and the one before, which
// serves when the current one cannot be read.
const (
	lkgFile     = "last-known-good"
	lkgPrevious = "last-known-good.previous"
)

// lkgMagic starts the file; the last octet is the version of its format.
const lkgMagic = "TNDLKG\x00\x01"

// errLKG is returned for a file that is no last known good document or is damaged.
var errLKG = errors.New("not a last known good document, or damaged")

// lkgLabel binds the sealed file to what it is.
const lkgLabel = "last known good"

// encodeLKG makes the content of the file before it is sealed: magic, entry, SHA-256 of both.
func encodeLKG(e *fsm.Entry) []byte {
	b := e.Append([]byte(lkgMagic))
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// decodeLKG checks and reads what encodeLKG made.
func decodeLKG(b []byte) (fsm.Entry, error) {
	if len(b) < len(lkgMagic)+sha256.Size || string(b[:len(lkgMagic)]) != lkgMagic {
		return fsm.Entry{}, errLKG
	}
	body, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if want := sha256.Sum256(body); !bytes.Equal(sum, want[:]) {
		return fsm.Entry{}, errLKG
	}
	e, err := fsm.DecodeEntry(body[len(lkgMagic):])
	if err != nil {
		return fsm.Entry{}, errLKG
	}
	return e, nil
}

// saveLKG writes the document, keeping the one before (DEC-14). A crash at any
// moment leaves at least one of the two files whole.
func saveLKG(dir string, v *vault, e *fsm.Entry) error {
	path := filepath.Join(dir, lkgFile)
	fresh := path + ".next"
	// A disk that is full fails here, with both files as they were.
	err := writeDurable(fresh, v.Seal(lkgLabel, encodeLKG(e)))
	if err != nil {
		return fmt.Errorf("cluster: last known good: %w", err)
	}
	err = os.Rename(path, filepath.Join(dir, lkgPrevious))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.Rename(fresh, path)
	}
	if err == nil {
		err = durable.SyncDir(dir)
	}
	if err != nil {
		return fmt.Errorf("cluster: last known good: %w", err)
	}
	return nil
}

// loadFile reads one of the files. v may be nil for one that is in clear.
func loadFile(path string, v *vault) (fsm.Entry, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return fsm.Entry{}, err
	}
	if atrest.Sealed(b) {
		if v == nil {
			return fsm.Entry{}, fmt.Errorf("%w: it is sealed, and %s is missing", errLKG, keyFile)
		}
		if b, err = v.Open(lkgLabel, b); err != nil {
			return fsm.Entry{}, fmt.Errorf("%w: %w", errLKG, err)
		}
	}
	return decodeLKG(b)
}

// HasDocument reports whether a data directory holds a document that its node has
// run, and the ring opens it.
func HasDocument(dir string, ring *keyring.Keyring) bool {
	_, err := DocumentOf(dir, ring) // one that is damaged is none
	return err == nil
}

// ErrNoDocument is returned by DocumentOf for a directory without a document.
var ErrNoDocument = errors.New("cluster: there is no last known good document")

// DocumentOf returns the last known good document of the data directory of a node that does not
// run, and changes nothing. The error is ErrNoDocument or says why a file that is there cannot
// be read.
func DocumentOf(dir string, ring *keyring.Keyring) (fsm.Entry, error) {
	v, err := readVault(dir, ring)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fsm.Entry{}, err
	}
	e, ok, err := loadLKG(dir, v)
	if !ok {
		return fsm.Entry{}, cmp.Or(err, ErrNoDocument)
	}
	return e, nil
}

// loadLKG returns the newest document that can be read; false when there is none.
// The error tells of files that are there and cannot be used.
func loadLKG(dir string, v *vault) (fsm.Entry, bool, error) {
	var faults []error
	for _, name := range []string{lkgFile, lkgPrevious} {
		path := filepath.Join(dir, name)
		e, err := loadFile(path, v)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			return e, true, errors.Join(faults...)
		}
		faults = append(faults, fmt.Errorf("%s: %w", path, err))
	}
	return fsm.Entry{}, false, errors.Join(faults...)
}

// resealLKG seals the files that an older version wrote in clear, and removes what a
// crash of it left behind.
func resealLKG(dir string, v *vault) error {
	left, err := filepath.Glob(filepath.Join(dir, lkgFile+".*tmp-*"))
	if err != nil {
		return err
	}
	for _, path := range append(left, filepath.Join(dir, lkgFile+".next")) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, name := range []string{lkgFile, lkgPrevious} {
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && atrest.Sealed(b) {
			continue
		}
		if err == nil {
			if _, err := decodeLKG(b); err != nil {
				continue // damaged: loadLKG tells
			}
			err = writeDurable(path, v.Seal(lkgLabel, b))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
