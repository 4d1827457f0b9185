package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Decks knows the rate decks beside the document.
type Decks interface {
	Decks(ctx context.Context) (DeckList, error)
	// ShowDeck says what is in one deck. Errors: ErrNotFound.
	ShowDeck(ctx context.Context, name string) (DeckInfo, error)
	// QuoteDeck says what decks make of a number: those of a plan, or one by itself. Errors: ErrNotFound, ErrInvalid.
	QuoteDeck(ctx context.Context, q DeckQuestion) (DeckQuote, error)
	DeckHistory(ctx context.Context) (DeckHistory, error)
	// ImportDeck takes a deck, whole or not at all. Errors: trunkgroup.Faults with the line of each, and those of Config.Apply.
	ImportDeck(ctx context.Context, list io.Reader, i DeckImport) (DeckApplied, error)
	// ExportDeck writes a deck as a list that ImportDeck takes. Errors: ErrNotFound, before anything is written.
	ExportDeck(ctx context.Context, w io.Writer, name string) error
	// RemoveDeck takes a deck out. Errors: ErrNotFound, and those of Config.Apply.
	RemoveDeck(ctx context.Context, r DeckRemoval) (DeckApplied, error)
}

// DeckList is the answer of GET /v1/decks.
type DeckList struct {
	Generation uint64       `json:"generation"`
	Edition    uint64       `json:"edition" doc:"Rises with each change of any deck; 0 before the first."`
	Source     string       `json:"source" doc:"Where this node has them from: raft, or its disk."`
	Since      *time.Time   `json:"since,omitempty" doc:"Since when this node runs them."`
	Decks      []DeckHead   `json:"decks"`
	Uploads    []DeckUpload `json:"uploads" doc:"Imports that are under way."`
	Faults     []DeckFault  `json:"faults" doc:"Plans whose decks are not there or do not go together."`
}

// DeckHead is what is known of a deck without its rows.
type DeckHead struct {
	Name     string    `json:"name"`
	Kind     string    `json:"kind" doc:"cost: what carriers cost. sell: what customers pay."`
	Currency string    `json:"currency,omitempty"`
	Rows     uint64    `json:"rows"`
	Octets   uint64    `json:"octets" doc:"Packed, as nodes keep it."`
	Edition  uint64    `json:"edition" doc:"In which it came into force."`
	Author   string    `json:"author"`
	Reason   string    `json:"reason"`
	At       time.Time `json:"at"`
	Plans    []string  `json:"plans" doc:"Route plans that go by it."`
}

