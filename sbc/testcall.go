package sbc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sip"
)

// Errors of Test.
var (
	// ErrTestRate: a node makes one test call per second at most.
	ErrTestRate = errors.New("another test call has just begun: one per second")
	// ErrTestStopped: the node stops.
	ErrTestStopped = errors.New("the node stops")
)

// Bounds of test calls.
const (
	testPause  = time.Second      // between the begins of two
	testWait   = 25 * time.Second // for a final response, over all members
	testRecord = 5 * time.Second  // for the record, once the caller has hung up
	testQueue  = 32               // messages that wait for the caller
)

// TestOrder is a test call, and how long it may last.
type TestOrder struct {
	b2bua.TestCall
	// SentBy and Branch are those of the INVITE's Via.
	SentBy, Branch string
	// Ring is how long it may ring, Hold how long it stays answered.
	Ring, Hold time.Duration
}

// TestResult is what became of a test call.
type TestResult struct {
	Code     int // the caller's final response
	Reason   string
	PDD      time.Duration // to the first 18x or 2xx; 0 when there was none
	Setup    time.Duration // to the final response
	Answered bool
	GivenUp  bool        // the caller gave up: it rang for long enough, or nobody said a word
	Record   *cdr.Record // nil when it did not come in time
}

// testCalls are the callers of test calls, by Call-ID.
type testCalls struct {
	mu   sync.Mutex
	last time.Time
	live map[string]*testCaller
}

// testCaller is what a shard tells a caller.
type testCaller struct {
	said   chan *sip.Message
	record chan *cdr.Record
}

// begin makes room for a caller.
func (c *testCalls) begin(now time.Time, callID string) (*testCaller, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.last) < testPause {
		return nil, ErrTestRate
	}
	c.last = now
	if c.live == nil {
		c.live = make(map[string]*testCaller)
	}
	caller := &testCaller{said: make(chan *sip.Message, testQueue), record: make(chan *cdr.Record, 1)}
	c.live[callID] = caller
	return caller, nil
}

func (c *testCalls) end(callID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.live, callID)
}

func (c *testCalls) find(callID string) *testCaller {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live[callID]
}

// say gives a message of a shard to its caller. The octets are the shard's.
func (c *testCalls) say(b []byte) {
	m, fault := sip.Parse([]byte(string(b)))
	if fault != nil {
		return
	}
	if caller := c.find(string(m.CallID())); caller != nil {
		select {
		case caller.said <- m:
		default: // repetitions of what it has
		}
	}
}

// finished gives a record to the caller whose call it is of.
func (c *testCalls) finished(r *cdr.Record) {
	if caller := c.find(r.SIPCallID); caller != nil {
		copied := *r
		select {
		case caller.record <- &copied:
		default:
		}
	}
}

// Test makes a test call and waits for its end. Its leg to us is inside: nothing of it
// is on a socket.
func (s *Server) Test(ctx context.Context, o TestOrder) (TestResult, error) {
	callID := string(o.Message.CallID())
	caller, err := s.tests.begin(time.Now(), callID)
	if err != nil {
		return TestResult{}, err
	}
	defer s.tests.end(callID)
	u := &testAgent{s: s, sh: s.shardOf(o.Message), o: &o, caller: caller, start: time.Now()}
	u.sh.push(event{kind: evAsk, ask: func(core *b2bua.Shard) { core.Test(time.Now(), &o.TestCall) }})
	if err := u.call(ctx); err != nil {
		return u.result, err
	}
	u.settle(ctx)
	return u.result, nil
}

// testAgent is the caller of one test call.
type testAgent struct {
	s      *Server
	sh     *shard
	o      *TestOrder
	caller *testCaller
	start  time.Time
	rang   bool
	gone   bool // it has sent CANCEL
	result TestResult
	to     string // of the final response
}

