//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"

	"github.com/tandem-sbc/tandem/lab/dispatcher"
)

// where the Kamailio that is asked listens: a high port of loopback.
var kamailioAddr = netip.MustParseAddrPort("127.0.0.1:15070")

func main() {
	keys := flag.Int("keys", 100_000, "Call-IDs to place")
	members := flag.Int("members", 6, "members of the group")
	flag.Parse()
	if err := run(os.Stdout, os.Stderr, *keys, *members); err != nil {
		fmt.Fprintln(os.Stderr, "spread:", err)
		os.Exit(1)
	}
}

func run(out, notes io.Writer, count, members int) (err error) {
	if count < 1 || members < 3 {
		return errors.New("it takes at least one key and three members")
	}
	keys := callIDs(count)
	placers := []placer{newGroup("hash-call-id", members), newGroup("hash-mod", members)}
	dir, err := os.MkdirTemp("", "spread")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	k, err := startKamailio(dir, members, false)
	switch {
	case errors.Is(err, dispatcher.ErrMissing):
		fmt.Fprintln(notes, "note:", err, "- its rows are left out")
	case err != nil:
		return err
	default:
		defer func() { err = errors.Join(err, k.Stop()) }()
		placers = append([]placer{k}, placers...)
	}
	fmt.Fprintf(out, "%d Call-IDs over %d members, one of which is the victim.\n\n", count, members)
	fmt.Fprintln(out, "| what happens | by | keys moved | of these not of need | load of the others, against before |")
	fmt.Fprintln(out, "| --- | --- | --- | --- | --- |")
	for _, e := range events {
		for _, p := range placers {
			m, err := measure(p, e, keys, members)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name(), err)
			}
			fmt.Fprintf(out, "| %s | %s | %s |\n", e.name, p.name(), m)
		}
	}
	return nil
}
