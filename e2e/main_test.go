//go:build e2e

package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/tandem-sbc/tandem/lab"
)

// run is what the tests of one run share.
var run struct {
	dir string // artefacts of this run
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	if what := os.Getenv(sinkVariable); what != "" {
		return serveSink(what)
	}
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "e2e: network namespaces need root")
		return 1
	}
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	code := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: clean up:", err)
		code = max(code, 1)
	}
	if code == 0 && os.Getenv("E2E_KEEP") == "" {
		code = removeArtefacts()
	} else {
		fmt.Fprintln(os.Stderr, "e2e: artefacts are in", run.dir)
	}
	return code
}

// prepare clears what dead runs left and makes the directory for artefacts.
func prepare() error {
	if err := lab.Sweep(); err != nil {
		return err
	}
	if err := os.MkdirAll("artifacts", 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("artifacts", "run-")
	if err != nil {
		return err
	}
	run.dir, err = filepath.Abs(dir)
	return err
}

// tandemBinary builds the program under test at its first use and returns its path;
// E2E_RACE=1 builds it with the race detector, and E2E_TANDEM names a program
// that is tested instead.
var tandemBinary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("E2E_TANDEM"); path != "" {
		return filepath.Abs(path)
	}
	path := filepath.Join(run.dir, "tandem")
	args := []string{"build", "-o", path}
	if os.Getenv("E2E_RACE") != "" {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, "../cmd/tandem")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build tandem: %w\n%s", err, out)
	}
	return path, nil
})

func removeArtefacts() int {
	if err := os.RemoveAll(run.dir); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: remove artefacts:", err)
		return 1
	}
	return 0
}

// closers are what shared parts of a run need undone, in reverse order.
type closers struct{ list []func() error }

var shared closers

func (c *closers) add(f func() error) { c.list = append(c.list, f) }

func (c *closers) close() error {
	var err error
	for _, f := range slices.Backward(c.list) {
		err = errors.Join(err, f())
	}
	return err
}
