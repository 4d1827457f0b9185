package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Hasher says who gets the calls of a key (K-27 hash).
type Hasher interface {
	// Hash errors: ErrNotFound, ErrInvalid for a group in which no key decides.
	Hash(ctx context.Context, q HashQuestion) (HashAnswer, error)
}

// HashQuestion is what GET /v1/groups/{group}/hash asks.
type HashQuestion struct {
	Group, Site string
	Keys        []string
}

// HashAnswer is its answer.
type HashAnswer struct {
	Group  string   `json:"group"`
	Site   string   `json:"site"`
	Method string   `json:"method"`
	By     string   `json:"by" doc:"What of a call is its key."`
	Keys   []Hashed `json:"keys"`
}

// Hashed is one key and the order in which its calls are tried.
type Hashed struct {
	Key   string        `json:"key"`
	Order []HashedPlace `json:"order"`
}

// HashedPlace is one far end.
type HashedPlace struct {
	Place   int    `json:"place" doc:"0 for one that gets no calls now."`
	Member  string `json:"member"`
	Address string `json:"address,omitempty"`
	Score   uint64 `json:"score,omitempty" doc:"Drawn from the key; the lowest of a priority is first. hash-mod draws none."`
	Cause   string `json:"cause,omitempty" doc:"Why it gets no calls."`
}

// registerHash adds the route.
func (s *Server) registerHash(api huma.API) {
	if s.cfg.Backend.Hashes == nil {
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/groups/{group}/hash", "hash-keys", "Who gets the calls of a key",
		http.StatusNotFound, http.StatusUnprocessableEntity), s.hash)
}

type hashInput struct {
	Group string   `path:"group" maxLength:"128"`
	Site  string   `query:"site" maxLength:"128" doc:"That of the asked node unless given."`
	Keys  []string `query:"key,explode" minItems:"1" maxItems:"100" required:"true"`
}

func (s *Server) hash(ctx context.Context, in *hashInput) (*reply[HashAnswer], error) {
	return answer(ctx, s, func(ctx context.Context) (HashAnswer, error) {
		return s.cfg.Backend.Hashes.Hash(ctx, HashQuestion{Group: in.Group, Site: in.Site, Keys: in.Keys})
	})
}
