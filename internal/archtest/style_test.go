package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	maxFileLines = 500
	maxFuncLines = 100
)

// TestEveryPackageHasDoc asks for a doc.go with a package comment that says what the package is for.
func TestEveryPackageHasDoc(t *testing.T) {
	for dir, files := range source(t).dirs() {
		i := slices.IndexFunc(files, func(f *file) bool {
			return path.Base(f.Path) == "doc.go" || files[0].AST.Name.Name == "main" && path.Base(f.Path) == "main.go"
		})
		if i < 0 || files[i].AST.Doc == nil || len(files[i].AST.Doc.Text()) < 60 {
			t.Errorf("%s: no doc.go with a package comment: purpose, what it does not do, where to start reading", dir)
		}
	}
}

// TestSize keeps files and functions readable at one sitting.
func TestSize(t *testing.T) {
	s := source(t)
	for _, f := range s.files {
		if f.Lines > maxFileLines {
			t.Errorf("%s: %d lines, more than %d: there is one job too many in it", f.Path, f.Lines, maxFileLines)
		}
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := s.line(fn.End()) - s.line(fn.Pos()) + 1; n > maxFuncLines {
				t.Errorf("%s:%d: %s has %d lines, more than %d: name its steps", f.Path, s.line(fn.Pos()), fn.Name.Name, n, maxFuncLines)
			}
		}
	}
}

// TestNoInit keeps start-up visible: what a package needs is built by who uses it.
func TestNoInit(t *testing.T) {
	s := source(t)
	for _, f := range s.files {
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s:%d: init(): build it in a constructor that the caller sees", f.Path, s.line(fn.Pos()))
			}
		}
	}
}

// TestPrintOnlyInCommands keeps standard output for commands; everything else logs to an injected slog.Logger.
func TestPrintOnlyInCommands(t *testing.T) {
	s := source(t)
	for _, f := range s.files {
		if f.Test || f.AST.Name.Name == "main" {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			id, ok := sel.X.(*ast.Ident)
			switch {
			case !ok:
			case id.Name == "fmt" && strings.HasPrefix(sel.Sel.Name, "Print"):
				t.Errorf("%s:%d: fmt.%s outside cmd: write to an io.Writer that the caller gives, or log", f.Path, s.line(sel.Pos()), sel.Sel.Name)
			case id.Name == "os" && (sel.Sel.Name == "Exit" || sel.Sel.Name == "Stdout" || sel.Sel.Name == "Stderr"):
				t.Errorf("%s:%d: os.%s outside cmd: return an error, or take a writer", f.Path, s.line(sel.Pos()), sel.Sel.Name)
			case id.Name == "slog" && slices.Contains([]string{"Default", "SetDefault", "Debug", "Info", "Warn", "Error"}, sel.Sel.Name):
				t.Errorf("%s:%d: slog.%s: use the logger that was injected", f.Path, s.line(sel.Pos()), sel.Sel.Name)
			}
			return true
		})
	}
}

// TestNoSleepInTests finds waits for a wall clock. Inside a synctest bubble a sleep is exact and free:
// it is allowed in the function given to synctest.Test, and in helpers of a file that uses bubbles.
func TestNoSleepInTests(t *testing.T) {
	s := source(t)
	for _, f := range s.files {
		if !f.Test {
			continue
		}
		bubbles := strings.Contains(string(f.Text), `"testing/synctest"`)
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || bubbles && !strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}
			sleeps(fn, func(p token.Pos) {
				t.Errorf("%s:%d: time.Sleep in a test: use testing/synctest, or poll for the event with a deadline", f.Path, s.line(p))
			})
		}
	}
}

// sleeps reports the calls of time.Sleep below n that do not stand inside a call of synctest.Test.
func sleeps(n ast.Node, report func(token.Pos)) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch {
		case isCall(call, "synctest", "Test"):
			return false
		case isCall(call, "time", "Sleep"):
			report(call.Pos())
		}
		return true
	})
}

// isCall reports whether a call is pkg.name(...).
func isCall(call *ast.CallExpr, pkg, name string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg
}

// unfinished matches notes about work that was not done.
var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

// TestNothingUnfinished allows no note that stands for missing work: it is done, or it is written down where work is planned.
func TestNothingUnfinished(t *testing.T) {
	s := source(t)
	for _, f := range s.files {
		if under(f.Dir, "internal/archtest") {
			continue
		}
		for _, group := range f.AST.Comments {
			for _, c := range group.List {
				if unfinished.MatchString(c.Text) {
					t.Errorf("%s:%d: unfinished: %s", f.Path, s.line(c.Pos()), c.Text)
				}
			}
		}
	}
}

// TestExportedIsDocumented asks for a comment on everything that another package can name.
func TestExportedIsDocumented(t *testing.T) {
	s := source(t)
	for _, f := range s.files {
		if f.Test || f.AST.Name.Name == "main" {
			continue
		}
		for _, d := range f.AST.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !wellKnown(d) {
					t.Errorf("%s:%d: %s has no comment", f.Path, s.line(d.Pos()), d.Name.Name)
				}
			case *ast.GenDecl:
				undocumented(d, func(name *ast.Ident) {
					t.Errorf("%s:%d: %s has no comment", f.Path, s.line(name.Pos()), name.Name)
				})
			}
		}
	}
}

// undocumented reports the exported names of a declaration that neither have a comment nor stand in a
// block that has one.
func undocumented(d *ast.GenDecl, report func(*ast.Ident)) {
	if d.Tok == token.IMPORT || d.Doc != nil && d.Tok != token.TYPE {
		return
	}
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() && spec.Doc == nil && spec.Comment == nil && d.Doc == nil {
				report(spec.Name)
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() && spec.Doc == nil && spec.Comment == nil {
					report(name)
				}
			}
		}
	}
}

// exportedReceiver is false for methods of types that nobody outside can name.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// wellKnown are methods whose meaning the standard library's interface of the same name gives.
func wellKnown(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"String", "Error", "Unwrap", "Len", "Less", "Swap", "Is"}, d.Name.Name)
}
