package b2bua

// mayCancel reports whether a CANCEL comes from where its INVITE came from: the
// same address by the same transport, for a datagram's source is forged more
// easily than a connection's. The port may differ (DEC-03). On a connection the
// address is that of everybody behind one NAT: there the CANCEL comes by the
// connection of its INVITE, unless the address is what identified the caller.
func (in *incoming) mayCancel(p *Packet) bool {
	switch {
	case in.source.Addr() != p.Source.Addr(), in.reply.Node != p.Peer, in.reply.Transport != p.Transport:
		return false
	case in.reply.Flow == 0 || in.call.user == "":
		return true
	}
	return p.Flow == in.reply.Flow && p.Relay == in.reply.ViaNode
}