// DeckUpload is a deck that is not in force yet.
type DeckUpload struct {
	Deck   string    `json:"deck"`
	Author string    `json:"author"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
	Octets uint64    `json:"octets"`
	Have   uint64    `json:"have"`
}

// DeckFault is a plan that cannot be gone by.
type DeckFault struct {
	Plan string `json:"plan"`
	Why  string `json:"why"`
}

// DeckInfo is the answer of GET /v1/decks/show.
type DeckInfo struct {
	DeckHead
	Prefixes int           `json:"prefixes"`
	Carriers []DeckCarrier `json:"carriers"`
	Unknown  []string      `json:"unknown_groups" doc:"Groups of rows that the document does not have as pstn-provider: these rows are passed over."`
}

// DeckCarrier is a carrier of a deck.
type DeckCarrier struct {
	Carrier string `json:"carrier"`
	Rows    int    `json:"rows"`
	Blocked int    `json:"blocked" doc:"Rows that say that it takes no calls."`
	Later   int    `json:"later" doc:"Rows that are not in effect yet."`
	Over    int    `json:"over" doc:"Rows that are not in effect any more."`
}

// DeckQuestion is what GET /v1/decks/quote asks.
type DeckQuestion struct {
	Number, Plan, Deck string
	At                 time.Time // zero: now
}

// DeckQuote is the answer of GET /v1/decks/quote.
type DeckQuote struct {
	Number   string      `json:"number"`
	At       time.Time   `json:"at"`
	Edition  uint64      `json:"edition"`
	Currency string      `json:"currency,omitempty"`
	Sold     *DeckPrice  `json:"sold,omitempty" doc:"What the customer pays."`
	Routes   int         `json:"routes" doc:"How many of the carriers are tried, the first ones."`
	Carriers []DeckPrice `json:"carriers"`
	Until    *time.Time  `json:"until,omitempty" doc:"When another row comes into effect or ends."`
	Why      string      `json:"why,omitempty" doc:"Why nobody is tried."`
}

// DeckPrice is the row of a carrier, or the price, that counts.
type DeckPrice struct {
	Carrier     string     `json:"carrier,omitempty"`
	Group       string     `json:"group,omitempty"`
	Prefix      string     `json:"prefix,omitempty"`
	Rate        string     `json:"rate,omitempty" doc:"Of a minute, exact; block where the carrier takes no calls."`
	Increment   uint32     `json:"increment,omitempty"`
	MinDuration uint32     `json:"min_duration,omitempty"`
	Priority    uint32     `json:"priority,omitempty"`
	From        *time.Time `json:"effective_from,omitempty"`
	To          *time.Time `json:"effective_to,omitempty"`
	ASR         *float64   `json:"asr,omitempty" doc:"Percent of calls to the carrier that were answered, where enough were made."`
	Margin      string     `json:"margin,omitempty" doc:"What is left of the price."`
	LeftOut     string     `json:"left_out,omitempty" doc:"Why it is not tried."`
	Next        []DeckNext `json:"next,omitempty" doc:"Rows that come into effect later."`
}

// DeckNext is a row that comes into effect later.
type DeckNext struct {
	Prefix string    `json:"prefix"`
	Rate   string    `json:"rate"`
	From   time.Time `json:"effective_from"`
}

// DeckImport says what is done with a list.
type DeckImport struct {
	Name                     string
	Carrier, Group, Currency string // of lines that name none
	OnlyCarrier              string // the list replaces the rows of this carrier alone
	DryRun                   bool
	Author, Reason, Key      string
	Expect                   *uint64
}

// DeckApplied is the answer to a change of the rate decks.
type DeckApplied struct {
	Generation uint64   `json:"generation"`
	Edition    uint64   `json:"edition"`
	Deck       string   `json:"deck"`
	Kind       string   `json:"kind,omitempty"`
	Currency   string   `json:"currency,omitempty"`
	Rows       int      `json:"rows"`
	Before     int      `json:"rows_before" doc:"Rows of the deck until then."`
	Carriers   int      `json:"carriers"`
	Octets     int      `json:"octets"`
	DryRun     bool     `json:"dry_run,omitempty"`
	Unchanged  bool     `json:"unchanged,omitempty"`
	Notes      []string `json:"notes" doc:"What may not be meant."`
	Millis     int64    `json:"ms" doc:"How long it took until this node routed by it."`
}

// DeckRemoval is the body of POST /v1/decks/remove.
type DeckRemoval struct {
	Name   string  `json:"name" minLength:"1" maxLength:"63"`
	Force  bool    `json:"force,omitempty" doc:"Also when a plan goes by it, whose calls get 503 then."`
	Author string  `json:"author,omitempty" maxLength:"256"`
	Reason string  `json:"reason,omitempty" maxLength:"256"`
	Expect *uint64 `json:"expect_edition,omitempty" doc:"Only when this edition is in force."`
	Key    string  `json:"key,omitempty" maxLength:"128" doc:"The same key twice is one change."`
}

// DeckRecord is one change of the rate decks.
type DeckRecord struct {
	Generation uint64    `json:"generation"`
	Edition    uint64    `json:"edition"`
	Deck       string    `json:"deck,omitempty" doc:"Empty: the generation was raised by a restore or a recovery."`
	Removed    bool      `json:"removed,omitempty"`
	Author     string    `json:"author"`
	Reason     string    `json:"reason"`
	At         time.Time `json:"at"`
	Rows       uint64    `json:"rows"`
}

// DeckHistory is the answer of GET /v1/decks/history.
type DeckHistory struct {
	Changes []DeckRecord `json:"changes" doc:"Oldest first."`
}

// maxDeckList bounds a list in octets: some 100 for each row of the largest deck.
const maxDeckList = 256 << 20

func (s *Server) registerDecks(api huma.API, mux *http.ServeMux) {
	b := s.cfg.Backend.Decks
	if b == nil {
		mux.HandleFunc("/v1/decks", absent)
		mux.HandleFunc("/v1/decks/", absent)
		return
	}
	huma.Register(api, operation(http.MethodGet, "/v1/decks", "decks", "The rate decks beside the document"),
		func(ctx context.Context, _ *struct{}) (*reply[DeckList], error) { return answer(ctx, s, b.Decks) })
	huma.Register(api, operation(http.MethodGet, "/v1/decks/history", "decks-history", "Changes of the rate decks"),
		func(ctx context.Context, _ *struct{}) (*reply[DeckHistory], error) {
			return answer(ctx, s, b.DeckHistory)
		})
	huma.Register(api, operation(http.MethodGet, "/v1/decks/show", "show-deck", "What is in a rate deck", http.StatusNotFound), s.showDeck)
	huma.Register(api, operation(http.MethodGet, "/v1/decks/quote", "quote", "What rate decks make of a number", http.StatusNotFound, http.StatusUnprocessableEntity), s.quoteDeck)
	huma.Register(api, operation(http.MethodPost, "/v1/decks/remove", "remove-deck", "Take a rate deck out",
		http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable), s.removeDeck)
	// Lists of millions are read and written as they come, which the API's framework does not.
	mux.HandleFunc("POST /v1/decks/import", s.importDeck)
	mux.HandleFunc("GET /v1/decks/export", s.exportDeck)
}

func (s *Server) showDeck(ctx context.Context, in *struct {
	Name string `query:"name" required:"true" maxLength:"63"`
},
) (*reply[DeckInfo], error) {
	return answer(ctx, s, func(ctx context.Context) (DeckInfo, error) { return s.cfg.Backend.Decks.ShowDeck(ctx, in.Name) })
}

type quoteInput struct {
	Number string    `query:"number" required:"true" maxLength:"64" doc:"E.164 with its +."`
	Plan   string    `query:"plan" maxLength:"63" doc:"By the decks of this route plan."`
	Deck   string    `query:"deck" maxLength:"63" doc:"By this deck alone."`
	At     time.Time `query:"at" doc:"As of then; now without it."`
}

func (s *Server) quoteDeck(ctx context.Context, in *quoteInput) (*reply[DeckQuote], error) {
	return answer(ctx, s, func(ctx context.Context) (DeckQuote, error) {
		return s.cfg.Backend.Decks.QuoteDeck(ctx, DeckQuestion{Number: in.Number, Plan: in.Plan, Deck: in.Deck, At: in.At})
	})
}

func (s *Server) removeDeck(ctx context.Context, in *struct{ Body DeckRemoval }) (*reply[DeckApplied], error) {
	s.audit(ctx, "rate deck removed", in.Body.Author, "deck", in.Body.Name, "reason", in.Body.Reason)
	return answer(ctx, s, func(ctx context.Context) (DeckApplied, error) { return s.cfg.Backend.Decks.RemoveDeck(ctx, in.Body) })
}

// importDeck takes a rate deck as the body of a request.
func (s *Server) importDeck(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	i := DeckImport{
		Name: q.Get("name"), Carrier: q.Get("carrier"), Group: q.Get("group"), Currency: q.Get("currency"), OnlyCarrier: q.Get("only_carrier"),
		DryRun: q.Get("dry_run") == "true", Author: q.Get("author"), Reason: q.Get("reason"), Key: r.Header.Get("Idempotency-Key"),
	}
	for _, text := range []string{i.Name, i.Carrier, i.Group, i.Currency, i.OnlyCarrier, i.Author, i.Reason, i.Key} {
		if len(text) > 256 {
			refuse(w, newProblem(http.StatusUnprocessableEntity, "name, carrier, group, currency, author, reason and key have at most 256 octets each", ""))
			return
		}
	}
	if text := q.Get("expect_edition"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			refuse(w, newProblem(http.StatusUnprocessableEntity, "expect_edition is no number", ""))
			return
		}
		i.Expect = &n
	}
	s.audit(r.Context(), "import of a rate deck", i.Author, "deck", i.Name, "reason", i.Reason, "only_carrier", i.OnlyCarrier, "dry_run", i.DryRun)
	s.patient(w)
	v, err := s.cfg.Backend.Decks.ImportDeck(r.Context(), http.MaxBytesReader(w, r.Body, maxDeckList), i)
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = newProblem(http.StatusRequestEntityTooLarge, large.Error(), "part it into several decks")
	}
	if err != nil {
		s.refuseDeck(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.cfg.Logger.Warn("the answer to an import of a rate deck was not taken", "error", err)
	}
}

func (s *Server) refuseDeck(w http.ResponseWriter, r *http.Request, err error) {
	if faults, ok := errors.AsType[trunkgroup.Faults](err); ok {
		p := newProblem(http.StatusUnprocessableEntity, fmt.Sprintf("%d of the rows cannot be; nothing was changed", len(faults)), "each fault names its remedy")
		for _, f := range faults {
			p.Faults = append(p.Faults, Fault{f.Path, f.Line, f.Column, f.Problem, f.Remedy})
		}
		refuse(w, p)
		return
	}
	s.refuseNumbers(w, r, err)
}

// exportDeck writes a deck as a list. What fails when a part of it was written cuts the
// connection, so that nobody takes it for whole.
func (s *Server) exportDeck(w http.ResponseWriter, r *http.Request) {
	s.patient(w)
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	err := s.cfg.Backend.Decks.ExportDeck(r.Context(), w, r.URL.Query().Get("name"))
	if errors.Is(err, ErrNotFound) {
		s.refuseDeck(w, r, err)
		return
	}
	if err != nil {
		s.cfg.Logger.Warn("an export of a rate deck was not whole", "error", err)
		panic(http.ErrAbortHandler)
	}
}
