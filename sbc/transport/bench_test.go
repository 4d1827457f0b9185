package transport

import (
	"fmt"
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
