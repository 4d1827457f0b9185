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
)

const (
	// orderFrame is the kind of the frames by which a node passes an operator's
	// order to a node of the site that it is about (DEC-25), and answers.
	orderFrame byte = 33
	// orderWait is how long an answer is waited for.
	orderWait = 2 * time.Second
	// maxOrders bounds the orders of other nodes that are carried out at one time:
	// each writes to the disk.
	maxOrders = 16
	// maxOrderFrame bounds a frame in octets.
	maxOrderFrame = 64 << 10
)

// Kinds of what is in a frame, its first octet.
const (
	orderAsks    byte = 1
	orderAnswers byte = 2
)

// order is what an operator wants of a site. A node of a later version may know
// more verbs and fields.
type order struct {
	Verb    string `json:"verb"` // state, states, weight, drain, renew, probing
	Site    string `json:"site"` // whose nodes carry it out
	Subject string `json:"subject,omitempty"`
	State   string `json:"state,omitempty"`
	Weight  int    `json:"weight,omitempty"`
	On      bool   `json:"on,omitempty"` // of drain: drain it; of probing: pause it
	Author  string `json:"author,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Via     string `json:"via,omitempty"` // the node that the operator asked, of a passed order
}

// orderAnswer is what became of it.
type orderAnswer struct {
	Node  string           `json:"node"`
	Knobs []admin.KnobLine `json:"knobs,omitempty"` // the first of them
	Count int              `json:"count,omitempty"`
	Error string           `json:"error,omitempty"`
	Kind  string           `json:"kind,omitempty"` // of the error: not_found, invalid, refused, unavailable
}

// maxAnswered bounds the knobs that an answer names.
const maxAnswered = 100

// orders passes orders between nodes.
type orders struct {
	app     *App
	carry   func(order) ([]admin.KnobLine, error)
	slots   chan struct{}
	working sync.WaitGroup

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan orderAnswer
	stopped bool
}

func newOrders(a *App, carry func(order) ([]admin.KnobLine, error)) *orders {
	return &orders{app: a, carry: carry, slots: make(chan struct{}, maxOrders), waiting: make(map[uint64]chan orderAnswer)}
}

// stop waits for what is being carried out.
func (o *orders) stop() {
	o.mu.Lock()
	o.stopped = true
	o.mu.Unlock()
	o.working.Wait()
}

// errNoAnswer says that it is not known what became of an order.
var errNoAnswer = errors.New("did not answer in time: the order may have been carried out; tandem knob list shows what is in force")

// pass gives an order to a node of its site and waits for the answer. A node that
// cannot be reached is skipped; one that does not answer is not, since nobody knows
// what it did.
func (o *orders) pass(ctx context.Context, what order) (orderAnswer, error) {
	what.Via = o.app.cfg.Name
	ctx, cancel := context.WithTimeout(ctx, orderWait)
	defer cancel()
	nodes := o.nodes(what.Site)
	for _, node := range nodes {
		id, answer := o.expect()
		if o.app.node.Send(node, orderFrame, encodeOrder(orderAsks, id, what)) {
			select {
			case got := <-answer:
				o.forget(id)
				return got, got.err()
			case <-ctx.Done():
				o.forget(id)
				return orderAnswer{}, fmt.Errorf("%w: node %s %w", admin.ErrUnavailable, node, errNoAnswer)
			}
		}
		o.forget(id)
	}
	if len(nodes) == 0 {
		return orderAnswer{}, fmt.Errorf("%w: site %s has no node that this one sees: ask one of its own", admin.ErrUnavailable, what.Site)
	}
	return orderAnswer{}, fmt.Errorf("%w: no node of site %s takes anything from this one: ask one of its own", admin.ErrUnavailable, what.Site)
}

// nodes lists those of a site that are up and that have members.
func (o *orders) nodes(site string) []string {
	witness := make(map[string]bool)
	for _, m := range o.app.node.Members() {
		witness[m.Name] = m.Meta.Witness
	}
	var names []string
	for _, p := range o.app.node.Peers() {
		if p.Site == site && p.Up && !witness[p.Name] {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (o *orders) expect() (id uint64, answer chan orderAnswer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	answer = make(chan orderAnswer, 1)
	o.waiting[o.last] = answer
	return o.last, answer
}

func (o *orders) forget(id uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.waiting, id)
}

// frame takes an order of another node, or the answer to one of ours. It must not
// hold the stream up.
func (o *orders) frame(from string, _ byte, payload []byte) {
	kind, id, body, ok := splitOrder(payload)
	switch {
	case !ok:
		o.app.log.Debug("an order of another node cannot be read", "peer", from)
	case kind == orderAsks:
		o.asked(from, id, body)
	case kind == orderAnswers:
		o.answered(id, body)
	}
}

func (o *orders) asked(from string, id uint64, body []byte) {
	reply := func(a orderAnswer) {
		a.Node = o.app.cfg.Name
		o.app.node.Send(from, orderFrame, encodeOrder(orderAnswers, id, a))
	}
	var what order
	if err := json.Unmarshal(body, &what); err != nil {
		reply(answerOf(nil, fmt.Errorf("%w: the order cannot be read", admin.ErrInvalid)))
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopped {
		return
	}
	select {
	case o.slots <- struct{}{}:
	default:
		reply(answerOf(nil, fmt.Errorf("%w: too many orders at once", admin.ErrUnavailable)))
		return
	}
	what.Via = from // whatever it says itself
	o.working.Go(func() {
		answer := answerOf(o.carry(what))
		o.app.auditOrder(&what, &answer)
		reply(answer)
		<-o.slots
	})
}

func (o *orders) answered(id uint64, body []byte) {
	o.mu.Lock()
	answer := o.waiting[id]
	o.mu.Unlock()
	var a orderAnswer
	if answer == nil || json.Unmarshal(body, &a) != nil {
		return // too late, or of no use: whoever waits hears of the time
	}
	select {
	case answer <- a:
	default:
	}
}

// answerOf words what became of an order for the wire.
func answerOf(knobs []admin.KnobLine, err error) orderAnswer {
	a := orderAnswer{Knobs: knobs[:min(len(knobs), maxAnswered)], Count: len(knobs)}
	if err == nil {
		return a
	}
	a.Error, a.Kind = err.Error(), "failed"
	for kind, is := range orderErrors {
		if errors.Is(err, is) {
			a.Kind = kind
		}
	}
	return a
}

// orderErrors are the kinds of errors by their names on the wire.
var orderErrors = map[string]error{
	"not_found": admin.ErrNotFound, "invalid": admin.ErrInvalid, "refused": admin.ErrRefused, "unavailable": admin.ErrUnavailable,
}

// err is the error of an answer, of the same kind.
func (a *orderAnswer) err() error {
	if a.Error == "" {
		return nil
	}
	if is, ok := orderErrors[a.Kind]; ok {
		return fmt.Errorf("%w: node %s says: %s", is, a.Node, a.Error)
	}
	return fmt.Errorf("%w: node %s says: %s", admin.ErrUnavailable, a.Node, a.Error)
}

// encodeOrder makes a frame.
func encodeOrder(kind byte, id uint64, v any) []byte {
	b := binary.BigEndian.AppendUint64([]byte{kind}, id)
	body, err := json.Marshal(v)
	if err != nil {
		return b // cannot be: there is nothing in it that JSON does not know; whoever gets it says so
	}
	return append(b, body...)
}

// splitOrder takes a frame apart.
func splitOrder(b []byte) (kind byte, id uint64, body []byte, ok bool) {
	if len(b) < 9 || len(b) > maxOrderFrame {
		return 0, 0, nil, false
	}
	return b[0], binary.BigEndian.Uint64(b[1:]), b[9:], true
}
