package archtest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// foreign matches what means nothing to a reader of this repository: paths of one machine, addresses
// of package registries, notes about how and by whom a change was made. The words are put
// together from parts so that this file passes its own rule.
var foreign = []struct {
	re  *regexp.Regexp
	why string
}{
	{regexp.MustCompile(`(?m)(^|[\s"'(=:` + "`" + `])/(work|root|farm)/`), "path of one machine: use a relative path or a temporary directory"},
	{regexp.MustCompile(`/home/[a-z]+/`), "path of one machine: use a relative path or a temporary directory"},
	{regexp.MustCompile(`(proxy|sum)\.` + `golang\.org|deb\.` + `debian\.org|registry\.` + `npmjs\.org`), "address of a package registry: the ordinary client knows it"},
	{regexp.MustCompile(`(?i)\bissue #?\d+\b|\bthis ` + `(issue|session of)\b|contract\.` + `md|shared/` + `(design|spec|lab|cases)`), "note about the making of a change: say what the code does"},
}

// TestTextBelongsHere reads every text file of the repository.
func TestTextBelongsHere(t *testing.T) {
	root := source(t).root
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "bin" || d.Name() == "out" || d.Name() == "artifacts" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case !d.Type().IsRegular() || strings.HasSuffix(p, ".sum") || strings.HasSuffix(p, ".dat"):
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		rel, err := filepath.Rel(root, p)
		for _, f := range foreign {
			for _, at := range f.re.FindAllIndex(text, -1) {
				t.Errorf("%s:%d: %q: %s", rel, 1+bytes.Count(text[:at[0]], []byte("\n")), strings.TrimSpace(string(text[at[0]:at[1]])), f.why)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
