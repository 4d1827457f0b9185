package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// link finds the target of a Markdown link to a file of this repository.
var link = regexp.MustCompile(`\]\(([^)\s#]+)(?:#[^)]*)?\)`)

// TestLinksLeadSomewhere follows the links of all guides.
func TestLinksLeadSomewhere(t *testing.T) {
	root := source(t).root
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "bin" || d.Name() == "out" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case filepath.Ext(p) != ".md":
			return nil
		}
		text, err := os.ReadFile(p)
		for _, m := range link.FindAllSubmatch(text, -1) {
			target := string(m[1])
			if strings.Contains(target, "://") {
				continue
			}
			if _, statErr := os.Stat(filepath.Join(filepath.Dir(p), filepath.FromSlash(target))); statErr != nil {
				t.Errorf("%s: the link to %s leads nowhere", strings.TrimPrefix(p, root+"/"), target)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
