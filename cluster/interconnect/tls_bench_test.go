package interconnect

import "testing"

// BenchmarkSendTLS is BenchmarkSend inside TLS: what encryption costs the writer of frames.
func BenchmarkSendTLS(b *testing.B) {
	a := newCA(b, "test")
	cfg, other := safe(b, a.node("dal-1"), 1), safe(b, a.node("ash-1"), 1)
	i, o := build(b, cfg), build(b, other)
	o.OnFrame(20, 20, func(string, byte, []byte) {})
	i.SetPeers([]Endpoint{endpoint(other)})
	o.Start()
	i.Start()
	eventually(b, "the peer is up", isUp(i, "ash-1"))
	payload := make([]byte, 700)
	b.ReportAllocs()
	for b.Loop() {
		i.Send("ash-1", 20, payload)
	}
	b.ReportMetric(float64(i.Stats().DroppedFull), "dropped")
}
