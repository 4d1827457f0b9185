package cluster

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func entry(generation, revision uint64, document string) fsm.Entry {
	return fsm.Entry{
		Version: trunkgroup.Version{Cluster: "test", Generation: generation, Revision: revision},
		Author:  "ann", Reason: "because", At: time.UnixMilli(1e12).UTC(), Document: []byte(document),
	}
}

// "boot = a counter fsynced before the first packet (data lost: highest seen by
// peers + 1)" (DEC-13).
func TestDEC13_BootNumber(t *testing.T) {
	dir := t.TempDir()
	nobody := func() uint64 { return 0 }
	ask := func() uint64 { t.Error("peers are asked although the number is on disk"); return 99 }
	for i, seen := range []func() uint64{nobody, ask, ask} {
		if n, err := nextBoot(dir, seen); err != nil || n != uint64(i+1) {
			t.Errorf("boot %d, %v; want %d", n, err, i+1)
		}
	}
	if n, err := nextBoot(t.TempDir(), func() uint64 { return 41 }); err != nil || n != 42 {
		t.Errorf("after a loss of data: boot %d, %v; want 42", n, err)
	}
	if err := os.WriteFile(filepath.Join(dir, bootFile), []byte("no number"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := nextBoot(dir, nobody); err == nil {
		t.Error("a damaged boot number was taken for none")
	}
}

func TestDEC14_LastKnownGoodOnDisk(t *testing.T) {
	dir := t.TempDir()
	if _, ok, err := loadLKG(dir, vaultOf(t, dir)); ok || err != nil {
		t.Fatalf("an empty directory gives %v, %v", ok, err)
	}
	first, second := entry(1, 1, "first"), entry(1, 2, "second")
	for _, e := range []fsm.Entry{first, second} {
		if err := saveLKG(dir, vaultOf(t, dir), &e); err != nil {
			t.Fatal(err)
		}
		got, ok, err := loadLKG(dir, vaultOf(t, dir))
		if !ok || err != nil || got.Version != e.Version || !bytes.Equal(got.Document, e.Document) || got.Author != "ann" || !got.At.Equal(e.At) {
			t.Errorf("saved %+v, loaded %+v, %v", e, got, err)
		}
	}
	// A damaged file: the one before serves.
	path := filepath.Join(dir, lkgFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(b)
	flipped[len(b)-40] ^= 1
	for _, damage := range [][]byte{b[:len(b)-1], append(bytes.Clone(b), 0), flipped, nil} {
		if err := os.WriteFile(path, damage, 0o600); err != nil {
			t.Fatal(err)
		}
		got, ok, err := loadLKG(dir, vaultOf(t, dir))
		if !ok || got.Version != first.Version || !errors.Is(err, errLKG) {
			t.Errorf("a damaged file: %+v, %v, %v", got.Version, ok, err)
		}
	}
	// A crash between the two renames leaves only the one before.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := loadLKG(dir, vaultOf(t, dir)); !ok || err != nil || got.Version != first.Version {
		t.Errorf("between the renames: %+v, %v, %v", got.Version, ok, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.Contains(f.Name(), ".tmp-") {
			t.Errorf("%s was left behind", f.Name())
		}
	}
	if err := writeDurable(filepath.Join(dir, "no", "such"), nil); err == nil {
		t.Error("a write into nowhere succeeded")
	}
}

func FuzzLKG(f *testing.F) {
	e := entry(1, 2, "document")
	f.Add(encodeLKG(&e))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decodeLKG(b)
		if err == nil && !bytes.Equal(encodeLKG(&e), b) {
			t.Fatal("a file does not encode as it was read")
		}
	})
}

func FuzzAnswer(f *testing.F) {
	a := answer{verdict: verdictRefused, version: trunkgroup.Version{Generation: 1, Revision: 2}, message: "why"}
	f.Add(a.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseAnswer(b)
		if err == nil && len(b) <= maxMessage && !bytes.Equal(a.append(nil), b) {
			t.Fatal("an answer does not encode as it was read")
		}
		if block, err := readBlock(bytes.NewReader(b), 1024); err == nil && len(block) > 1024 {
			t.Fatal("a block beyond the limit was read")
		}
	})
}
