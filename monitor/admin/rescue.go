package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Rescue is what an operator does when nodes or the configuration log are lost (DEC-14). Recover and Rejoin want the id of the
// cluster, typed by a human.
type Rescue interface {
	// Recover lets the asked node go on without the voters that are gone. Errors: ErrInvalid, ErrRefused with what speaks against it.
	Recover(ctx context.Context, o RecoverOrder) (Recovery, error)
	// Rejoin discards the log of the asked node and takes that of the others. Errors: ErrInvalid, ErrRefused, ErrUnavailable.
	Rejoin(ctx context.Context, o RejoinOrder) (Rejoined, error)
	// Remove takes a node that has stopped out of the cluster. Errors: ErrNotFound, ErrRefused, ErrUnavailable.
	Remove(ctx context.Context, o RemoveOrder) (Gone, error)
}

// RemoveOrder is the body of POST /v1/cluster/remove.
type RemoveOrder struct {
	Node   string `json:"node" minLength:"1" maxLength:"256" doc:"A node that has stopped for good."`
	Author string `json:"author,omitempty" maxLength:"256"`
	Reason string `json:"reason,omitempty" maxLength:"256"`
	Few    bool   `json:"few,omitempty" doc:"Also when less than three voters are left."`
}

// Gone says which node was removed, and who votes now.
type Gone struct {
	Cluster string   `json:"cluster"`
	Node    string   `json:"node"`
	Voters  []string `json:"voters" doc:"As the asked node knows them."`
}

// RecoverOrder is the body of POST /v1/cluster/recover.
type RecoverOrder struct {
	Confirm string `json:"confirm" maxLength:"256" doc:"The id of the cluster."`
	Author  string `json:"author,omitempty" maxLength:"256"`
	Reason  string `json:"reason,omitempty" maxLength:"256"`
	DryRun  bool   `json:"dry_run,omitempty" doc:"Look at everything and change nothing."`
}

// Recovery says what a recovery found and did.
type Recovery struct {
	Cluster    string   `json:"cluster"`
	DryRun     bool     `json:"dry_run,omitempty"`
	Nodes      []string `json:"nodes" doc:"The others, with the paths by which they answer."`
	Gone       []string `json:"gone" doc:"Voters that are given up."`
	Adopted    []string `json:"adopted" doc:"Nodes that follow by themselves."`
	Epoch      uint64   `json:"epoch,omitempty" doc:"The new one; nodes of the old one are refused."`
	Generation uint64   `json:"generation" doc:"Of the document in force, or, of a dry run, of the one that would be put into force again."`
	Revision   uint64   `json:"revision"`
}

// RejoinOrder is the body of POST /v1/cluster/rejoin.
type RejoinOrder struct {
	Confirm string `json:"confirm" maxLength:"256" doc:"The id of the cluster."`
	Author  string `json:"author,omitempty" maxLength:"256"`
}

// Rejoined says what the node runs after it has rejoined.
type Rejoined struct {
	Cluster    string `json:"cluster"`
	Node       string `json:"node"`
	Generation uint64 `json:"generation"`
	Revision   uint64 `json:"revision"`
}

func (s *Server) registerRescue(api huma.API) {
	huma.Register(api, operation(http.MethodPost, "/v1/cluster/recover", "recover-cluster", "Go on without the voters that are gone",
		http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable), s.recover)
	huma.Register(api, operation(http.MethodPost, "/v1/cluster/rejoin", "rejoin-cluster", "Discard the log of this node and take that of the others",
		http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable), s.rejoin)
	huma.Register(api, operation(http.MethodPost, "/v1/cluster/remove", "remove-node", "Take a node that has stopped out of the cluster",
		http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable), s.remove)
}

type recoverInput struct{ Body RecoverOrder }

func (s *Server) recover(ctx context.Context, in *recoverInput) (*reply[Recovery], error) {
	s.audit(ctx, "recovery from lost quorum", in.Body.Author, "reason", in.Body.Reason, "dry_run", in.Body.DryRun)
	return answer(ctx, s, func(ctx context.Context) (Recovery, error) { return s.cfg.Backend.Rescue.Recover(ctx, in.Body) })
}

type rejoinInput struct{ Body RejoinOrder }

func (s *Server) rejoin(ctx context.Context, in *rejoinInput) (*reply[Rejoined], error) {
	s.audit(ctx, "rejoin of the cluster", in.Body.Author)
	return answer(ctx, s, func(ctx context.Context) (Rejoined, error) { return s.cfg.Backend.Rescue.Rejoin(ctx, in.Body) })
}

type removeInput struct{ Body RemoveOrder }

func (s *Server) remove(ctx context.Context, in *removeInput) (*reply[Gone], error) {
	s.audit(ctx, "removal of a node", in.Body.Author, "subject", in.Body.Node, "reason", in.Body.Reason, "few", in.Body.Few)
	return answer(ctx, s, func(ctx context.Context) (Gone, error) { return s.cfg.Backend.Rescue.Remove(ctx, in.Body) })
}
