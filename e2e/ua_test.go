//go:build e2e

package e2e

import (
	"crypto/md5"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
)

// ua is a caller by hand over UDP: it sends exactly what a test writes, to
// whatever node, and repeats nothing.
type ua struct {
	t     testing.TB
	conn  *net.UDPConn
	local netip.AddrPort
	begin int // number of identities made
	got   []peer.Message
}

// newUA opens the caller's socket.
func newUA(t testing.TB, p lab.Place, host int) *ua {
	t.Helper()
	c := listen(t, theLab(t), p, netip.AddrPortFrom(lab.Host4(p, host), 0))
	return &ua{t: t, conn: c, local: c.LocalAddr().(*net.UDPAddr).AddrPort()}
}

// dialog is what identifies a call that the ua makes.
type dialog struct {
	ua                      *ua
	number, callID, fromTag string
}

// dial begins a call of its own; nothing is sent yet.
func (u *ua) dial(number string) *dialog {
	u.begin++
	id := fmt.Sprintf("%d-%d", time.Now().UnixNano(), u.begin)
	return &dialog{ua: u, number: number, callID: id + "@ua.test", fromTag: "f" + id}
}

// request writes a request of the call. toTag and extra may be empty; extra are
// complete header lines.
func (d *dialog) request(method string, node netip.AddrPort, branch string, cseq int, toTag, extra string) string {
	if toTag != "" {
		toTag = ";tag=" + toTag
	}
	body := ""
	if method == "INVITE" {
		body = "v=0\r\no=- 1 1 IN IP4 " + d.ua.local.Addr().String() + "\r\ns=-\r\nc=IN IP4 " + d.ua.local.Addr().String() +
			"\r\nt=0 0\r\nm=audio 7000 RTP/AVP 0\r\n"
		extra += "Content-Type: application/sdp\r\n"
	}
	return fmt.Sprintf("%s sip:%s@%s SIP/2.0\r\nVia: SIP/2.0/UDP %s;branch=z9hG4bK%s;rport\r\nMax-Forwards: 70\r\n"+
		"From: <sip:+12145559999@ua.test>;tag=%s\r\nTo: <sip:%s@sbc.test>%s\r\nCall-ID: %s\r\nCSeq: %d %s\r\n"+
		"Contact: <sip:ua@%s>\r\n%sContent-Length: %d\r\n\r\n%s",
		method, d.number, node, d.ua.local, branch+d.fromTag, d.fromTag, d.number, toTag, d.callID, cseq, method,
		d.ua.local, extra, len(body), body)
}

// send puts a text on the wire to a node.
func (u *ua) send(node netip.AddrPort, text string) {
	u.t.Helper()
	if _, err := u.conn.WriteToUDPAddrPort([]byte(text), node); err != nil {
		u.t.Fatal(err)
	}
}

// next returns the next message that comes within d; not ok when none does.
func (u *ua) next(d time.Duration) (peer.Message, bool) {
	u.t.Helper()
	if err := u.conn.SetReadDeadline(time.Now().Add(d)); err != nil {
		u.t.Fatal(err)
	}
	buf := make([]byte, 65535)
	n, _, err := u.conn.ReadFromUDPAddrPort(buf)
	if err != nil {
		return peer.Message{}, false
	}
	m := peer.Message{At: time.Now(), Text: strings.ReplaceAll(string(buf[:n]), "\r\n", "\n")}
	u.got = append(u.got, m)
	return m, true
}

// await returns the first response of the call to a method with one of the
// codes, skipping others, and fails the test when none comes.
func (d *dialog) await(method, branch string, codes ...int) peer.Message {
	d.ua.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	var seen []string
	for time.Now().Before(deadline) {
		m, ok := d.ua.next(time.Until(deadline))
		if !ok {
			break
		}
		if !d.answers(m, method, branch) {
			continue
		}
		for _, c := range codes {
			if m.Code() == c {
				return m
			}
		}
		seen = append(seen, fmt.Sprint(m.Code()))
		if m.Code() >= 300 {
			break
		}
	}
	d.ua.t.Fatalf("no response %v to %s with branch %s; got %v", codes, method, branch, seen)
	return peer.Message{}
}

// pass lets time pass, as a client does before it repeats a request or as the
// way to another site takes; what comes meanwhile is dropped.
func (u *ua) pass(d time.Duration) {
	for end := time.Now().Add(d); ; {
		if _, ok := u.next(time.Until(end)); !ok {
			return
		}
	}
}

// silence fails the test when a response to the branch comes within d.
func (d *dialog) silence(method, branch string, wait time.Duration) {
	d.ua.t.Helper()
	for end := time.Now().Add(wait); ; {
		m, ok := d.ua.next(time.Until(end))
		if !ok {
			return
		}
		if d.answers(m, method, branch) {
			d.ua.t.Errorf("a response came to %s with branch %s: %s", method, branch, m.Text)
		}
	}
}

func (d *dialog) answers(m peer.Message, method, branch string) bool {
	return m.Header("Call-ID") == d.callID && strings.HasSuffix(m.Header("CSeq"), " "+method) &&
		strings.Contains(m.Header("Via"), "branch=z9hG4bK"+branch+d.fromTag)
}

// ack acknowledges a final response: a failure inside the transaction of branch,
// a 2xx with a branch of its own to the Contact.
func (d *dialog) ack(node netip.AddrPort, branch string, cseq int, final peer.Message) {
	d.ua.t.Helper()
	if final.Code() < 300 {
		branch += "ack"
	}
	d.ua.send(node, d.request("ACK", node, branch, cseq, peer.Tag(final.Header("To")), ""))
}

// hangUp ends an answered call and waits for the answer to its BYE.
func (d *dialog) hangUp(node netip.AddrPort, cseq int, answer peer.Message) {
	d.ua.t.Helper()
	d.ua.send(node, d.request("BYE", node, "bye", cseq, peer.Tag(answer.Header("To")), ""))
	d.await("BYE", "bye", 200)
}

// authorization answers a digest challenge by MD5 (RFC 7616).
func (d *dialog) authorization(challenge, method, uri, username, password string) string {
	param := func(name string) string {
		_, rest, _ := strings.Cut(challenge, name+"=")
		rest = strings.TrimPrefix(rest, "\"")
		end := strings.IndexAny(rest, "\",")
		if end < 0 {
			return rest
		}
		return rest[:end]
	}
	hash := func(s string) string { return fmt.Sprintf("%x", md5.Sum([]byte(s))) }
	ha1 := hash(username + ":" + param("realm") + ":" + password)
	response := hash(ha1 + ":" + param("nonce") + ":00000001:c0ffee:auth:" + hash(method+":"+uri))
	return fmt.Sprintf("Authorization: Digest username=%q, realm=%q, nonce=%q, uri=%q, response=%q, algorithm=MD5, "+
		"cnonce=\"c0ffee\", qop=auth, nc=00000001\r\n", username, param("realm"), param("nonce"), uri, response)
}
