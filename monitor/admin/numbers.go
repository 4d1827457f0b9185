package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Numbers knows the number table beside the document.
type Numbers interface {
	Numbers(ctx context.Context) (NumberSummary, error)
	// Owner says who owns a called number, and by what. Errors: ErrInvalid.
	Owner(ctx context.Context, number string) (NumberOwner, error)
	// ListNumbers returns a page of the table: of one group, or of all with an empty one; from the first pattern behind after.
	// Errors: ErrInvalid.
	ListNumbers(ctx context.Context, group, after string, limit int) (NumberPage, error)
	// ExportNumbers writes the table as a list that ImportNumbers takes.
	ExportNumbers(ctx context.Context, w io.Writer, group string) error
	// ChangeNumbers adds, moves or removes numbers. Errors: those of Config.Apply.
	ChangeNumbers(ctx context.Context, c NumberChange) (NumbersApplied, error)
	// ImportNumbers takes a list of numbers, whole or not at all. Errors: trunkgroup.Faults with the line of each, and those of
	// Config.Apply.
	ImportNumbers(ctx context.Context, list io.Reader, i NumberImport) (NumbersApplied, error)
	NumberHistory(ctx context.Context) (NumberHistory, error)
}

// NumberSummary is the answer of GET /v1/numbers.
type NumberSummary struct {
	Generation uint64         `json:"generation"`
	Edition    uint64         `json:"edition" doc:"Rises with each change; 0 before the first."`
	Numbers    int            `json:"numbers" doc:"Patterns in the table."`
	Checksum   string         `json:"checksum" doc:"Equal on nodes with equal tables."`
	Source     string         `json:"source" doc:"Where this node has it from: raft, or its disk."`
	Since      *time.Time     `json:"since,omitempty" doc:"Since when this node runs it."`
	Groups     map[string]int `json:"groups" doc:"Patterns of each group."`
	Orphans    map[string]int `json:"orphans,omitempty" doc:"Patterns that own nothing: the document has no origination-customer group of that name."`
	Imports    []OpenImport   `json:"imports" doc:"Imports that are under way."`
}

