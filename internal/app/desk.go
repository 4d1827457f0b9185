package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

type desk struct {
	http *http.Server
	l    net.Listener
}

func newDesk(a *App, _ string) (*desk, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if ok, why := a.node.Ready(); !ok && !a.cfg.Witness {
			http.Error(w, why, 503)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	addr := a.cfg.Admin.Metrics.String()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &desk{l: l, http: &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}}, nil
}
func (d *desk) start()                         { go d.http.Serve(d.l) }
func (d *desk) stop(ctx context.Context) error { return d.http.Shutdown(ctx) }
