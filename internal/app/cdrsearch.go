package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/cdrindex"
	"github.com/tandem-sbc/tandem/monitor/cdrquery"
)

const (
	// searchTime is how long a question for call records may take in all, and pageTime how
	// long a node may take for a page of its answer.
	searchTime = 6 * time.Second
	pageTime   = 2500 * time.Millisecond
	// pageRows and pageBytes bound a page: what is asked for by an operator shares the
	// stream with calls, so little of it is under way at one time.
	pageRows  = 500
	pageBytes = 64 << 10
	// idsAtOnce is for how many calls a node is asked at one time.
	idsAtOnce = 500
)

// recordNode is a node that has call records.
type recordNode struct {
	name, site string
	away       string // why it cannot be asked
}

// recordPage is a page of a node's answer.
type recordPage struct {
	Rows   []json.RawMessage `json:"rows,omitempty"`
	Next   cdrindex.Cursor   `json:"next,omitzero"`
	Done   int               `json:"done,omitempty"` // ids that have been answered for
	Left   int               `json:"left,omitempty"` // records that are too long for a frame
	Oldest int64             `json:"oldest,omitempty"`
	Behind int64             `json:"behind,omitempty"`
	Error  string            `json:"error,omitempty"`
}

// recordQuestion is what a node is asked: for records that match, from a place on, or for
// all records of calls.
type recordQuestion struct {
	Query *cdrquery.Query `json:"query,omitempty"`
	From  cdrindex.Cursor `json:"from,omitzero"`
	IDs   []string        `json:"ids,omitempty"`
}

// recordSearch is one operator's question to all nodes.
type recordSearch struct {
	ask   func(ctx context.Context, node string, q recordQuestion) (recordPage, error)
	query cdrquery.Query
	nodes []recordNode

	mu      sync.Mutex
	book    cdrquery.Book
	answers map[string]*admin.RecordNode
	more    bool
}

// run asks all nodes at the same time, twice: for what matches, and then for everything
// about these calls. Only so a record that another node has superseded is not shown, and the
// part of the peer site is (DEC-24).
func (s *recordSearch) run(ctx context.Context) admin.CallRecords {
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	s.answers = make(map[string]*admin.RecordNode)
	for _, n := range s.nodes {
		s.answers[n.name] = &admin.RecordNode{Name: n.name, Site: n.site, Missing: n.away}
	}
	s.each(func(n recordNode) error { return s.matching(ctx, n) })
	found, more := s.book.Calls(&s.query)
	ids := make([]string, len(found))
	for i, c := range found {
		ids[i] = c.ID()
	}
	if len(s.nodes) > 1 && len(ids) > 0 {
		s.each(func(n recordNode) error { return s.byID(ctx, n, ids) })
	}
	found, _ = s.book.Calls(&s.query)
	return s.words(found, more || s.more)
}

// each runs fn for every node that can be asked, and notes why one did not answer.
func (s *recordSearch) each(fn func(recordNode) error) {
	var done sync.WaitGroup
	for _, n := range s.nodes {
		if s.answers[n.name].Missing != "" {
			continue
		}
		done.Go(func() {
			if err := fn(n); err != nil {
				s.mu.Lock()
				s.answers[n.name].Missing = err.Error()
				s.mu.Unlock()
			}
		})
	}
	done.Wait()
}

// matching takes pages of a node's answer until there are as many records as calls are
// wanted: it has no others among the latest so many.
func (s *recordSearch) matching(ctx context.Context, n recordNode) error {
	q := recordQuestion{Query: &s.query}
	for rows := 0; ; {
		page, err := s.page(ctx, n, q)
		if err != nil {
			return err
		}
		rows += len(page.Rows)
		if page.Next == (cdrindex.Cursor{}) {
			return nil
		}
		if rows >= s.query.Limit {
			s.mu.Lock()
			s.more = true
			s.mu.Unlock()
			return nil
		}
		q.From = page.Next
	}
}

// byID takes all that a node has of calls.
func (s *recordSearch) byID(ctx context.Context, n recordNode, ids []string) error {
	for len(ids) > 0 {
		page, err := s.page(ctx, n, recordQuestion{IDs: ids[:min(len(ids), idsAtOnce)]})
		if err != nil {
			return err
		}
		if page.Done < 1 || page.Done > len(ids) {
			return errors.New("its answer makes no sense")
		}
		ids = ids[page.Done:]
	}
	return nil
}

// page asks for one page and takes what is in it.
func (s *recordSearch) page(ctx context.Context, n recordNode, q recordQuestion) (recordPage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pageTime, errors.New("it did not answer in time; --from and --to make the question smaller"))
	defer cancel()
	page, err := s.ask(ctx, n.name, q)
	if err == nil && page.Error != "" {
		err = errors.New(page.Error)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range page.Rows {
		row, bad := cdrquery.Parse(text)
		if bad != nil {
			err = cmp.Or(err, fmt.Errorf("a record of it does not read: %w", bad))
			continue
		}
		s.book.Add(row)
	}
	a := s.answers[n.name]
	if a.Behind = page.Behind; page.Oldest > 0 {
		oldest := time.UnixMilli(page.Oldest).UTC()
		a.Oldest = &oldest
	}
	if page.Left > 0 {
		err = cmp.Or(err, fmt.Errorf("%d of its records are too long to be passed on: ask the node itself", page.Left))
	}
	return page, err
}

// words puts the answer together.
func (s *recordSearch) words(calls []*cdrquery.Call, more bool) admin.CallRecords {
	out := admin.CallRecords{Complete: true, More: more, Nodes: []admin.RecordNode{}, Calls: []admin.CallRecord{}}
	for _, n := range s.nodes {
		a := s.answers[n.name]
		out.Complete = out.Complete && a.Missing == ""
		out.Nodes = append(out.Nodes, *a)
	}
	slices.SortFunc(out.Nodes, func(a, b admin.RecordNode) int {
		return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.Name, b.Name))
	})
	for _, c := range calls {
		call := admin.CallRecord{Handoffs: []json.RawMessage{}}
		if c.Record != nil {
			call.Record = c.Record.Raw
		}
		for _, h := range c.Handoffs {
			call.Handoffs = append(call.Handoffs, h.Raw)
		}
		out.Calls = append(out.Calls, call)
	}
	return out
}