// call waits for the final response.
func (u *testAgent) call(ctx context.Context) error {
	wait := time.NewTimer(testWait)
	defer wait.Stop()
	for {
		select {
		case m := <-u.caller.said:
			if m.IsRequest() {
				u.reply(m)
				continue
			}
			if m.CSeqMethod() != sip.INVITE {
				continue
			}
			if done := u.response(m); done {
				return nil
			}
			if m.Status()/10 == 18 && !u.rang {
				u.rang = true
				u.result.PDD = time.Since(u.start)
				wait.Reset(u.o.Ring)
			}
		case <-wait.C:
			if u.gone {
				return errors.New("the test call got no final response")
			}
			u.gone, u.result.GivenUp = true, true
			u.send("CANCEL sip:test SIP/2.0", "1 CANCEL", string(u.o.Message.Header(sip.To)), u.o.Branch)
			wait.Reset(testRecord)
		case <-ctx.Done():
			u.send("CANCEL sip:test SIP/2.0", "1 CANCEL", string(u.o.Message.Header(sip.To)), u.o.Branch)
			return ctx.Err()
		case <-u.s.stopped:
			return ErrTestStopped
		}
	}
}

// response takes a response to the INVITE; done with a final one.
func (u *testAgent) response(m *sip.Message) (done bool) {
	if m.Status() < 200 {
		return false
	}
	u.result.Code, u.result.Reason, u.result.Setup = m.Status(), cdr.CauseOf(m.Status()).Name, time.Since(u.start)
	u.to = string(m.Header(sip.To))
	if m.Status() >= 300 {
		u.send("ACK sip:test SIP/2.0", "1 ACK", u.to, u.o.Branch)
		return true
	}
	u.result.Answered = true
	if u.result.PDD == 0 {
		u.result.PDD = u.result.Setup
	}
	u.send("ACK sip:test SIP/2.0", "1 ACK", u.to, u.o.Branch+"ack")
	return true
}

// settle holds an answered call for its time, hangs up and waits for the record.
func (u *testAgent) settle(ctx context.Context) {
	hold := time.NewTimer(u.o.Hold)
	defer hold.Stop()
	if !u.result.Answered {
		hold.Reset(testRecord)
	}
	hungUp := !u.result.Answered
	for {
		select {
		case r := <-u.caller.record:
			u.result.Record = r
			return
		case m := <-u.caller.said:
			if m.IsRequest() {
				u.reply(m)
			}
		case <-hold.C:
			if hungUp {
				return
			}
			hungUp = true
			u.send("BYE sip:test SIP/2.0", "2 BYE", u.to, u.o.Branch+"bye")
			hold.Reset(testRecord)
		case <-ctx.Done():
			if !hungUp {
				u.send("BYE sip:test SIP/2.0", "2 BYE", u.to, u.o.Branch+"bye")
			}
			return
		case <-u.s.stopped:
			return
		}
	}
}

// reply answers a request of the far end: it may hang up, and nothing else is changed.
func (u *testAgent) reply(m *sip.Message) {
	code := 488
	switch m.Method() {
	case sip.ACK:
		return
	case sip.BYE, sip.INFO, sip.OPTIONS, sip.MESSAGE:
		code = 200
	}
	u.inject(string(sip.AppendResponse(nil, m, code, "", nil, u.o.Source, nil, nil, nil)))
}

// send writes a request of the caller.
func (u *testAgent) send(line, seq, to, branch string) {
	m := u.o.Message
	var b strings.Builder
	fmt.Fprintf(&b, "%s\r\nVia: SIP/2.0/%s %s;branch=%s\r\nMax-Forwards: 70\r\nFrom: %s\r\nTo: %s\r\nCall-ID: %s\r\nCSeq: %s\r\nContent-Length: 0\r\n\r\n",
		line, strings.ToUpper(u.o.Transport.String()), u.o.SentBy, sip.MagicCookie+branch, m.Header(sip.From), to, m.CallID(), seq)
	u.inject(b.String())
}

// inject gives a message of the caller to the shard.
func (u *testAgent) inject(text string) {
	m, fault := sip.Parse([]byte(text))
	if fault != nil {
		u.s.log.Error("a message of a test call does not parse", "error", fault)
		return
	}
	u.sh.accept(b2bua.TestPacket(m, u.o.Source))
}
