package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Keys knows the cluster keys and certificates of the nodes: their ids and fingerprints, never what is secret.
type Keys interface {
	Keys(ctx context.Context) (KeyList, error)
	// NewToken makes a token by which one new node may join. Errors: ErrInvalid, ErrRefused when this node admits nobody.
	NewToken(ctx context.Context, o TokenOrder) (Token, error)
}

// KeyList is the answer of GET /v1/keys.
type KeyList struct {
	Nodes []NodeKeys `json:"nodes"`
	// Differ says in what the nodes differ; empty when they do not.
	Differ       string        `json:"differ,omitempty" doc:"In what the nodes differ: a rotation is under way, or a node missed a step of it."`
	Certificates []Certificate `json:"certificates" doc:"All certificates of the asked node."`
	Refused      []Refusal     `json:"refused" doc:"Streams that the asked node did not take since its start, by reason."`
}

// NodeKeys is what one node holds, by its own word.
type NodeKeys struct {
	Name  string     `json:"name"`
	Self  bool       `json:"self"`
	Up    bool       `json:"up"`
	Told  *time.Time `json:"told,omitempty" doc:"When the node said so; without it, it never did."`
	Keys  []string   `json:"keys" doc:"Ids of the cluster keys that it holds; the first is the one that it uses."`
	TLS   bool       `json:"tls" doc:"Its streams to other nodes are inside TLS."`
	Plain bool       `json:"plain" doc:"It takes streams without TLS."`
	Until *time.Time `json:"until,omitempty" doc:"When its certificate ends."`
	// Certificate and Authorities are fingerprints, shortened.
	Certificate  string     `json:"certificate,omitempty"`
	Authorities  []string   `json:"authorities,omitempty" doc:"Of the authorities that it trusts."`
	Refused      string     `json:"refused,omitempty" doc:"Why keys or certificates keep it apart from the asked node."`
	RefusedSince *time.Time `json:"refused_since,omitempty"`
}

// Certificate is one that the asked node shows.
type Certificate struct {
	Use      string    `json:"use" doc:"cluster, the name of a listener, or client."`
	Until    time.Time `json:"until"`
	DaysLeft float64   `json:"days_left" doc:"Below zero: it has ended."`
}

// Refusal counts streams that were not taken for one reason.
type Refusal struct {
	Reason string `json:"reason"`
	Count  uint64 `json:"count"`
}

// TokenOrder is the body of POST /v1/tokens.
type TokenOrder struct {
	Node    string `json:"node" maxLength:"63" doc:"Name of the node that may join."`
	Seconds int    `json:"seconds,omitempty" minimum:"0" maximum:"604800" doc:"Life of the token; 0 is an hour."`
	Replace bool   `json:"replace,omitempty" doc:"A node of this name is known already: its machine is replaced."`
	Author  string `json:"author,omitempty" maxLength:"256"`
}

// Token admits one node, once.
type Token struct {
	Token string    `json:"token" doc:"Secret: whoever has it can become the node."`
	ID    string    `json:"id" doc:"Not secret: it names the token in logs."`
	Node  string    `json:"node"`
	Until time.Time `json:"until" doc:"By the clock of the node that made it, which is the only one that takes it."`
}

// tokenInput is the request of new-token.
type tokenInput struct {
	Body TokenOrder
}

func (s *Server) registerKeys(api huma.API) {
	b := s.cfg.Backend.Keys
	if b == nil {
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/keys", "list-keys", "Which cluster keys and certificates the nodes hold"),
		func(ctx context.Context, _ *struct{}) (*reply[KeyList], error) { return answer(ctx, s, b.Keys) })
	huma.Register(api, operation(http.MethodPost, "/v1/tokens", "new-token", "Make a token by which one new node may join", http.StatusUnprocessableEntity, http.StatusConflict),
		func(ctx context.Context, in *tokenInput) (*reply[Token], error) {
			s.audit(ctx, "join token", in.Body.Author, "for", in.Body.Node, "replace", in.Body.Replace)
			return answer(ctx, s, func(ctx context.Context) (Token, error) { return b.NewToken(ctx, in.Body) })
		})
}
