package app

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/internal/config"
)

// usersDocument is a document with one digest user.
const (
	userMD5      = "939e7578ed9e3c518a452acee763bce9"
	userSHA256   = "7987c64c30e25f1b74be53f966b49b90f2808aa92faf9a00262392d7b4794232"
	userDocument = `cluster: test
sites: [{name: dallas}]
trunk_groups:
  - name: acme-out
    role: termination-customer
    credentials:
      - {username: acme, realm: sip.example.com, ha1_md5: ` + userMD5 + `, ha1_sha256: ` + userSHA256 + `}
  - name: carrier
    role: pstn-provider
    members: [{id: gw, site: dallas, address: "192.0.2.1:5060"}]
`
)

// written returns the files of a data directory that hold a hash of the document in any form.
func written(t *testing.T, dir string) (found []string) {
	t.Helper()
	var forms [][]byte
	for _, text := range []string{userMD5, userSHA256} {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range [][]byte{[]byte(text), bytes.ToUpper([]byte(text)), raw} {
			forms = append(forms, form, []byte(base64.RawStdEncoding.EncodeToString(form)))
		}
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		for _, form := range forms {
			if bytes.Contains(b, form) {
				found = append(found, path)
			}
		}
		return err
	})
	if err != nil || files < 5 {
		t.Fatalf("%d files searched, %v", files, err)
	}
	return found
}

// The data directory of a node holds no hash of a password, while it runs and after, and the
// document can still be had from it with the key file.
func TestDataDirectoryHoldsNoHash(t *testing.T) {
	b := newBox(t, "127.88.7.1", userDocument)
	data := filepath.Join(b.dir, "data")
	for range 2 {
		b.start()
		b.wait("the document", func() bool { return b.app.node.Status().Document.Revision == 1 })
		b.wait("the disk", func() bool {
			_, err := os.Stat(filepath.Join(data, "last-known-good"))
			return err == nil
		})
		if found := written(t, data); len(found) > 0 {
			t.Errorf("a hash stands in %v", found)
		}
		b.stop()
		if found := written(t, data); len(found) > 0 {
			t.Errorf("after the end a hash stands in %v", found)
		}
	}

	cfg, err := config.Load(b.file)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := Rescue(cfg); err != nil || !strings.Contains(d.Document, userMD5) || d.Revision != 1 {
		t.Errorf("rescued %+v, %v", d, err)
	}
	cfg.DataDir = t.TempDir()
	if _, err := Rescue(cfg); !errors.Is(err, ErrNoDocument) {
		t.Errorf("rescued from nothing: %v", err)
	}
}
