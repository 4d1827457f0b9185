package transport

import (
	"fmt"
	"net/url"
	"strings"
)

// WebSocket says which upgrades a WS or WSS listener takes.
type WebSocket struct {
	// Path is the one path that is served; empty means "/".
	Path string
	// Origins are the further origins whose pages may connect: "https://phone.example.com", "https://*.example.com" for every name
	// below, or "*" for any. Pages of the host that the request names may always connect, by whatever port, and so may clients that
	// send no Origin, which are no browsers.
	Origins []string
}

// Validate reports the first fault.
func (w *WebSocket) Validate() error {
	if w.Path != "" && (w.Path[0] != '/' || strings.ContainsAny(w.Path, "?# \t\r\n")) {
		return fmt.Errorf("path %q is not an absolute path", w.Path)
	}
	for _, o := range w.Origins {
		if o == "*" {
			continue
		}
		u, err := url.Parse(strings.Replace(o, "://*.", "://", 1))
		if err != nil || u.Host == "" || u.Scheme == "" || u.Path+u.RawQuery+u.Fragment != "" || u.User != nil || strings.Contains(u.Host, "*") {
			return fmt.Errorf("origin %q is not like https://phone.example.com", o)
		}
	}
	return nil
}

// path is the path that is served.
func (w *WebSocket) path() string {
	if w.Path == "" {
		return "/"
	}
	return w.Path
}

// admits tells whether a page of this origin may connect to this host. Credentials of SIP do not travel by themselves as cookies do, so
// this does not guard accounts: it keeps foreign pages from using their visitors' browsers to guess passwords.
func (w *WebSocket) admits(origin, host string) bool {
	if origin == "" {
		return true
	}
	if u, err := url.Parse(origin); err == nil && u.Host != "" {
		if to := (url.URL{Host: host}); strings.EqualFold(u.Hostname(), to.Hostname()) {
			return true
		}
	}
	for _, o := range w.Origins {
		scheme, domain, wild := strings.Cut(o, "://*")
		switch {
		case o == "*", strings.EqualFold(o, origin):
			return true
		case wild && matchesBelow(origin, scheme+"://", domain):
			return true
		}
	}
	return false
}

// matchesBelow tells whether an origin is scheme, one name or more, and domain, which begins with a dot.
func matchesBelow(origin, scheme, domain string) bool {
	n := len(origin) - len(domain)
	return n > len(scheme) && strings.EqualFold(origin[:len(scheme)], scheme) && strings.EqualFold(origin[n:], domain)
}
