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
	entitled := s.tokenCheck()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case open(r.URL.Path):
		case s.cfg.Token != "":
			if !entitled(r) {
				refuseToken(w)
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

// guardRemote stands before all routes of the listener for other machines. Nothing is open there.
func (s *Server) guardRemote(next http.Handler) http.Handler {
	next = http.NewCrossOriginProtection().Handler(next)
	entitled := s.tokenCheck()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.cfg.Token != "":
			if !entitled(r) {
				refuseToken(w)
				return
			}
		case r.TLS == nil || len(r.TLS.VerifiedChains) == 0:
			refuse(w, newProblem(http.StatusUnauthorized, "no certificate of the authority that admin.remote names", ""))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// tokenCheck makes the comparison of the token that a request shows, in constant time.
func (s *Server) tokenCheck() func(*http.Request) bool {
	want := sha256.Sum256([]byte(s.cfg.Token))
	return func(r *http.Request) bool {
		got := sha256.Sum256([]byte(bearer(r)))
		return subtle.ConstantTimeCompare(got[:], want[:]) == 1
	}
}

func refuseToken(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="tandem"`)
	refuse(w, newProblem(http.StatusUnauthorized, "the token is missing or wrong", ""))
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
