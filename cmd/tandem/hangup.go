package main

import (
	"os"
	"os/signal"
	"syscall"
)

// onHangup calls f at each SIGHUP until stop is called. A node must not end by it: the signal says that files of keys and
// certificates have changed.
func onHangup(f func()) (stop func()) {
	signals, end := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-signals:
				f()
			case <-end:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(end)
	}
}
