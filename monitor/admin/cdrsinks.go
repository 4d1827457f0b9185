package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Sinks knows how call records are passed on.
type Sinks interface {
	Sinks(ctx context.Context) (SinkList, error)
}

// SinkList is how call records of a node are written and passed on.
type SinkList struct {
	Node  string `json:"node"`
	Spool Spool  `json:"spool"`
	Sinks []Sink `json:"sinks"`
}

// Spool is the file that records are written to first.
type Spool struct {
	Path    string     `json:"path"`
	Last    uint64     `json:"last" doc:"number of the last record on disk"`
	Backlog int64      `json:"backlog" doc:"records in memory that wait for the disk"`
	Lost    uint64     `json:"lost" doc:"records that found no room in memory while the disk failed, or could not be written at all, since the start"`
	Failing bool       `json:"failing"`
	Since   *time.Time `json:"since,omitempty" doc:"since when it fails"`
	Reason  string     `json:"reason,omitempty"`
}

// Sink is one sink.
type Sink struct {
	Name     string     `json:"name"`
	Type     string     `json:"type" enum:"file,http,syslog"`
	Target   string     `json:"target"`
	Next     uint64     `json:"next" doc:"number of the first record that the other side has not"`
	Sent     uint64     `json:"sent" doc:"records that it has taken since the start"`
	Backlog  uint64     `json:"backlog" doc:"records that wait"`
	Oldest   *time.Time `json:"oldest,omitempty" doc:"end of the call whose record waits longest"`
	Errors   uint64     `json:"errors" doc:"failed tries since the start"`
	Unusable uint64     `json:"unusable" doc:"records that could not be read or written for it"`
	Gaps     uint64     `json:"gaps" doc:"numbers missing in the spool: lost records"`
	Failing  bool       `json:"failing"`
	Since    *time.Time `json:"since,omitempty" doc:"since when it fails"`
	Reason   string     `json:"reason,omitempty"`
}

func (s *Server) registerSinks(api huma.API, mux *http.ServeMux) {
	if s.cfg.Backend.Sinks == nil {
		mux.HandleFunc("/v1/cdr/sinks", absent)
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/cdr/sinks", "list-cdr-sinks", "How call records are written and passed on"),
		func(ctx context.Context, _ *struct{}) (*reply[SinkList], error) {
			return answer(ctx, s, s.cfg.Backend.Sinks.Sinks)
		})
}
