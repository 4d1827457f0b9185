package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
)

const inviteText = "INVITE sip:+12145550100@192.0.2.1 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.9;branch=z9hG4bK%s;rport\r\n" +
	"Call-ID: %s\r\nCSeq: 1 INVITE\r\n\r\n"

func invite(branch, callID string) []byte { return fmt.Appendf(nil, inviteText, branch, callID) }

// capture writes a pcap stream of the packets.
func capture(packets ...[]byte) *bytes.Buffer {
	var b bytes.Buffer
	head := make([]byte, globalHeaderLen)
	binary.LittleEndian.PutUint32(head, magicMicro)
	binary.LittleEndian.PutUint32(head[20:], linkRaw)
	b.Write(head)
	for _, p := range packets {
		rec := make([]byte, recordHeaderLen)
		binary.LittleEndian.PutUint32(rec[8:], uint32(len(p)))
		b.Write(rec)
		b.Write(p)
	}
	return &b
}

func ipv4(proto byte, payload []byte) []byte {
	h := make([]byte, 20)
	h[0], h[9] = 0x45, proto
	binary.BigEndian.PutUint16(h[2:], uint16(20+len(payload)))
	copy(h[12:], []byte{192, 0, 2, 9, 192, 0, 2, 1})
	return append(h, payload...)
}

func ipv6(proto byte, payload []byte) []byte {
	h := make([]byte, 40)
	h[0], h[6], h[23], h[39] = 0x60, proto, 9, 1
	binary.BigEndian.PutUint16(h[4:], uint16(len(payload)))
	return append(h, payload...)
}

func udp(data []byte) []byte {
	h := []byte{19, 196, 19, 196, 0, 0, 0, 0}
	return append(h, data...)
}

func tcp(seq uint32, flags byte, data []byte) []byte {
	h := make([]byte, 20)
	h[1], h[3], h[12], h[13] = 7, 9, 5<<4, flags
	binary.BigEndian.PutUint32(h[4:], seq)
	return append(h, data...)
}

func TestInvitesCountsTransactionsAndNotPackets(t *testing.T) {
	a, b := invite("a", "1"), invite("b", "2")
	for _, tc := range []struct {
		name    string
		packets [][]byte
		want    int
	}{
		{"none", [][]byte{ipv4(protoUDP, udp([]byte("SIP/2.0 200 OK\r\n\r\n")))}, 0},
		{"repeated over UDP", [][]byte{ipv4(protoUDP, udp(a)), ipv4(protoUDP, udp(a))}, 1},
		{"two over IPv6", [][]byte{ipv6(protoUDP, udp(a)), ipv6(protoUDP, udp(b))}, 2},
		{"TCP, split and repeated", [][]byte{
			ipv4(protoTCP, tcp(99, 2, nil)), ipv4(protoTCP, tcp(100, 0, a[:20])), ipv4(protoTCP, tcp(100, 0, a[:20])),
			ipv4(protoTCP, tcp(110, 0, a[10:])),
		}, 1},
		{"TCP, out of order and wrapping", [][]byte{
			ipv4(protoTCP, tcp(0xfffffff0, 0, a[:16])), ipv4(protoTCP, tcp(20, 0, a[36:])), ipv4(protoTCP, tcp(0, 0, a[16:36])),
		}, 1},
		{"TCP, begun by an old repeat", [][]byte{
			ipv4(protoTCP, tcp(1, 0, []byte("old"))), ipv4(protoTCP, tcp(500, 0, a[:20])), ipv4(protoTCP, tcp(520, 0, a[20:])),
			ipv4(protoTCP, tcp(5000, 0, b)), ipv4(protoTCP, tcp(500, 0, a[:20])),
		}, 2},
		{"inside other framing", [][]byte{ipv4(protoTCP, tcp(1, 0, append([]byte{0, 16, 255}, append(a, b...)...)))}, 2},
		{"only looks like one", [][]byte{ipv4(protoUDP, udp([]byte("INVITE sip:a HTTP/1.1\r\nCall-ID: x\r\n\r\n")))}, 0},
		{"header block cut short", [][]byte{ipv4(protoUDP, udp(a[:len(a)-3]))}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Invites(capture(tc.packets...))
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != tc.want {
				t.Fatalf("%d transactions, want %d: %+v", len(got), tc.want, got)
			}
		})
	}
}

func TestInvitesReadsTheKeyFields(t *testing.T) {
	got, err := Invites(capture(ipv4(protoUDP, udp(invite("xyz", "call-7")))))
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	g := got[0]
	if g.Branch != "z9hG4bKxyz" || g.CallID != "call-7" || g.CSeq != "1 INVITE" || g.URI != "sip:+12145550100@192.0.2.1" {
		t.Fatalf("got %+v", g)
	}
	if g.From.String() != "192.0.2.9:5060" || g.To.String() != "192.0.2.1:5060" {
		t.Fatalf("got %v to %v", g.From, g.To)
	}
}

func TestInvitesRefusesOtherFormats(t *testing.T) {
	if _, err := Invites(bytes.NewReader(make([]byte, 64))); !errors.Is(err, ErrFormat) {
		t.Fatalf("got %v, want ErrFormat", err)
	}
}

func FuzzInvites(f *testing.F) {
	f.Add(capture(ipv4(protoUDP, udp(invite("a", "1"))), ipv6(protoTCP, tcp(1, 2, invite("b", "2")))).Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := Invites(bytes.NewReader(b))
		if err != nil && list != nil {
			t.Fatal("an error and a list")
		}
	})
}
