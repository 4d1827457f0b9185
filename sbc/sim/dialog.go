package sim

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// dialog is what a user agent remembers of a dialog (RFC 3261 12). The byte
// slices point into the messages that set it up.
type dialog struct {
	callID  []byte
	local   []byte // value of From in our requests, tag included
	remote  []byte // value of To in our requests, tag included
	target  []byte // remote target: the Contact URI of the other side
	routes  [][]byte
	contact string // our own Contact URI
	cseq    uint32 // the last number that we used
	hop     transport.Target
}

// learnRoutes sets the route set and the next hop. The values of Record-Route are
// taken in order by the callee and in reverse by the caller (RFC 3261 12.1.1,
// 12.1.2); with no route the request goes to the remote target.
func (d *dialog) learnRoutes(m *sip.Message, reverse bool, fallback transport.Target) {
	d.routes = d.routes[:0]
	m.EachOf(sip.RecordRoute, func(value []byte) bool {
		d.routes = append(d.routes, value)
		return true
	})
	if reverse {
		slices.Reverse(d.routes)
	}
	d.setHop(fallback)
}

// setHop finds the next hop: the first route, else the remote target.
func (d *dialog) setHop(fallback transport.Target) {
	uri := d.target
	if len(d.routes) > 0 {
		if na, err := sip.ParseNameAddr(d.routes[0]); err == nil {
			uri = na.URI
		}
	}
	d.hop = hop(uri, fallback)
}

// request is one request of ours in a dialog.
type request struct {
	method  string
	branch  []byte
	cseq    uint32
	sentBy  string // "host:port" of our socket
	contact bool
	extra   []byte // complete header lines
	sdp     []byte
}

// appendRequest writes the request as RFC 3261 12.2.1.1 builds it; all routers
// are taken to be loose.
func (d *dialog) appendRequest(dst []byte, r *request) []byte {
	dst = append(dst, r.method...)
	dst = append(dst, ' ')
	dst = append(dst, d.target...)
	dst = append(dst, " SIP/2.0\r\nVia: SIP/2.0/"...)
	dst = append(dst, viaName(d.hop.Transport)...)
	dst = append(dst, ' ')
	dst = append(dst, r.sentBy...)
	dst = append(dst, ";rport;branch="...)
	dst = append(dst, r.branch...)
	dst = append(dst, "\r\nMax-Forwards: 70\r\n"...)
	for _, route := range d.routes {
		dst = appendLine(dst, "Route", route)
	}
	dst = appendLine(dst, "From", d.local)
	dst = appendLine(dst, "To", d.remote)
	dst = appendLine(dst, "Call-ID", d.callID)
	dst = append(dst, "CSeq: "...)
	dst = strconv.AppendUint(dst, uint64(r.cseq), 10)
	dst = append(dst, ' ')
	dst = append(dst, r.method...)
	dst = append(dst, "\r\n"...)
	if r.contact {
		dst = append(dst, "Contact: <"...)
		dst = append(dst, d.contact...)
		dst = append(dst, ">\r\nAllow: "+allow+"\r\n"...)
	}
	dst = append(dst, r.extra...)
	return appendBody(dst, r.sdp)
}

// contactOf returns the URI of the Contact header, nil without one.
func contactOf(m *sip.Message) []byte {
	v := m.Header(sip.Contact)
	if v == nil {
		return nil
	}
	na, err := sip.ParseNameAddr(v)
	if err != nil {
		return nil
	}
	return na.URI
}

// withoutTag cuts the parameters off a To or From value, keeping the address.
func withoutTag(v []byte) []byte {
	if i := bytes.LastIndexByte(v, '>'); i >= 0 {
		return v[:i+1]
	}
	if i := bytes.IndexByte(v, ';'); i >= 0 {
		return v[:i]
	}
	return v
}
