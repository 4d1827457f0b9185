package transport

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// One SIP message per WebSocket message, text or binary, with or without Content-Length, in both directions over one flow (RFC 7118
// sections 4.2 and 5.1).
func TestWebSocketRoundTrip(t *testing.T) {
	cert, pool := certificate(t, "sbc.example.com")
	for name, l := range map[string]ListenerConfig{"ws": wsListener(WebSocket{}), "wss": wsListener(WebSocket{}, cert)} {
		t.Run(name, func(t *testing.T) {
			server, got := open(t, Config{Listeners: []ListenerConfig{l}})
			c, response, err := wsClient{scheme: name, roots: pool}.dial(t, server.Addr(0))
			if err != nil {
				t.Fatal(err)
			}
			if p := response.Header.Get("Sec-WebSocket-Protocol"); p != "sip" {
				t.Errorf("subprotocol %q", p)
			}
			var flow Flow
			for i := range 40 {
				kind, message := websocket.MessageText, string(request(i))
				if i%2 == 1 {
					kind = websocket.MessageBinary
				}
				if i%3 == 1 {
					message = strings.Replace(message, "Content-Length: 0\r\n", "", 1)
				}
				say(t, c, kind, message)
				p := wait(t, "request", got.packets)
				if int(p.Message.CSeq()) != i || p.Transport != l.Transport || p.Flow == 0 || p.Local != server.Addr(0) || p.Listener != 0 {
					t.Fatalf("packet %d: %+v", i, p)
				}
				if flow == 0 {
					flow = p.Flow
				}
				if p.Flow != flow {
					t.Fatal("the flow changed")
				}
				if kind, answer := hear(t, c); kind != websocket.MessageText || !strings.HasPrefix(answer, "SIP/2.0 200") {
					t.Fatalf("answer of kind %s: %s", kind, answer)
				}
			}
			b := server.NewBatch()
			b.Send(Target{Transport: l.Transport, Flow: flow}, request(77), 0)
			if _, m := hear(t, c); m != string(request(77)) {
				t.Fatalf("request on the flow: %q", m)
			}
			n := server.Counters()
			if r := n.Received[l.Transport].Load(); r != 40 {
				t.Errorf("%d received", r)
			}
			poll(t, "41 sent", func() bool { return n.Sent[l.Transport].Load() == 41 })
		})
	}
}

// A browser ends a connection over text that is not UTF-8: such a message leaves as binary.
func TestWebSocketKinds(t *testing.T) {
	server, got := open(t, Config{Listeners: []ListenerConfig{wsListener(WebSocket{})}})
	c := dialWS(t, server.Addr(0))
	say(t, c, websocket.MessageText, string(request(1)))
	p := wait(t, "request", got.packets)
	hear(t, c)
	to := p.Reply()
	for message, want := range map[string]websocket.MessageType{
		"INFO sip:a@b SIP/2.0\r\nSubject: g\u00fcnstig\r\n\r\n": websocket.MessageText,
		"INFO sip:a@b SIP/2.0\r\nSubject: g\xfcnstig\r\n\r\n":   websocket.MessageBinary,
	} {
		server.NewBatch().Send(to, []byte(message), 0)
		if kind, m := hear(t, c); kind != want || m != message {
			t.Errorf("%s %q, want %s", kind, m, want)
		}
	}
}

// What is never dialled fails at once (RFC 7118 section 5.2.4), also a response whose flow has ended.
func TestWebSocketNeverDialled(t *testing.T) {
	addr, conns := rawListener(t, "127.0.0.1:0")
	server, got := open(t, Config{Listeners: []ListenerConfig{wsListener(WebSocket{})}})
	c := dialWS(t, server.Addr(0))
	say(t, c, websocket.MessageText, string(request(1)))
	p := wait(t, "request", got.packets)
	_ = c.Close(websocket.StatusNormalClosure, "")
	if f := wait(t, "end of the flow", got.closed); f != p.Flow {
		t.Errorf("flow %d ended, not %d", f, p.Flow)
	}
	b := server.NewBatch()
	reply := p.Reply()
	reply.Addr, reply.ReturnPort = addr, addr.Port()
	b.Send(reply, request(2), 2)
	wantErr(t, wait(t, "failure", got.failed), 2, ErrFlowGone)
	b.Send(Target{Transport: trunkgroup.WSS, Addr: addr, Listener: -1}, request(3), 3)
	wantErr(t, wait(t, "failure", got.failed), 3, ErrFlowGone)
	if len(conns) != 0 || server.Counters().Open.Load() != 0 {
		t.Error("somebody was dialled")
	}
}

