package sbc

import (
	"bytes"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// FuzzNewInvite holds the glance at a datagram against the parser: what is dropped
// unread is never a request inside a dialog, of another method, or a response.
func FuzzNewInvite(f *testing.F) {
	for _, s := range []string{
		"INVITE sip:1@h SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKx\r\nMax-Forwards: 70\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>\r\nCall-ID: x\r\nCSeq: 1 INVITE\r\nContact: <sip:a@b>\r\nContent-Length: 0\r\n\r\n",
		"INVITE sip:1@h SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKx\r\nFrom: <sip:a@b>;tag=1\r\nt: <sip:c@d>\r\n ;tag=2\r\nCall-ID: x\r\nCSeq: 1 INVITE\r\n\r\n",
		"INVITE sip:911@h SIP/2.0\r\nTo : <sip:c@d>;TAG=x\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKx\r\nFrom: <sip:a@b>;tag=1\r\nCall-ID: x\r\nCSeq: 1 INVITE\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !newInvite(raw) {
			return
		}
		m, fault := sip.Parse(bytes.Clone(raw))
		if fault != nil {
			return // it would have been refused
		}
		if !m.IsRequest() || m.Method() != sip.INVITE || len(m.ToTag()) > 0 {
			t.Errorf("dropped unread: %q", raw)
		}
	})
}
