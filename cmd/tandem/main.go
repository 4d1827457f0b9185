// Command tandem is the SIP session border controller, and the tool that operates it.
//
// The command parses arguments, calls internal/app or the admin API of a running node, and prints. It
// decides nothing about calls. Its exit codes are part of its contract and stand in exit.go.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // nights of fraud sections: all nodes must know the same zones
)

// version is the release, set by the linker.
var version = "devel"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal asks for a clean end. With the handler gone, the second one ends the process.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], console{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv})
	stop()
	os.Exit(code)
}
