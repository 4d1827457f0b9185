package diameter

import "net/netip"

// Identity is how this node names itself towards Diameter peers.
type Identity struct {
	Host, Realm string
	// State grows when the node has lost what it knew of sessions (RFC 6733 8.16).
	State uint32
}

func (w *Writer) origin(id *Identity) {
	w.Text(avpOriginHost, id.Host)
	w.Text(avpOriginRealm, id.Realm)
}

// AppendCapabilities appends the CER by which a connection begins: what we are, and the two
// applications that we speak (RFC 6733 5.3.1).
func AppendCapabilities(b []byte, id *Identity, local netip.Addr, hop, end uint32) []byte {
	w := Begin(b, Header{Flags: FlagRequest, Command: CapabilitiesExchange, HopByHop: hop, EndToEnd: end})
	w.origin(id)
	w.Address(avpHostIPAddress, local)
	w.Number(avpVendorID, 0)
	w.Text(avpProductName, "Tandem")
	w.Number(avpOriginStateID, id.State)
	w.Number(avpSupportedVendorID, vendor3GPP)
	w.Number(avpAuthApplicationID, AppCredit)
	w.Number(avpAcctApplicationID, AppAccounting)
	return w.End()
}

// AppendWatchdog appends a DWR (RFC 6733 5.5.1).
func AppendWatchdog(b []byte, id *Identity, hop, end uint32) []byte {
	w := Begin(b, Header{Flags: FlagRequest, Command: DeviceWatchdog, HopByHop: hop, EndToEnd: end})
	w.origin(id)
	w.Number(avpOriginStateID, id.State)
	return w.End()
}

// AppendDisconnect appends a DPR: the node stops (RFC 6733 5.4.1).
func AppendDisconnect(b []byte, id *Identity, hop, end uint32) []byte {
	const rebooting = 0
	w := Begin(b, Header{Flags: FlagRequest, Command: DisconnectPeer, HopByHop: hop, EndToEnd: end})
	w.origin(id)
	w.Number(avpDisconnectCause, rebooting)
	return w.End()
}

// AppendReply appends the answer to a peer's request that asks for no more than a result: DWA,
// DPA, RAA, ASA, and the error for what we do not know.
func AppendReply(b []byte, id *Identity, to *Message, result uint32) []byte {
	h := to.Header
	h.Flags = to.Flags & FlagProxiable
	if result/1000 == 3 {
		h.Flags |= FlagError
	}
	w := Begin(b, h)
	w.Text(avpSessionID, to.Session())
	w.Number(avpResultCode, result)
	w.origin(id)
	if to.Command == DeviceWatchdog {
		w.Number(avpOriginStateID, id.State)
	}
	return w.End()
}

// ResultUnsupported is the answer to a command that we do not know.
const ResultUnsupported = 3001

// Speaks reports whether a peer's CEA or CER names an application that we need, or all of them.
func Speaks(m *Message) (credit, accounting bool) {
	const relay = 0xffffffff
	each(m.AVPs, func(a AVP) {
		switch {
		case a.is(avpAuthApplicationID):
			credit = credit || a.number() == AppCredit || a.number() == relay
		case a.is(avpAcctApplicationID):
			accounting = accounting || a.number() == AppAccounting || a.number() == relay
		case a.Code == 260 && a.Vendor == 0: // Vendor-Specific-Application-Id
			each(a.Data, func(b AVP) {
				credit = credit || b.is(avpAuthApplicationID) && b.number() == AppCredit
				accounting = accounting || b.is(avpAcctApplicationID) && b.number() == AppAccounting
			})
		}
	})
	return credit, accounting
}
