package admin

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
)

// probes adds /livez, /readyz, /healthz and /metrics.
func (s *Server) probes(mux *http.ServeMux) {
	if h := s.cfg.Backend.Health; h != nil {
		mux.HandleFunc("GET /livez", checks(h.Live))
		mux.HandleFunc("GET /readyz", checks(h.Ready))
		mux.HandleFunc("GET /healthz", checks(h.Ready))
	}
	if m := s.cfg.Backend.Metrics; m != nil {
		mux.Handle("GET /metrics", m)
	}
}

// checks answers 200 unless a check is broken, with the list when asked for by ?verbose or when something is broken.
func checks(list func() []Check) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var out bytes.Buffer
		status, worst := http.StatusOK, "ok"
		for _, c := range list() {
			mark := "+"
			switch c.Level {
			case Degraded:
				mark = "!"
				if status == http.StatusOK {
					worst = "degraded"
				}
			case Broken:
				mark = "-"
				status, worst = http.StatusServiceUnavailable, "not ok"
			case Fine:
			}
			fmt.Fprintf(&out, "[%s]%s", mark, c.Name)
			if c.Detail != "" {
				fmt.Fprintf(&out, ": %s", c.Detail)
			}
			out.WriteByte('\n')
		}
		if _, verbose := r.URL.Query()["verbose"]; !verbose && status == http.StatusOK {
			out.Reset()
		}
		out.WriteString(worst + "\n")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(out.Len()))
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = w.Write(out.Bytes())
	}
}
