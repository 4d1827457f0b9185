package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guard stands before all routes of the API listener.
func (s *Server) guard(next http.Handler) http.Handler {
	// A web page that the operator looks at must not reach the API through his browser.
	next = http.NewCrossOriginProtection().Handler(next)
	want := sha256.Sum256([]byte(s.cfg.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case open(r.URL.Path):
		case s.cfg.Token != "":
			got := sha256.Sum256([]byte(bearer(r)))
			if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
				w.Header().Set("WWW-Authenticate", `Bearer realm="tandem"`)
				refuse(w, newProblem(http.StatusUnauthorized, "the token is missing or wrong", ""))
				return
			}
		case s.cfg.Network == "tcp" && !localName(r.Host):
			// Without a token only the address protects: a name that resolves to it (DNS rebinding) does not count.
			refuse(w, newProblem(http.StatusForbidden, "without a token the node answers to its address only", "ask by address, not by name"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// open says which paths need no token.
func open(path string) bool {
	switch path {
	case "/livez", "/readyz", "/healthz", "/metrics":
		return true
	}
	return false
}

func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// localName says whether a Host header names loopback by address, or as localhost.
func localName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}

func refuse(w http.ResponseWriter, p *Problem) {
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // a client that is gone
}