// CRLFCRLF is answered with CRLF (RFC 7118 section 6, RFC 5626 section 4.4.1), a ping with a pong; neither is a message.
func TestWebSocketKeepAlive(t *testing.T) {
	server, got := open(t, Config{Listeners: []ListenerConfig{wsListener(WebSocket{})}})
	c := dialWS(t, server.Addr(0))
	for _, nothing := range []string{"", "\r\n", "\x00\x00"} {
		say(t, c, websocket.MessageText, nothing)
	}
	say(t, c, websocket.MessageText, "\r\n\r\n")
	if _, m := hear(t, c); m != "\r\n" {
		t.Fatalf("got %q", m)
	}
	pinged := make(chan error, 1)
	go func() { pinged <- c.Ping(t.Context()) }()
	say(t, c, websocket.MessageText, string(request(1)))
	hear(t, c) // and the pong that comes before it
	if err := wait(t, "pong", pinged); err != nil {
		t.Fatal(err)
	}
	wait(t, "request", got.packets)
	n := server.Counters()
	if p, r := n.Pings.Load(), n.Received[trunkgroup.WS].Load(); p != 2 || r != 1 {
		t.Errorf("%d keep-alives, %d messages", p, r)
	}
}

// A faulty message is answered and costs the connection nothing: the next one begins with its own frame.
func TestWebSocketFaults(t *testing.T) {
	server, got := open(t, Config{Listeners: []ListenerConfig{wsListener(WebSocket{})}})
	c := dialWS(t, server.Addr(0))
	bad := map[string]string{
		"no CSeq":            strings.Replace(string(request(1)), "CSeq: 1 OPTIONS\r\n", "", 1),
		"bad Content-Length": strings.Replace(string(request(1)), "Content-Length: 0", "Content-Length: x", 1),
		"body cut short":     strings.Replace(string(request(1)), "Content-Length: 0", "Content-Length: 9", 1),
	}
	for name, message := range bad {
		say(t, c, websocket.MessageText, message)
		r := wait(t, "verdict", got.rejected)
		if _, m := hear(t, c); !strings.HasPrefix(m, "SIP/2.0 400") || r.fault.Close {
			t.Errorf("%s: %s", name, m)
		}
	}
	say(t, c, websocket.MessageText, "GET / HTTP/1.1\r\n\r\n")
	say(t, c, websocket.MessageText, string(request(2)))
	if _, m := hear(t, c); !strings.HasPrefix(m, "SIP/2.0 200") {
		t.Errorf("after garbage: %s", m)
	}
}

// Who asks for anything but a WebSocket of SIP gets an error of HTTP that names no product, and the connection ends.
func TestWebSocketUpgradeRefused(t *testing.T) {
	rules := WebSocket{Path: "/sip", Origins: []string{"https://phone.example.com", "https://*.example.net"}}
	server, _ := open(t, Config{Listeners: []ListenerConfig{wsListener(rules)}, Limits: Limits{CloseLinger: 50 * time.Millisecond}})
	for name, c := range map[string]struct {
		client wsClient
		code   int
	}{
		"wrong path":        {wsClient{path: "/other"}, http.StatusNotFound},
		"no subprotocol":    {wsClient{path: "/sip", protocol: "-"}, http.StatusBadRequest},
		"other subprotocol": {wsClient{path: "/sip", protocol: "xmpp"}, http.StatusBadRequest},
		"foreign origin":    {wsClient{path: "/sip", origin: "https://evil.example.org"}, http.StatusForbidden},
		"other scheme":      {wsClient{path: "/sip", origin: "http://phone.example.com"}, http.StatusForbidden},
		"no page":           {wsClient{path: "/sip", origin: "null"}, http.StatusForbidden},
	} {
		_, response, err := c.client.dial(t, server.Addr(0))
		if err == nil || response == nil || response.StatusCode != c.code {
			t.Errorf("%s: %v, %+v", name, err, response)
			continue
		}
		if s := fmt.Sprint(response.Header); strings.Contains(s, "Server") || strings.Contains(strings.ToLower(s), "tandem") {
			t.Errorf("%s: a banner: %s", name, s)
		}
	}
	for _, origin := range []string{"", "https://phone.example.com", "https://a.b.example.net", "http://127.0.0.1"} {
		if _, _, err := (wsClient{path: "/sip", origin: origin}).dial(t, server.Addr(0)); err != nil {
			t.Errorf("origin %q: %v", origin, err)
		}
	}
	if n := server.Counters().NotUpgraded.Load(); n != 6 {
		t.Errorf("%d refused", n)
	}
}

