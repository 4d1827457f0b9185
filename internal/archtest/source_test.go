package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/tandem-sbc/tandem"

// file is one parsed Go file of the repository.
type file struct {
	Path  string // relative to the root, with slashes
	Dir   string // package directory, "." for the root
	Test  bool
	Text  []byte
	AST   *ast.File
	Lines int
}

// tree is the source of the repository, without modules of their own (tools).
type tree struct {
	root  string
	fset  *token.FileSet
	files []*file
}

// load parses the repository once for all tests of this package.
var load = sync.OnceValues(func() (*tree, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, fset: token.NewFileSet()}
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && skipDir(p, d.Name()):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(p, ".go"):
			return t.add(p)
		}
		return nil
	})
	return t, err
})

// skipDir leaves out hidden directories, test data, build results and other modules.
func skipDir(p, name string) bool {
	if strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "out" {
		return true
	}
	_, err := os.Stat(filepath.Join(p, "go.mod"))
	return err == nil
}

func (t *tree) add(p string) error {
	text, err := os.ReadFile(p)
	if err != nil {
		return err
	}
	syntax, err := parser.ParseFile(t.fset, p, text, parser.ParseComments)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(t.root, p)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	t.files = append(t.files, &file{
		Path: rel, Dir: path.Dir(rel), Test: strings.HasSuffix(rel, "_test.go"),
		Text: text, AST: syntax, Lines: strings.Count(string(text), "\n"),
	})
	return nil
}

// source returns the parsed repository.
func source(t *testing.T) *tree {
	t.Helper()
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// line is the line number of a position.
func (t *tree) line(p token.Pos) int { return t.fset.Position(p).Line }

// imports lists the import paths of a file with their positions.
func (f *file) imports(fn func(path string, spec *ast.ImportSpec)) {
	for _, spec := range f.AST.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			fn(p, spec)
		}
	}
}

// dirs lists the package directories that hold at least one file which is not a test.
func (t *tree) dirs() map[string][]*file {
	m := map[string][]*file{}
	for _, f := range t.files {
		if !f.Test {
			m[f.Dir] = append(m[f.Dir], f)
		}
	}
	return m
}

// under reports whether the directory dir is one of the roots or below one.
func under(dir string, roots ...string) bool {
	for _, r := range roots {
		if dir == r || strings.HasPrefix(dir, r+"/") {
			return true
		}
	}
	return false
}
