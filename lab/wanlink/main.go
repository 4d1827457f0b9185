//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tandem-sbc/tandem/lab/netns"
	"github.com/tandem-sbc/tandem/lab/wan"
)

func main() {
	delay := flag.Duration("delay", 15*time.Millisecond, "one way, in both directions")
	jitter := flag.Duration("jitter", 0, "what is added to it at most")
	loss := flag.Float64("loss", 0, "share of packets, 0 to 1, that get lost")
	flag.Parse()
	_, err := open(wan.Shape{Delay: *delay, Jitter: *jitter, Loss: *loss}, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "wanlink:", err)
		os.Exit(1)
	}
	ready(os.Stdout)
	// The link lives as long as the process, whose end takes its devices away.
	select {}
}

// ready says that the interfaces are there.
func ready(w io.Writer) { fmt.Fprintln(w, "ready") }

// open makes the link between the ends that args name: namespace, interface
// and address of each.
func open(s wan.Shape, args []string) (*wan.Link, error) {
	if len(args) != 6 {
		return nil, fmt.Errorf("%d arguments: give namespace, interface and address of both ends", len(args))
	}
	if s.Delay < 0 || s.Jitter < 0 || s.Loss < 0 || s.Loss > 1 {
		return nil, errors.New("delay and jitter are not negative, and loss is a share from 0 to 1")
	}
	end := func(a []string) netns.End {
		return netns.End{Namespace: &netns.Namespace{Name: a[0]}, Interface: a[1], Addresses: a[2:3]}
	}
	return wan.Open(end(args[:3]), end(args[3:]), s, 1)
}
