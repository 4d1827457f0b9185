package config

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// withListener is the good file with its second listener replaced.
func withListener(listener string) string {
	const old = `transport: tcp, address: "[2001:db8::10]:5060"`
	if !strings.Contains(good, old) {
		panic("the good file has another second listener")
	}
	return strings.Replace(good, old, listener, 1)
}

func TestWebSocketListener(t *testing.T) {
	c, err := Load(write(t, withListener(`transport: ws, address: "192.0.2.10:8080", websocket: {path: /sip, origins: ["https://*.example.com", "*"]}`)))
	if err != nil {
		t.Fatal(err)
	}
	want := WebSocket{Path: "/sip", Origins: []string{"https://*.example.com", "*"}}
	if l := c.Listeners[1]; l.Transport != "ws" || !reflect.DeepEqual(l.WebSocket, want) {
		t.Errorf("got %+v", l)
	}
}

func TestWebSocketFaults(t *testing.T) {
	for _, c := range []struct{ listener, want string }{
		{`transport: tcp, address: "192.0.2.10:8080", websocket: {path: /sip}`, "listeners[1].websocket: only for the transports ws and wss"},
		{`transport: ws, address: "192.0.2.10:8080", websocket: {path: sip}`, `listeners[1].websocket.path: "sip" is not an absolute path`},
		{`transport: ws, address: "192.0.2.10:8080", websocket: {origins: [phone.example.com]}`, `listeners[1].websocket.origins[0]: "phone.example.com" is not an origin`},
		{`transport: ws, address: "192.0.2.10:8080", websocket: {origins: ["https://a.example.com/x"]}`, "listeners[1].websocket.origins[0]: "},
		{`transport: ws, address: "192.0.2.10:8080", tls: {cert: x}`, "listeners[1].tls: only for the transport tls"},
		{`transport: wss, address: "192.0.2.10:8443"`, "listeners[1].tls.cert: missing"},
	} {
		_, err := Load(write(t, withListener(c.listener)))
		var faults *Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.listener, err, c.want)
		}
	}
}
