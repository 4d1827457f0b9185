package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Exit codes. Scripts depend on them.
const (
	exitOK           = 0
	exitFailed       = 1 // the operation was tried and failed
	exitUsage        = 2 // the command line makes no sense
	exitNotFound     = 3 // the thing named does not exist
	exitConflict     = 4 // the configuration moved on since it was read
	exitUnavailable  = 5 // no node answers, or the cluster has no leader
	exitUnauthorized = 6 // the token is missing or wrong
)

// failure is an error with the exit code that it means and, where there is one, the next thing to do.
type failure struct {
	code int
	hint string
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// fail makes a failure from a message.
func fail(code int, hint, format string, args ...any) error {
	return &failure{code: code, hint: hint, err: fmt.Errorf(format, args...)}
}

// usage makes a failure of the command line.
func usage(hint, format string, args ...any) error {
	return fail(exitUsage, hint, format, args...)
}

// report prints an error, one line per fault, and returns the exit code. An error that no command
// made comes from parsing the command line, where help is what comes next.
func report(w io.Writer, err error, help string) int {
	if err == nil {
		return exitOK
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		f = &failure{code: exitUsage, hint: help, err: err}
	}
	for line := range strings.Lines(f.Error()) {
		fmt.Fprintf(w, "error: %s\n", strings.TrimRight(line, "\n"))
	}
	if f.hint != "" {
		fmt.Fprintf(w, "hint: %s\n", f.hint)
	}
	return f.code
}
