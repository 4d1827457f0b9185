package vnet

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// streams opens a stream between two hosts whose zones are 50 ms apart.
func streams(t *testing.T, n *Network) (near, far net.Conn) {
	t.Helper()
	n.SetDelay("a", "b", 50*time.Millisecond)
	l, err := n.Host("10.0.0.2", "b").Listen(80)
	if err != nil {
		t.Fatal(err)
	}
	near, err = n.Host("10.0.0.1", "a").Dial(t.Context(), "10.0.0.2:80")
	if err != nil {
		t.Fatal(err)
	}
	far, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return near, far
}

func TestStreamDelayCutAndHeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		start := time.Now()
		near, far := streams(t, n)
		if d := time.Since(start); d != 100*time.Millisecond {
			t.Errorf("the connect took %v, want one round trip", d)
		}
		read := func(want string, after time.Duration) {
			t.Helper()
			start, b := time.Now(), make([]byte, 16)
			k, err := far.Read(b)
			if string(b[:k]) != want || err != nil || time.Since(start) != after {
				t.Errorf("read %q, %v after %v; want %q after %v", b[:k], err, time.Since(start), want, after)
			}
		}
		near.Write([]byte("one"))
		read("one", 50*time.Millisecond)
		n.Split("a", "b")
		near.Write([]byte("two"))
		time.AfterFunc(time.Minute, func() { n.Join("a", "b") })
		read("two", time.Minute)
		far.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := far.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a read behind its deadline: %v", err)
		}
		far.SetReadDeadline(time.Time{})
		near.Close()
		if _, err := far.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("after the close: %v, want EOF", err)
		}
	})
}

func TestConnectOverCutAndRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		h := n.Host("10.0.0.1", "a")
		if _, err := h.Dial(t.Context(), "10.0.0.2:80"); err == nil {
			t.Error("a connect to nobody succeeded")
		}
		if _, err := n.Host("10.0.0.2", "b").Listen(80); err != nil {
			t.Fatal(err)
		}
		n.Cut("b", "a")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if _, err := h.Dial(ctx, "10.0.0.2:80"); err == nil || time.Since(start) != 3*time.Second {
			t.Errorf("a connect over a cut ended after %v with %v", time.Since(start), err)
		}
	})
}

func TestCrashResets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		near, _ := streams(t, n)
		go func() {
			time.Sleep(time.Second)
			n.Crash(n.Host("10.0.0.2", "b"))
		}()
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, errReset) {
			t.Errorf("read: %v, want a reset", err)
		}
	})
}

func TestPackets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(7)
		n.SetDelay("a", "b", 20*time.Millisecond)
		a, _ := n.Host("10.0.0.1", "a").ListenPacket(0)
		b, _ := n.Host("10.0.0.2", "b").ListenPacket(5060)
		start := time.Now()
		a.WriteTo([]byte("hi"), b.LocalAddr())
		buf := make([]byte, 16)
		k, from, err := b.ReadFrom(buf)
		if string(buf[:k]) != "hi" || from.String() != a.LocalAddr().String() || err != nil || time.Since(start) != 20*time.Millisecond {
			t.Errorf("got %q from %v, %v after %v", buf[:k], from, err, time.Since(start))
		}
		n.SetLoss("a", "b", 0.5)
		for range 1000 {
			a.WriteTo([]byte("x"), b.LocalAddr())
		}
		time.Sleep(time.Second)
		b.SetReadDeadline(time.Now())
		got := len(b.queue)
		if got < 400 || got > 600 {
			t.Errorf("%d of 1000 packets came through a loss of one half", got)
		}
	})
}

// On a lossy link what a stream carries comes late and in order: the segment
// behind a lost one waits for it, and each repeat waits twice as long.
func TestStreamOnALossyLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(3)
		near, far := streams(t, n)
		n.SetLoss("a", "b", 0.2)
		const writes = 2000
		sent := make([]time.Time, writes)
		var writer sync.WaitGroup
		writer.Go(func() {
			for i := range writes {
				sent[i] = time.Now()
				near.Write([]byte{byte(i)})
				time.Sleep(250 * time.Millisecond)
			}
		})
		late := map[time.Duration]int{}
		for i := range writes {
			b := make([]byte, 1)
			if _, err := io.ReadFull(far, b); err != nil || b[0] != byte(i) {
				t.Fatalf("octet %d: %v, %v", i, b, err)
			}
			late[time.Since(sent[i])-50*time.Millisecond]++
		}
		// One timeout is the round trip and 200 ms; the next one is twice that.
		const rto = 300 * time.Millisecond
		if late[0] < writes/2 || late[rto] < writes/20 || late[3*rto] < writes/100 {
			t.Errorf("late by %v", late)
		}
		if waits := late[rto-250*time.Millisecond]; waits == 0 {
			t.Error("nothing waited behind a lost segment")
		}
		writer.Wait()
	})
}
