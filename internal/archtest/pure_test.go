package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// pure lists the packages without I/O, goroutine or clock: time is an argument and the next deadline
// a result, so that every rule can be tested at its exact instant. What is below one of them is pure
// as well, except the adapters.
var (
	pure     = []string{"trunkgroup", "importer", "geo", "cdr", "sbc/sip", "sbc/hunt", "sbc/transaction", "sbc/number", "sbc/auth", "sbc/uac", "sbc/b2bua", "sbc/drain", "sbc/guard", "sbc/lcr", "sbc/registrar", "sbc/charging", "sbc/tally", "cluster/atrest", "cluster/fsm", "cluster/lease", "cluster/soft", "monitor/cdrquery", "monitor/closing", "monitor/trial", "internal/octets", "internal/percent"}
	adapters = []string{"sbc/lcr/client", "trunkgroup/yamldoc", "importer/tree", "sbc/charging/peers", "sbc/charging/spool", "sbc/charging/clerk", "sbc/charging/ocs"}
)

// impure names the standard packages that reach outside the process.
var impure = map[string]string{
	"net":                   "use net/netip for addresses; sockets belong to sbc/transport and cluster/interconnect",
	"net/http":              "I/O belongs to monitor",
	"os":                    "files belong to the shell that calls this package",
	"os/exec":               "processes belong to the shell",
	"os/signal":             "signals belong to cmd",
	"io/ioutil":             "files belong to the shell",
	"log/slog":              "return what happened and let the shell log it",
	"context":               "nothing here waits, so nothing here can be cancelled",
	"sync":                  "the caller owns the value; pure code needs no lock",
	"sync/atomic":           "the caller owns the value; pure code shares nothing",
	"testing":               "test helpers belong to test files",
	"runtime":               "nothing here depends on the machine",
	"syscall":               "nothing here depends on the machine",
	"unsafe":                "nothing here is worth it",
	"math/rand/v2":          "randomness is an argument, so that a seed repeats the run",
	"crypto/rand":           "randomness is an argument, so that a seed repeats the run",
	"text/template":         "append to a byte slice",
	"html/template":         "append to a byte slice",
	"database/sql":          "I/O belongs to the shell",
	"path/filepath":         "files belong to the shell",
	"encoding/gob":          "formats that cross versions are written down by hand",
	"net/rpc":               "I/O belongs to the shell",
	"golang.org/x/sys/unix": "nothing here depends on the machine",
}

// exempt says which pure package may use which package of the list above, with the reason.
var exempt = map[string][]string{
	// The nonce counter is asked by every shard of the node, and a nonce must not be guessed.
	"sbc/auth": {"sync", "sync/atomic", "crypto/rand"},
	// Keys and nonces must not be guessed.
	"cluster/atrest": {"crypto/rand"},
	// The doors are asked by every reader of a socket: their tables are words that change by compare and swap.
	"sbc/guard": {"sync", "sync/atomic"},
	// Every shard reads the kept answers, while others come in.
	"sbc/lcr": {"sync", "sync/atomic"},
	// What decks say of a prefix is made once and asked by every shard: an atomic pointer each.
	"trunkgroup/deck": {"sync/atomic"},
	// Credentials say how they want to be logged: without their hashes.
	"trunkgroup": {"log/slog"},
}

// clock names the functions of package time that read or wait for the clock.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// thirdParty lists the libraries that pure packages may use: none of them does I/O.
var thirdParty = map[string][]string{
	"github.com/gaissmai/bart":     {"trunkgroup", "sbc/guard"},
	"github.com/cespare/xxhash/v2": {"trunkgroup", "sbc/b2bua", "sbc/registrar", "monitor/closing"},
	"github.com/icholy/digest":     {"sbc/auth"},
	// Expressions: a parser, a checker and a machine, all of them functions of their arguments.
	"github.com/expr-lang/expr":        {"trunkgroup/policy"},
	"github.com/expr-lang/expr/ast":    {"trunkgroup/policy"},
	"github.com/expr-lang/expr/file":   {"trunkgroup/policy"},
	"github.com/expr-lang/expr/parser": {"trunkgroup/policy"},
	"github.com/expr-lang/expr/vm":     {"trunkgroup/policy"},
	"github.com/oklog/ulid/v2":         {"sbc/b2bua"},
	"golang.org/x/text/unicode/norm":   {"sbc/number"},
}

func isPure(f *file) bool {
	return !f.Test && under(f.Dir, pure...) && !under(f.Dir, adapters...)
}

// TestPureImports keeps sockets, files, locks and foreign libraries out of the pure packages.
func TestPureImports(t *testing.T) {
	s := source(t)
	for _, f := range s.files {
		if !isPure(f) {
			continue
		}
		f.imports(func(p string, spec *ast.ImportSpec) {
			line := s.line(spec.Pos())
			if why, bad := impure[p]; bad && !slices.Contains(exempt[f.Dir], p) {
				t.Errorf("%s:%d: %s is pure and may not import %s: %s", f.Path, line, f.Dir, p, why)
			}
			first, _, _ := strings.Cut(p, "/")
			if strings.Contains(first, ".") && !strings.HasPrefix(p, module) && !under(f.Dir, thirdParty[p]...) {
				t.Errorf("%s:%d: %s is pure: standard library and the few packages of thirdParty only, not %s", f.Path, line, f.Dir, p)
			}
		})
	}
}

// TestPureCode finds goroutines, channels in use and reads of the clock in the pure packages.
func TestPureCode(t *testing.T) {
	s := source(t)
	for _, f := range s.files {
		if !isPure(f) {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s:%d: goroutine in a pure package: return an action and let the shell run it", f.Path, s.line(n.Pos()))
			case *ast.SelectStmt, *ast.SendStmt:
				t.Errorf("%s:%d: channel in a pure package: return an action", f.Path, s.line(n.Pos()))
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok && id.Name == "time" && slices.Contains(clock, n.Sel.Name) {
					t.Errorf("%s:%d: time.%s in a pure package: take now as an argument and return the next deadline", f.Path, s.line(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestPurePackagesExist fails when a list names a package that is gone: a rule about nothing protects nothing.
func TestPurePackagesExist(t *testing.T) {
	dirs := source(t).dirs()
	for _, dir := range append(slices.Clone(pure), adapters...) {
		if len(dirs[dir]) == 0 {
			t.Errorf("%s is listed as pure or adapter but has no Go file", dir)
		}
	}
	for dir := range exempt {
		if len(dirs[dir]) == 0 {
			t.Errorf("exempt names %s, which has no Go file", dir)
		}
	}
}
