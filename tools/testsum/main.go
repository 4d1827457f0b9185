// Command testsum runs `go test -json` with the arguments that it is given and prints what a person
// wants of it: one line per package, the whole output of what failed, and one closing line with
// the counts. Its exit code is that of go test. When TESTSUM_LOG names a file, the three counts are
// added to it as one line, so that a run of several stages can tell its total.
//
//	testsum -race ./...
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// event is one line of `go test -json`; see `go doc test2json`.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

// summary collects the events of one run.
type summary struct {
	out                     io.Writer
	passed, failed, skipped int
	output                  map[string][]string // by package and test: lines not yet known to be worth showing
	broken                  []string            // names of what failed, in order
	slowest                 []event             // tests that passed, the slowest first
}

// The tests that are named in the end: so many at most, of those that took so many seconds.
const (
	longest = 15
	slow    = 5
)

func main() {
	cmd := exec.Command("go", append([]string{"test", "-json"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	s := &summary{out: os.Stdout, output: map[string][]string{}}
	s.read(pipe)
	err = cmd.Wait()
	s.close()
	if logErr := s.log(os.Getenv("TESTSUM_LOG")); logErr != nil {
		fmt.Fprintln(os.Stderr, "testsum:", logErr)
		os.Exit(1)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	case s.failed > 0:
		os.Exit(1)
	}
}

// read takes events until the end of r. A line that is none is shown as it is.
func (s *summary) read(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
				fmt.Fprint(s.out, line)
			} else {
				s.take(e)
			}
		}
		if err != nil {
			return
		}
	}
}

// take accounts for one event. The output of a test is held back until its result is known.
func (s *summary) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		s.output[key] = append(s.output[key], e.Output)
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "pass", "skip":
		delete(s.output, key)
		switch {
		case e.Test == "":
			s.packageLine(e)
		case e.Action == "pass":
			s.passed++
			s.timed(e)
		default:
			s.skipped++
		}
	case "fail":
		lines := strings.Join(s.output[key], "")
		delete(s.output, key)
		if e.Test == "" {
			fmt.Fprintf(s.out, "%sFAIL  %s\n", lines, e.Package)
			s.broken = append(s.broken, e.Package)
			return
		}
		s.failed++
		s.broken = append(s.broken, key)
		fmt.Fprint(s.out, lines)
	}
}

func (s *summary) packageLine(e event) {
	if e.Action == "pass" {
		fmt.Fprintf(s.out, "ok    %-60s %6.1fs\n", e.Package, e.Elapsed)
	}
}

// timed keeps the slowest tests, which is what a budget of minutes is spent on. Their parts count within them.
func (s *summary) timed(e event) {
	if e.Elapsed < slow || strings.Contains(e.Test, "/") {
		return
	}
	s.slowest = append(s.slowest, e)
	slices.SortStableFunc(s.slowest, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	s.slowest = s.slowest[:min(len(s.slowest), longest)]
}

// close prints the slowest tests, the names of what failed and the closing line. A package that failed without a
// failing test (it did not build, or it ended in a panic) counts as one failure.
func (s *summary) close() {
	for _, e := range s.slowest {
		fmt.Fprintf(s.out, "slow  %-60s %6.1fs\n", e.Package[strings.LastIndex(e.Package, "/")+1:]+" "+e.Test, e.Elapsed)
	}
	for _, name := range s.broken {
		fmt.Fprintln(s.out, "failed:", name)
	}
	if s.failed == 0 && len(s.broken) > 0 {
		s.failed = len(s.broken)
	}
	fmt.Fprintf(s.out, "%d tests passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
}

// log adds the counts to the file at path; an empty path means that nobody asked.
func (s *summary) log(path string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("counts: %w", err)
	}
	_, err = fmt.Fprintln(f, s.passed, s.failed, s.skipped)
	return errors.Join(err, f.Close())
}