// Requests that package websocket never sees.
func TestWebSocketBadRequests(t *testing.T) {
	server, _ := open(t, Config{Listeners: []ListenerConfig{wsListener(WebSocket{})}, Limits: Limits{CloseLinger: 50 * time.Millisecond}})
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n":                                              "HTTP/1.1 426 ",
		"GET / HTTP/1.1\r\n\r\n":                                                         "HTTP/1.1 400 ",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde":                   "HTTP/1.1 400 ",
		"\x16\x03\x01\x02\x00 a TLS client\r\n\r\n":                                      "HTTP/1.1 400 ",
		"OPTIONS sip:a@b SIP/2.0\r\nVia: SIP/2.0/WS a;branch=b\r\n\r\n":                  "HTTP/1.1 400 ",
		"GET / HTTP/1.1\r\nHost: a\r\nCookie: " + strings.Repeat("x", maxUpgrade):        "HTTP/1.1 400 ",
		"GET / HTTP/1.0\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n": "HTTP/1.1 400 ",
	} {
		c := dialRaw(t, server.Addr(0))
		if _, err := c.Write([]byte(request)); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(patience))
		buf := make([]byte, 4096)
		n, err := c.Read(buf)
		if err != nil || !strings.HasPrefix(string(buf[:n]), want) {
			t.Errorf("%.40q: %q, %v", request, buf[:n], err)
		}
		expectEnd(t, c)
	}
}

func TestWebSocketConfig(t *testing.T) {
	for _, bad := range []WebSocket{
		{Path: "sip"},
		{Path: "/a b"},
		{Path: "/a?b"},
		{Origins: []string{"phone.example.com"}},
		{Origins: []string{"https://a.example.com/"}},
		{Origins: []string{"https://*"}},
		{Origins: []string{"https://a.*.com"}},
		{Origins: []string{"https://u@a.example.com"}},
	} {
		if bad.Validate() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	good := WebSocket{Path: "/ws/sip", Origins: []string{"*", "https://a.example.com:8443", "https://*.example.com"}}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	plain := on(trunkgroup.WSS, "127.0.0.1:0")
	if _, err := Open(Config{Listeners: []ListenerConfig{plain}}, newRecorder()); err == nil {
		t.Error("a WSS listener without certificate")
	}
	plain = wsListener(WebSocket{Path: "x"})
	if _, err := Open(Config{Listeners: []ListenerConfig{plain}}, newRecorder()); err == nil {
		t.Error("a listener with a bad path")
	}
}

// Origins: the host of the request by any port, the listed ones, and names below a wildcard, but not what only ends like them.
func TestWebSocketOrigins(t *testing.T) {
	const host = "sbc.example.com:8443"
	for _, c := range []struct {
		origin string
		list   []string
		want   bool
	}{
		{"", nil, true},
		{"https://sbc.example.com", nil, true},
		{"https://SBC.example.com:8443", nil, true},
		{"https://example.com", nil, false},
		{"null", nil, false},
		{"null", []string{"*"}, true},
		{"https://phone.example.com", []string{"https://phone.example.com"}, true},
		{"https://phone.example.com:444", []string{"https://phone.example.com"}, false},
		{"https://a.example.org", []string{"https://*.example.org"}, true},
		{"https://example.org", []string{"https://*.example.org"}, false},
		{"https://.example.org", []string{"https://*.example.org"}, false},
		{"https://evilexample.org", []string{"https://*.example.org"}, false},
		{"http://a.example.org", []string{"https://*.example.org"}, false},
		{"https://a.example.org.evil.com", []string{"https://*.example.org"}, false},
		{"://", nil, false},
	} {
		w := WebSocket{Origins: slices.Clone(c.list)}
		if got := w.admits(c.origin, host); got != c.want {
			t.Errorf("%q with %q: %v", c.origin, c.list, got)
		}
	}
}
