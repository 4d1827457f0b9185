// Command vulnreport reads what `govulncheck -format json` prints and says what it means for this
// repository.
//
// A vulnerability in a library that our code calls is a failure: go.mod is ours to mend. One in the standard
// library is only told, with the version of Go that mends it: the toolchain belongs to the machine
// that builds.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// message is one object of govulncheck's stream; see golang.org/x/vuln/internal/govulncheck.
type message struct {
	OSV *struct {
		ID      string `json:"id"`
		Summary string `json:"summary"`
	} `json:"osv"`
	Finding *struct {
		OSV          string `json:"osv"`
		FixedVersion string `json:"fixed_version"`
		Trace        []struct {
			Module   string `json:"module"`
			Version  string `json:"version"`
			Function string `json:"function"`
		} `json:"trace"`
	} `json:"finding"`
}

func main() {
	failed, err := report(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "vulnreport:", err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

// report prints one line for each vulnerability that is called. Failed says that one of them is in a
// library.
func report(r io.Reader, w io.Writer) (failed bool, err error) {
	summary := map[string]string{}
	lines := map[string]string{}
	for d := json.NewDecoder(r); ; {
		var m message
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return false, fmt.Errorf("read govulncheck's output: %w", err)
		}
		if m.OSV != nil {
			summary[m.OSV.ID] = m.OSV.Summary
		}
		// Only a finding whose trace ends in a function is called; the others are merely imported.
		if f := m.Finding; f != nil && len(f.Trace) > 0 && f.Trace[0].Function != "" {
			at, mends := f.Trace[0], f.FixedVersion
			if mends == "" {
				mends = "nothing yet"
			}
			kind := "vulnerable"
			if at.Module == "stdlib" {
				kind = "toolchain"
			} else {
				failed = true
			}
			lines[f.OSV] = fmt.Sprintf("%-10s  %s  %s %s, mended by %s: ", kind, f.OSV, at.Module, at.Version, mends)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintln(w, lines[id]+summary[id])
	}
	if len(lines) == 0 {
		fmt.Fprintln(w, "no known vulnerability is called")
	}
	return failed, nil
}
