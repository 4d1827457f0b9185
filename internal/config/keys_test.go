package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	keyA = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	keyB = "1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100"
)

func TestKeyFile(t *testing.T) {
	f, err := ParseKeyFile(keyA + "\n" + keyB + "\nseed=00000000000000ff\n")
	if err != nil || len(f.Keys) != 2 || f.Seed != 255 {
		t.Fatalf("%d keys, seed %d, %v", len(f.Keys), f.Seed, err)
	}
	again, err := ParseKeyFile(f.Format())
	if err != nil || string(again.Keys[1].Bytes()) != string(f.Keys[1].Bytes()) || again.Seed != f.Seed {
		t.Errorf("read again: %v", err)
	}
	for _, text := range []string{"", "seed=00000000000000ff", keyA + " seed=0", keyA + " seed=1 seed=2", keyA + " seed=xyz", keyA + " secretbutshort"} {
		if _, err := ParseKeyFile(text); err == nil {
			t.Errorf("%q was taken", text)
		} else if strings.Contains(err.Error(), "secretbutshort") || strings.Contains(err.Error(), keyA) {
			t.Errorf("the error gives the text away: %v", err)
		}
	}
}

// A key that everybody on the machine may read is none.
func TestPrivateFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(keyA), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKeyFile(path); err != nil {
		t.Error(err)
	}
	if _, err := ReadPrivate(path); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKeyFile(path); err == nil {
		t.Error("an open key file was read")
	}
	if _, err := ReadPrivate(path); err == nil || !strings.Contains(err.Error(), "0644") {
		t.Errorf("an open private key: %v", err)
	}
}

func FuzzKeyFile(f *testing.F) {
	f.Add(keyA + "\n" + keyB + "\nseed=00000000000000ff\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := ParseKeyFile(text)
		if err != nil {
			return
		}
		again, err := ParseKeyFile(file.Format())
		if err != nil || len(again.Keys) != len(file.Keys) || again.Seed != file.Seed {
			t.Fatalf("%v", err)
		}
	})
}
