package config

import (
	"regexp"
	"strings"
)

// WebSocket says which upgrades a listener takes (RFC 7118).
type WebSocket struct {
	// Path is the one path that is served; empty means "/".
	Path string
	// Origins are the further origins whose pages may connect: "https://phone.example.com", "https://*.example.com" or "*". Pages of the
	// host that they connect to always may.
	Origins []string
}

type fileWebSocket struct {
	Path    string   `mapstructure:"path"`
	Origins []string `mapstructure:"origins"`
}

// origin is scheme, host and perhaps port, as browsers write it; the first name of the host may be "*".
var origin = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://(\*\.)?[^/?#*@\s]+$`)

// websocket reads the part of a listener that is for WebSockets.
func (c *checker) websocket(key string, l fileListener) WebSocket {
	w := l.WebSocket
	if l.Transport != "ws" && l.Transport != "wss" {
		if w.Path != "" || len(w.Origins) > 0 {
			c.add(key, "remove it, or write transport: wss", "only for the transports ws and wss")
		}
		return WebSocket{}
	}
	if w.Path != "" && (w.Path[0] != '/' || strings.ContainsAny(w.Path, "?# \t\r\n")) {
		c.add(join(key, "path"), "write it like /sip", "%q is not an absolute path", w.Path)
	}
	for i, o := range w.Origins {
		if o != "*" && !origin.MatchString(o) {
			c.add(index(join(key, "origins"), i), "write it like https://phone.example.com, without a path", "%q is not an origin", o)
		}
	}
	return WebSocket(w)
}

// encrypted tells whether listeners of a transport have a certificate.
func encrypted(transport string) bool { return transport == "tls" || transport == "wss" }
