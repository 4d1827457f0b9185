package transport

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// sink is a Handler that counts.
type sink struct{ got chan int }

func (s *sink) Packets(b []Packet)           { s.got <- len(b) }
func (s *sink) Reject(Packet, *sip.Fault)    {}
func (s *sink) Failed(uint64, Target, error) {}
func (s *sink) Closed(Flow)                  {}

// BenchmarkLoopback measures one message sent, received and parsed, in batches: the kernel's loopback path is most of it.
func BenchmarkLoopback(b *testing.B) {
	for _, transport := range []trunkgroup.Transport{trunkgroup.UDP, trunkgroup.TCP} {
		for _, batch := range []int{1, 8, 32} {
			b.Run(fmt.Sprintf("%s/batch=%d", transport, batch), func(b *testing.B) {
				h := &sink{got: make(chan int, 1024)}
				s, err := Open(Config{Listeners: []ListenerConfig{on(transport, "127.0.0.1:0")}}, h)
				if err != nil {
					b.Fatal(err)
				}
				s.Start()
				defer s.Close()
				out, target, message, waiting := s.NewBatch(), Target{Transport: transport, Addr: s.Addr(0)}, request(1), 0
				b.ReportAllocs()
				for b.Loop() {
					out.Send(target, message, 0)
					if waiting++; waiting == batch {
						for out.Flush(); waiting > 0; {
							waiting -= <-h.got
						}
					}
				}
			})
		}
	}
}

// BenchmarkWebSocket measures one message received, and one sent, over one WebSocket; the client's side of it is in the figures.
func BenchmarkWebSocket(b *testing.B) {
	h := &sink{got: make(chan int, 1024)}
	s, err := Open(Config{Listeners: []ListenerConfig{wsListener(WebSocket{})}}, h)
	if err != nil {
		b.Fatal(err)
	}
	s.Start()
	defer s.Close()
	b.Run("in", func(b *testing.B) {
		c, whole := rawWS(b, s), frame(0x81, request(1))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Write(whole); err != nil {
				b.Fatal(err)
			}
			<-h.got
		}
	})
	b.Run("out", func(b *testing.B) {
		c, message := rawWS(b, s), request(1)
		_, _ = c.Write(frame(0x81, message))
		<-h.got
		var flow Flow
		s.streams.flows.Range(func(f, v any) bool {
			if v.(*conn).greeted {
				flow = f.(Flow)
			}
			return flow == 0
		})
		out, buf := s.NewBatch(), make([]byte, 4+len(message)) // a frame of 126 to 65,535 bytes has a header of four
		b.ReportAllocs()
		for b.Loop() {
			out.Send(Target{Transport: trunkgroup.WS, Flow: flow}, message, 0)
			if _, err := io.ReadFull(c, buf); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkWebSocketMemory reports what an open, idle WebSocket holds of the heap and of stacks, beside a TCP connection. The client's
// side, a bare socket in the same process, is in both.
func BenchmarkWebSocketMemory(b *testing.B) {
	const n = 500
	for _, l := range []ListenerConfig{on(trunkgroup.TCP, "127.0.0.1:0"), wsListener(WebSocket{})} {
		b.Run(l.Transport.String(), func(b *testing.B) {
			h := &sink{got: make(chan int, n)}
			s, err := Open(Config{Listeners: []ListenerConfig{l}}, h)
			if err != nil {
				b.Fatal(err)
			}
			s.Start()
			defer s.Close()
			for b.Loop() {
				before := memory()
				var conns [n]*net.TCPConn
				for i := range conns {
					if l.Transport == trunkgroup.TCP {
						conns[i] = dialRaw(b, s.Addr(0))
						_, _ = conns[i].Write(request(1))
					} else {
						conns[i] = rawWS(b, s)
						_, _ = conns[i].Write(frame(0x81, request(1)))
					}
					wait(b, "message", h.got)
				}
				b.ReportMetric(float64(int64(memory())-int64(before))/n, "B/conn")
				for _, c := range conns {
					_ = c.Close()
				}
				poll(b, "all closed", func() bool { return s.Counters().Open.Load() == 0 })
			}
		})
	}
}

// memory is what the process has in use.
func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
