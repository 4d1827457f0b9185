package app

import (
	"context"
	"encoding/binary"
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
	// recordFrame is the kind of the frames by which a node asks another one for call
	// records, and answers: what it is, a number, JSON.
	recordFrame byte = 34
	// maxSearches bounds the questions of other nodes that are answered at one time.
	maxSearches = 4
	// maxRecordFrame bounds the JSON of a frame in octets, below what the interconnect takes.
	maxRecordFrame = 240 << 10
)

// Kinds of what is in a frame, its first octet.
const (
	recordAsks    byte = 1
	recordAnswers byte = 2
)

// alarmIndex: the index of call records is not kept, or is being made anew.
const alarmIndex = "cdr_index"

// callIndex finds the call records of this node, and asks the others for theirs.
type callIndex struct {
	app     *App
	index   *cdrindex.Index // nil: switched off
	slots   chan struct{}
	working sync.WaitGroup
	ctx     context.Context // ends with the node; answers to others live in it
	cancel  context.CancelFunc

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan recordPage
	stopped bool
}

func newCallIndex(a *App) (*callIndex, error) {
	c := &callIndex{app: a, slots: make(chan struct{}, maxSearches), waiting: make(map[uint64]chan recordPage)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	cfg := &a.cfg.CDR.Index
	if !cfg.Enabled {
		return c, nil
	}
	var err error
	c.index, err = cdrindex.New(cdrindex.Config{
		Path: cfg.Path, Records: a.cfg.CDR.Path, Keep: cfg.Keep, Size: cfg.Size, OnTrouble: c.trouble, Logger: a.log.With("component", "cdr"),
	})
	return c, err
}

func (c *callIndex) start() {
	if c.index != nil {
		c.index.Start()
	}
}

// stop waits for what is being answered.
func (c *callIndex) stop(context.Context) error {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.cancel()
	c.working.Wait()
	if c.index != nil {
		c.index.Stop()
	}
	return nil
}

// trouble raises and clears the alarm.
func (c *callIndex) trouble(err error) {
	if err == nil {
		c.app.node.ClearAlarm(alarmIndex)
		return
	}
	c.app.node.RaiseAlarm(alarmIndex, fmt.Sprintf("the index of call records (%s): %v; calls and records are not concerned, tandem cdr search finds less; "+
		"it is tried again by itself: see that the disk has room and works", c.app.cfg.CDR.Index.Path, err))
}

// nodes lists the nodes that have records, this one first.
func (c *callIndex) nodes() []recordNode {
	witness := make(map[string]bool)
	for _, m := range c.app.node.Members() {
		witness[m.Name] = m.Meta.Witness
	}
	list := []recordNode{{name: c.app.cfg.Name, site: c.app.cfg.Site}}
	for _, p := range c.app.node.Peers() {
		if witness[p.Name] {
			continue
		}
		n := recordNode{name: p.Name, site: p.Site}
		if !p.Up {
			n.away = "it cannot be reached"
			if !p.Since.IsZero() {
				n.away += " since " + p.Since.UTC().Format(time.RFC3339)
			}
		}
		list = append(list, n)
	}
	return list
}

// ask puts a question to a node and waits for its answer.
func (c *callIndex) ask(ctx context.Context, node string, q recordQuestion) (recordPage, error) {
	if node == c.app.cfg.Name {
		return c.answer(ctx, q), nil
	}
	body, err := json.Marshal(q)
	if err != nil {
		return recordPage{}, err
	}
	id, answer := c.expect()
	defer c.forget(id)
	if !c.app.node.Send(node, recordFrame, recordHead(recordAsks, id, body)) {
		return recordPage{}, errors.New("it takes nothing from this node")
	}
	select {
	case page := <-answer:
		return page, nil
	case <-ctx.Done():
		return recordPage{}, context.Cause(ctx)
	}
}

func (c *callIndex) expect() (id uint64, answer chan recordPage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	answer = make(chan recordPage, 1)
	c.waiting[c.last] = answer
	return c.last, answer
}

func (c *callIndex) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// answer answers a question from this node's own records.
func (c *callIndex) answer(ctx context.Context, q recordQuestion) (page recordPage) {
	if c.index == nil {
		return recordPage{Error: "it keeps no index (cdr.index.enabled)"}
	}
	var rows [][]byte
	var err error
	switch {
	case q.Query != nil:
		if err = q.Query.Check(); err != nil {
			break
		}
		var p cdrindex.Page
		p, err = c.index.Search(ctx, q.Query, q.From, cdrindex.Bounds{Rows: min(q.Query.Limit, pageRows), Bytes: pageBytes})
		rows, page.Next = p.Rows, p.Next
	case len(q.IDs) > 0:
		rows, page.Done, err = c.index.ByID(ctx, q.IDs[:min(len(q.IDs), idsAtOnce)], cdrindex.Bounds{Rows: pageRows, Bytes: pageBytes})
	default:
		err = fmt.Errorf("%w: a later version of the program asks for something else", cdrquery.ErrQuery)
	}
	if err != nil {
		page.Error = err.Error()
		return page
	}
	for _, r := range rows {
		page.Rows = append(page.Rows, r)
	}
	st := c.index.Stats()
	page.Behind = st.Behind
	if !st.Oldest.IsZero() {
		page.Oldest = st.Oldest.UnixMilli()
	}
	return page
}

// frame takes a question of another node, or the answer to one of ours. It must not hold
// the stream up.
func (c *callIndex) frame(from string, _ byte, payload []byte) {
	if len(payload) < 9 {
		return
	}
	id, body := binary.BigEndian.Uint64(payload[1:]), payload[9:]
	switch payload[0] {
	case recordAsks:
		c.asked(from, id, body)
	case recordAnswers:
		c.mu.Lock()
		answer := c.waiting[id]
		c.mu.Unlock()
		var page recordPage
		if answer == nil || json.Unmarshal(body, &page) != nil {
			return // too late, or of no use: whoever waits hears of the time
		}
		select {
		case answer <- page:
		default:
		}
	}
}

func (c *callIndex) asked(from string, id uint64, body []byte) {
	reply := func(page recordPage) {
		c.app.node.Send(from, recordFrame, recordHead(recordAnswers, id, fitFrame(page)))
	}
	var q recordQuestion
	if len(body) > maxRecordFrame || json.Unmarshal(body, &q) != nil {
		reply(recordPage{Error: "it cannot read the question"})
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	select {
	case c.slots <- struct{}{}:
	default:
		reply(recordPage{Error: "it answers too many questions already"})
		return
	}
	c.working.Go(func() {
		ctx, cancel := context.WithTimeoutCause(c.ctx, pageTime, errors.New("it took too long to look; --from and --to make the question smaller"))
		defer cancel()
		reply(c.answer(ctx, q))
		<-c.slots
	})
}

// fitFrame makes the JSON of a page, without records that are too long for a frame: a page
// holds one record at least, however long.
func fitFrame(page recordPage) []byte {
	page.Rows = slices.DeleteFunc(page.Rows, func(r json.RawMessage) bool {
		if len(r) <= maxRecordFrame-pageBytes-1024 {
			return false
		}
		page.Left++
		return true
	})
	body, err := json.Marshal(page)
	if err != nil || len(body) > maxRecordFrame {
		return []byte(`{"error":"its answer finds no room in a frame"}`)
	}
	return body
}

func recordHead(kind byte, id uint64, body []byte) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{kind}, id), body...)
}

// SearchCalls implements admin.Records.
func (d *desk) SearchCalls(ctx context.Context, q cdrquery.Query) (admin.CallRecords, error) {
	if err := q.Check(); err != nil {
		return admin.CallRecords{}, fmt.Errorf("%w: %w", admin.ErrInvalid, err)
	}
	c := d.app.finder
	s := &recordSearch{ask: c.ask, query: q, nodes: c.nodes()}
	return s.run(ctx), nil
}
