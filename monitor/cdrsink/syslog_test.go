package cdrsink

import (
	"bufio"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shape is a message of RFC 5424 as ours are.
var shape = regexp.MustCompile(`^<134>1 (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|-) dal-1 tandem - cdr - (\{.*\})$`)

func payload(t *testing.T, message string) string {
	t.Helper()
	m := shape.FindStringSubmatch(message)
	if m == nil {
		t.Fatalf("%q is no message", message)
	}
	return m[2] + "\n"
}

func syslogConfig(transport, address string) Config {
	cfg := sinkConfig("log", Syslog)
	cfg.Transport, cfg.Address = transport, address
	return cfg
}

func TestSyslogDatagrams(t *testing.T) {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer pc.Close()
	cfg := syslogConfig("udp", pc.LocalAddr().String())
	target := newSyslogTarget(&cfg, "dal-1")
	defer target.close()
	b := lines(t, 0, 3)
	b.text = append(append(b.text, `{"call_id":"`...), strings.Repeat("x", 70_000)+"\"}\n"...)
	b.ends, b.at, b.count = append(b.ends, len(b.text)), append(b.at, time.Time{}), 4
	if err := target.send(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 1<<16)
	var got []byte
	for n := range 4 {
		if err := pc.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		size, _, err := pc.ReadFrom(buffer)
		if err != nil {
			t.Fatal(err)
		}
		if n == 3 {
			if size != maxDatagram {
				t.Errorf("%d octets of one that is too long", size)
			}
			continue
		}
		got = append(got, payload(t, string(buffer[:size]))...)
	}
	if got := ids(t, got); !slices.Equal(got, calls(0, 3)) {
		t.Errorf("%v", got)
	}
}

// message reads one message with its length in front.
func message(r *bufio.Reader) (string, error) {
	length, err := r.ReadString(' ')
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(strings.TrimSpace(length))
	if err != nil {
		return "", err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return string(b), err
}

// A receiver that is started anew gets the batch before the break once more: it may have
// been under way.
func TestSyslogStreamThatBreaks(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	cfg := syslogConfig("tcp", ln.Addr().String())
	target := newSyslogTarget(&cfg, "dal-1")
	defer target.close()
	read := func(conn net.Conn, want int) []string {
		t.Helper()
		r := bufio.NewReader(conn)
		var got []byte
		for range want {
			m, err := message(r)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, payload(t, m)...)
		}
		return ids(t, got)
	}
	if err := target.send(t.Context(), lines(t, 0, 2)); err != nil {
		t.Fatal(err)
	}
	first, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := target.send(t.Context(), lines(t, 2, 4)); err != nil {
		t.Fatal(err)
	}
	if got := read(first, 4); !slices.Equal(got, calls(0, 4)) {
		t.Errorf("%v", got)
	}
	_ = first.Close()
	until(t, "the target sees that the connection is gone", target.gone)
	if err := target.send(t.Context(), lines(t, 4, 6)); err != nil {
		t.Fatal(err)
	}
	second, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if got := read(second, 4); !slices.Equal(got, calls(2, 6)) {
		t.Errorf("%v", got)
	}
}

func TestSyslogNobodyThere(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	_ = ln.Close()
	for _, transport := range []string{"tcp", "tls"} {
		cfg := syslogConfig(transport, address)
		target := newSyslogTarget(&cfg, "dal-1")
		if err := target.send(t.Context(), lines(t, 0, 1)); err == nil || target.conn != nil {
			t.Errorf("%s: %v", transport, err)
		}
		target.close()
	}
}
