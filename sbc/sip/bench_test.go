package sip

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
)

// BenchmarkParse measures an INVITE of about 480 bytes in a buffer that is not copied.
func BenchmarkParse(b *testing.B) {
	raw := []byte(invite)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, fault := Parse(raw); fault != nil {
			b.Fatal(fault)
		}
	}
}

// BenchmarkParseHostile measures what a faulty datagram costs: long URI parameters, the longest header block, many Via values.
func BenchmarkParseHostile(b *testing.B) {
	for name, raw := range map[string][]byte{
		"params": []byte(strings.Replace(invite, ";user=phone", strings.Repeat(";p", 7000), 1)),
		"vias":   []byte(strings.Replace(invite, ";rport", strings.Repeat(",SIP/2.0/UDP h;branch=z9hG4bKa", 450), 1)),
		"size":   []byte(strings.Replace(invite, "Max", "X-Pad: "+strings.Repeat("x", 60000)+"\r\nMax", 1)),
		"folds":  []byte(strings.Replace(invite, "Max", "X-Pad: "+strings.Repeat("\r\n x", 4000)+"\r\nMax", 1)),
		"quotes": []byte(strings.Replace(invite, "Alice", strings.Repeat("\\\"", 7000), 1)),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			buf := make([]byte, len(raw))
			for b.Loop() {
				copy(buf, raw)
				_, _ = Parse(buf)
			}
		})
	}
}

func BenchmarkAppendResponse(b *testing.B) {
	m, fault := Parse([]byte(invite))
	if fault != nil {
		b.Fatal(fault)
	}
	dst := make([]byte, 0, 2048)
	tag, src := []byte("a6c85cf"), netip.MustParseAddrPort("192.0.2.10:5060")
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendResponse(dst[:0], m, 180, "", tag, src, nil, nil, nil)
	}
}

func BenchmarkFramer(b *testing.B) {
	var f Framer
	stream := bytes.Repeat([]byte(invite), 4)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		f.Write(stream)
		for {
			if msg, _ := f.Next(); msg == nil {
				break
			}
		}
	}
}
