package interconnect

import (
	"crypto/tls"
	"net"
	"slices"

	"github.com/tandem-sbc/tandem/cluster/pki"
)

// OnJoin registers the taker of streams of those who hold a join token and no certificate yet. They are
// encrypted and this node has proven itself on them; who is at the other end is not known. They are offered
// only while open says so. The taker is given the source address, is bound by the stream's deadline, and must not keep the
// stream; its error is counted and logged as that of a stream that was refused. Call it before Start.
func (i *Interconnect) OnJoin(open func() bool, take func(conn net.Conn, from string) error) {
	i.joinOpen, i.onJoin = open, take
}

// offerJoin lets a TLS client that asks for the join protocol in without a certificate.
func (i *Interconnect) offerJoin(cfg *tls.Config, id *pki.Identity) {
	cfg.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		if !slices.Equal(h.SupportedProtos, []string{pki.ProtocolJoin}) {
			return nil, nil
		}
		return id.JoinServer(), nil
	}
}
