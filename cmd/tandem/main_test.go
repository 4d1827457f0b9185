package main

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tandem": func() {
		os.Exit(run(context.Background(), os.Args[1:], console{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv}))
	}})
}

// TestScripts runs the command lines of testdata/script and compares what they print and return.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}