// OpenImport is an import that is not in force yet.
type OpenImport struct {
	Author string    `json:"author"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
	Set    uint64    `json:"set"`
	Gone   uint64    `json:"removed"`
}

// NumberRow is one pattern of the table.
type NumberRow struct {
	Pattern string `json:"pattern"`
	Group   string `json:"group"`
}

// NumberPage is the answer of GET /v1/numbers/list.
type NumberPage struct {
	Edition uint64      `json:"edition"`
	Numbers []NumberRow `json:"numbers"`
	Next    string      `json:"next,omitempty" doc:"What after is for the next page; empty at the end."`
}

// NumberOwner is the answer of GET /v1/numbers/owner.
type NumberOwner struct {
	Number  string      `json:"number"`
	Group   string      `json:"group" doc:"Whose calls to it are; empty for nobody."`
	By      string      `json:"by" doc:"The pattern that decides."`
	InTable bool        `json:"in_table" doc:"The pattern stands in the number table, not in the document."`
	Others  []NumberRow `json:"others" doc:"What else covers it, the more specific first."`
	Edition uint64      `json:"edition"`
}

// NumberChange is the body of POST /v1/numbers.
type NumberChange struct {
	Rows   []NumberRow `json:"rows" minItems:"1" maxItems:"1000" doc:"An empty group takes the pattern out."`
	Author string      `json:"author,omitempty" maxLength:"256"`
	Reason string      `json:"reason,omitempty" maxLength:"256"`
	Expect *uint64     `json:"expect_edition,omitempty" doc:"Only when this edition is in force."`
	Key    string      `json:"key,omitempty" maxLength:"128" doc:"The same key twice is one change."`
}

// NumberImport says what is done with a list of numbers.
type NumberImport struct {
	Group   string // of lines that name none
	Replace string // a group that is to have no other patterns than those of the list
	DryRun  bool
	Author  string
	Reason  string
	Key     string
}

// NumbersApplied is the answer to a change of the number table.
type NumbersApplied struct {
	Generation uint64 `json:"generation"`
	Edition    uint64 `json:"edition"`
	Set        int    `json:"set" doc:"Patterns that were added or moved."`
	Removed    int    `json:"removed"`
	Same       int    `json:"same" doc:"Lines that were so already."`
	DryRun     bool   `json:"dry_run,omitempty"`
	Unchanged  bool   `json:"unchanged,omitempty"`
	Millis     int64  `json:"ms" doc:"How long it took until this node routed by it."`
}

// NumberRecord is one change of the number table.
type NumberRecord struct {
	Generation uint64    `json:"generation"`
	Edition    uint64    `json:"edition"`
	Author     string    `json:"author"`
	Reason     string    `json:"reason"`
	At         time.Time `json:"at"`
	Import     bool      `json:"import"`
	Set        uint64    `json:"set"`
	Removed    uint64    `json:"removed"`
	Numbers    uint64    `json:"numbers" doc:"Patterns in the table after it."`
}

// NumberHistory is the answer of GET /v1/numbers/history.
type NumberHistory struct {
	Changes []NumberRecord `json:"changes" doc:"Oldest first."`
}

// Bounds of what is done with numbers.
const (
	maxNumberPage = 10_000
	// maxNumberList bounds a list of numbers in octets.
	maxNumberList = 1 << 30
	// numbersTime bounds an import and an export.
	numbersTime = 30 * time.Minute
)

func (s *Server) registerNumbers(api huma.API, mux *http.ServeMux) {
	b := s.cfg.Backend.Numbers
	if b == nil {
		mux.HandleFunc("/v1/numbers", absent)
		mux.HandleFunc("/v1/numbers/", absent)
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/numbers", "numbers", "The number table beside the document"),
		func(ctx context.Context, _ *struct{}) (*reply[NumberSummary], error) {
			return answer(ctx, s, b.Numbers)
		})
	huma.Register(api, operation(http.MethodGet, "/v1/numbers/history", "numbers-history", "Changes of the number table"),
		func(ctx context.Context, _ *struct{}) (*reply[NumberHistory], error) {
			return answer(ctx, s, b.NumberHistory)
		})
	huma.Register(api, operation(http.MethodGet, "/v1/numbers/owner", "number-owner", "Who owns a called number", http.StatusUnprocessableEntity), s.numberOwner)
	huma.Register(api, operation(http.MethodGet, "/v1/numbers/list", "list-numbers", "A page of the number table", http.StatusUnprocessableEntity), s.listNumbers)
	change := operation(http.MethodPost, "/v1/numbers", "change-numbers", "Add, move and remove numbers",
		http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable)
	change.MaxBodyBytes = 1 << 20
	huma.Register(api, change, s.changeNumbers)
	// Lists of millions are read and written as they come, which the API's framework does not.
	mux.HandleFunc("POST /v1/numbers/import", s.importNumbers)
	mux.HandleFunc("GET /v1/numbers/export", s.exportNumbers)
}

type ownerInput struct {
	Number string `query:"number" required:"true" maxLength:"64" doc:"E.164 with its +."`
}

func (s *Server) numberOwner(ctx context.Context, in *ownerInput) (*reply[NumberOwner], error) {
	return answer(ctx, s, func(ctx context.Context) (NumberOwner, error) { return s.cfg.Backend.Numbers.Owner(ctx, in.Number) })
}

type listNumbersInput struct {
	Group string `query:"group" maxLength:"256"`
	After string `query:"after" maxLength:"64" doc:"The next of the page before."`
	Limit int    `query:"limit" minimum:"1" maximum:"10000" default:"100"`
}

func (s *Server) listNumbers(ctx context.Context, in *listNumbersInput) (*reply[NumberPage], error) {
	return answer(ctx, s, func(ctx context.Context) (NumberPage, error) {
		return s.cfg.Backend.Numbers.ListNumbers(ctx, in.Group, in.After, min(in.Limit, maxNumberPage))
	})
}

func (s *Server) changeNumbers(ctx context.Context, in *struct{ Body NumberChange }) (*reply[NumbersApplied], error) {
	s.audit(ctx, "numbers", in.Body.Author, "rows", len(in.Body.Rows), "number", in.Body.Rows[0].Pattern, "group", in.Body.Rows[0].Group, "reason", in.Body.Reason)
	v, err := s.cfg.Backend.Numbers.ChangeNumbers(ctx, in.Body)
	if err != nil {
		return nil, s.numberProblem(ctx, err)
	}
	return &reply[NumbersApplied]{v}, nil
}

// numberProblem words an error of a change of numbers.
func (s *Server) numberProblem(ctx context.Context, err error) error {
	faults, ok := errors.AsType[trunkgroup.Faults](err)
	if !ok {
		return s.problem(ctx, err)
	}
	p := newProblem(http.StatusUnprocessableEntity, fmt.Sprintf("%d of the numbers cannot be; nothing was changed", len(faults)), "each fault names its remedy")
	for _, f := range faults {
		p.Faults = append(p.Faults, Fault{f.Path, f.Line, f.Column, f.Problem, f.Remedy})
	}
	return p
}
