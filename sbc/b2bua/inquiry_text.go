package b2bua

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Draft is an INVITE that somebody describes.
type Draft struct {
	RequestURI string // sip:user@host; the user is the called number
	Caller     string // number of the From; empty: anonymous
	CallID     string // empty: one of the draft's own
	Branch     string // of its Via, behind the magic cookie; the same
	Host       string // of the caller
	Headers    []string
	Transport  trunkgroup.Transport
	Source     netip.AddrPort // where it comes from
	SDP        string         // the offer; empty: none
}

// Bounds of what a draft may say.
const (
	maxDraftHeaders = 32
	maxDraftLine    = 1024
)

// Message makes the INVITE, as the caller would send it. Errors say what is wrong
// with the draft.
func (d *Draft) Message() (*sip.Message, error) {
	for _, text := range append([]string{d.RequestURI, d.Caller, d.CallID, d.Branch, d.Host}, d.Headers...) {
		if len(text) > maxDraftLine || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, fmt.Errorf("%.64q is too long, or has control characters", text)
		}
	}
	if len(d.Headers) > maxDraftHeaders {
		return nil, fmt.Errorf("has more than %d headers", maxDraftHeaders)
	}
	uri, err := sip.ParseURI([]byte(d.RequestURI))
	if err != nil {
		return nil, fmt.Errorf("%.128q is no URI: %w", d.RequestURI, err)
	}
	lines, err := d.lines()
	if err != nil {
		return nil, err
	}
	host := cmp.Or(d.Host, d.SentBy())
	caller := d.Caller
	if caller == "" {
		caller = "anonymous"
	}
	text := "INVITE " + d.RequestURI + " SIP/2.0\r\nVia: SIP/2.0/" + viaName(d.Transport) + " " + d.SentBy() + ";branch=z9hG4bK" + cmp.Or(d.Branch, "inquiry") + "\r\n" +
		"Max-Forwards: 70\r\nFrom: <sip:" + caller + "@" + host + ">;tag=inquiry\r\nTo: <" + target(&uri) + ">\r\nCall-ID: " +
		cmp.Or(d.CallID, "inquiry@"+host) + "\r\nCSeq: 1 INVITE\r\nContact: <sip:" + d.SentBy() + ">\r\n" + lines
	if d.SDP != "" {
		text += "Content-Type: application/sdp\r\n"
	}
	text += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(d.SDP), d.SDP)
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		return nil, fmt.Errorf("no SIP message can say that: %w", fault)
	}
	return m, nil
}

// ownHeaders are those that a draft has by itself.
var ownHeaders = [...]string{
	"Via", "v", "Max-Forwards", "From", "f", "To", "t", "Call-ID", "i", "CSeq", "Contact", "m", "Content-Type", "c", "Content-Length", "l",
}

// lines returns the further headers.
func (d *Draft) lines() (string, error) {
	var b strings.Builder
	for _, h := range d.Headers {
		name, value, ok := strings.Cut(h, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || strings.ContainsAny(name, " \t<>@,;\\\"/[]?={}()") {
			return "", fmt.Errorf("%.64q is not NAME: VALUE", h)
		}
		for _, own := range ownHeaders {
			if strings.EqualFold(own, name) {
				return "", errors.New("the header " + own + " is made from the other words of the question")
			}
		}
		b.WriteString(name + ": " + value + "\r\n")
	}
	return b.String(), nil
}

// SentBy is the caller's address as its Via names it.
func (d *Draft) SentBy() string {
	if !d.Source.IsValid() {
		return "192.0.2.0:5060" // nobody's (RFC 5737)
	}
	return d.Source.String()
}

// target is the To of a call to a URI.
func target(u *sip.URI) string {
	if u.Scheme == "tel" {
		return "tel:" + string(u.User)
	}
	if len(u.User) == 0 {
		return u.Scheme + ":" + string(u.Host)
	}
	return u.Scheme + ":" + string(u.User) + "@" + string(u.Host)
}

// viaName is a transport as it stands in a Via.
func viaName(t trunkgroup.Transport) string { return strings.ToUpper(t.String()) }
