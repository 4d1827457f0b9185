package admin

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// smallBody bounds the body of everything but a document, in bytes.
const smallBody = 64 << 10

// reply wraps a JSON body.
type reply[T any] struct {
	Body T
}

// register adds all routes below /v1 and the API's description.
func (s *Server) register(mux *http.ServeMux) {
	cfg := huma.DefaultConfig("Tandem node", s.cfg.Version)
	cfg.Info.Description = "Looks into one node of a Tandem cluster, and changes the cluster."
	cfg.DocsPath = "" // its page would load scripts from elsewhere
	cfg.CreateHooks = nil
	api := humago.New(mux, cfg)
	b := s.cfg.Backend
	if b.Nodes != nil {
		huma.Register(api, operation(http.MethodGet, "/v1/nodes", "list-nodes", "Nodes of the cluster"),
			func(ctx context.Context, _ *struct{}) (*reply[NodeList], error) {
				return answer(ctx, s, b.Nodes.Nodes)
			})
	}
	if b.Members != nil {
		huma.Register(api, operation(http.MethodGet, "/v1/members", "list-members", "Members and their states"),
			func(ctx context.Context, _ *struct{}) (*reply[MemberList], error) {
				return answer(ctx, s, b.Members.Members)
			})
		huma.Register(api, operation(http.MethodPost, "/v1/members/{group}/{member}/state", "set-member-state",
			"Take a member out, or back in", http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable), s.setState)
		s.registerMembers(api)
		s.registerMemberEdits(api)
	} else {
		mux.HandleFunc("/v1/members", absent)
		mux.HandleFunc("/v1/members/", absent)
	}
	if b.Config != nil {
		huma.Register(api, operation(http.MethodGet, "/v1/config", "get-config", "The cluster document in force"), s.getConfig)
		apply := operation(http.MethodPost, "/v1/config", "apply-config", "Make a document the one in force",
			http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable)
		apply.MaxBodyBytes = s.cfg.MaxDocument
		huma.Register(api, apply, s.applyConfig)
	}
	s.registerConfig(api)
	s.registerDiscovery(api)
	s.registerLimits(api, mux)
	s.registerRegistrations(api, mux)
	s.registerAccounts(api, mux)
	s.registerBans(api, mux)
	s.registerFrauds(api, mux)
	s.registerCharging(api, mux)
	s.registerDecisions(api, mux)
	s.registerTraffic(api, mux)
	s.registerSinks(api, mux)
	s.registerRecords(api, mux)
	s.registerNumbers(api, mux)
	s.registerDecks(api, mux)
	if b.Knobs != nil {
		s.registerKnobs(api)
	} else {
		mux.HandleFunc("/v1/knobs", absent)
		mux.HandleFunc("/v1/sites/", absent)
	}
	s.registerAudit(api)
	s.registerHash(api)
	s.registerDrain(api)
	s.registerKeys(api)
	if b.Calls != nil {
		huma.Register(api, operation(http.MethodGet, "/v1/calls", "list-calls", "Calls of this node"), s.calls)
	} else {
		mux.HandleFunc("/v1/calls", absent)
	}
	s.registerExplain(api, mux)
	s.registerRouteTest(api, mux)
}

// absent answers for what only a node with calls has.
func absent(w http.ResponseWriter, _ *http.Request) {
	refuse(w, newProblem(http.StatusNotFound, "this node is a witness: it has no members and no calls", "ask another node"))
}

func operation(method, path, id, summary string, errors ...int) huma.Operation {
	return huma.Operation{Method: method, Path: path, OperationID: id, Summary: summary, Errors: errors, MaxBodyBytes: smallBody}
}

// answer asks the backend and wraps what it says.
func answer[T any](ctx context.Context, s *Server, ask func(context.Context) (T, error)) (*reply[T], error) {
	v, err := ask(ctx)
	if err != nil {
		return nil, s.problem(ctx, err)
	}
	return &reply[T]{v}, nil
}

// setStateInput is the request of set-member-state.
type setStateInput struct {
	Group  string `path:"group" maxLength:"128"`
	Member string `path:"member" maxLength:"128"`
	Body   Order
}

func (s *Server) setState(ctx context.Context, in *setStateInput) (*reply[Knob], error) {
	s.audit(ctx, "member state", in.Body.Author, "member", in.Group+"/"+in.Member, "state", in.Body.State, "reason", in.Body.Reason)
	return answer(ctx, s, func(ctx context.Context) (Knob, error) {
		return s.cfg.Backend.Members.SetState(ctx, in.Group, in.Member, in.Body)
	})
}

// documentReply is the answer of get-config.
type documentReply struct {
	ETag string `header:"ETag"`
	Body Document
}

func (s *Server) getConfig(ctx context.Context, _ *struct{}) (*documentReply, error) {
	d, err := s.cfg.Backend.Config.Document(ctx)
	if err != nil {
		return nil, s.problem(ctx, err)
	}
	return &documentReply{etag(d.Revision), d}, nil
}

// applyInput is the request of apply-config. The body is the document as it was written.
type applyInput struct {
	Author  string `query:"author" maxLength:"256" doc:"Who wants it."`
	Reason  string `query:"reason" maxLength:"256" doc:"Why."`
	Expect  string `query:"expect_revision" pattern:"^[0-9]{0,20}$" doc:"Only when this revision is in force."`
	IfMatch string `header:"If-Match" maxLength:"64" doc:"The same as an entity tag."`
	Key     string `header:"Idempotency-Key" maxLength:"128" doc:"The same key twice is one change."`
	DryRun  bool   `query:"dry_run" doc:"Only check."`
	RawBody []byte `contentType:"application/yaml"`
}

func (s *Server) applyConfig(ctx context.Context, in *applyInput) (*reply[Applied], error) {
	expect, err := in.expected()
	if err != nil {
		return nil, newProblem(http.StatusUnprocessableEntity, err.Error(), "expect_revision and If-Match hold the revision of GET /v1/config")
	}
	s.audit(ctx, "configuration change", in.Author, "reason", in.Reason, "bytes", len(in.RawBody), "dry_run", in.DryRun)
	return answer(ctx, s, func(ctx context.Context) (Applied, error) {
		return s.cfg.Backend.Config.Apply(ctx, Change{
			Text: in.RawBody, Author: in.Author, Reason: in.Reason, Expect: expect, Key: in.Key, DryRun: in.DryRun,
		})
	})
}

// expected reads the revision that the author saw; nil for none.
func (in *applyInput) expected() (*uint64, error) {
	text := in.Expect
	if text == "" {
		text = strings.Trim(in.IfMatch, `"`)
	}
	if text == "" || text == "*" {
		return nil, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, err
	}
	return &n, nil
}

func etag(revision uint64) string { return `"` + strconv.FormatUint(revision, 10) + `"` }

// callsInput is the request of list-calls.
type callsInput struct {
	Limit int `query:"limit" minimum:"0" maximum:"10000" default:"100" doc:"How many calls to list; 0 for the numbers alone."`
}

func (s *Server) calls(ctx context.Context, in *callsInput) (*reply[CallList], error) {
	return answer(ctx, s, func(ctx context.Context) (CallList, error) {
		return s.cfg.Backend.Calls.Calls(ctx, in.Limit)
	})
}

// audit logs a change that somebody asks for.
func (s *Server) audit(ctx context.Context, what, author string, args ...any) {
	n := note(ctx)
	n.What, n.Author, n.Args = what, author, args
	s.cfg.Logger.InfoContext(ctx, "admin request", append([]any{"change", what, "author", author}, args...)...)
}
