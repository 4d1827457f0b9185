package sim

import (
	"errors"
	"strings"
	"syscall"
	"time"

	"github.com/tandem-sbc/tandem/sbc/transport"
)

// expire does what is due on one call.
func (c *Caller) expire(k *call) {
	if again, over := k.invite.expire(c.now); again {
		c.repeat(c.nodes[k.current().node].target, k.invite.data)
	} else if over && k.phase == phaseInvite {
		c.advance(k, "timeout")
	}
	if again, _ := k.canceller.expire(c.now); again {
		c.repeat(k.cancelTo, k.canceller.data)
	}
	if again, over := k.out.expire(c.now); again {
		c.repeat(k.hop, k.out.data)
	} else if over && k.crossed {
		c.finish(k, HungUp, "")
	} else if over {
		c.finish(k, Broken, k.outName+": no response")
	}
	if again, over := k.change.expire(c.now); again {
		c.repeat(k.reply, k.change.data)
	} else if over {
		c.faults.add(c.now, FaultNoACK, string(k.callID), "200 to a re-INVITE")
	}
	for i := range k.strays {
		if again, over := k.strays[i].expire(c.now); again {
			c.repeat(k.strays[i].hop, k.strays[i].data)
		} else if over {
			c.faults.add(c.now, FaultUnanswered, string(k.callID), "BYE of an unwanted answer")
		}
	}
	c.clocks(k)
	c.schedule(k)
}

// clocks does what the caller planned for this moment.
func (c *Caller) clocks(k *call) {
	if reached(k.cancelAt, c.now) {
		c.giveUp(k, Cancelled)
	}
	if reached(k.setupEnd, c.now) {
		c.giveUp(k, NoFinal)
	}
	if reached(k.thenAt, c.now) && !k.out.running() {
		c.act(k)
	}
	if reached(k.holdEnd, c.now) && k.phase == phaseUp {
		c.sendBye(k)
	}
	if !reached(k.overdue, c.now) {
		return
	}
	k.overdue = time.Time{}
	switch {
	case k.phase == phaseInvite:
		c.finish(k, CancelFailed, "no final response within 64*T1 of the CANCEL")
		c.release(k)
	case k.phase == phaseOverdue:
		c.release(k)
	}
}

func (c *Caller) repeat(t transport.Target, data []byte) {
	c.counts.Repeats++
	c.transmit(t, data, 0)
}

// finish records the end of a call. Its slot stays for 64*T1 when responses to
// its INVITEs or BYEs may still come.
func (c *Caller) finish(k *call, result Result, why string) {
	if k.phase == phaseOverdue || k.phase == phaseFree {
		return
	}
	if k.phase == phaseUp || k.phase == phaseBye {
		c.counts.Up--
	}
	r := c.record(k, result, why)
	k.phase = phaseOverdue
	k.invite.stop()
	k.out.stop()
	k.change.stop()
	k.cancelAt, k.setupEnd, k.holdEnd, k.thenAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	k.overdue = c.now.Add(c.cfg.Timers.lifetime())
	c.counts.Active--
	c.counts.Finished++
	c.counts.Results[result]++
	if result.Failed() {
		c.counts.Failed++
	}
	if c.cfg.Done != nil {
		c.cfg.Done(r)
	}
	k.notify(Event{Record: r})
	c.settleOverdue(k)
}

// settleOverdue frees the slot of a recorded call once nothing is awaited.
func (c *Caller) settleOverdue(k *call) {
	if k.phase != phaseOverdue {
		return
	}
	for i := range k.tries {
		if !k.tries[i].final && k.tries[i].cause != "refused" {
			return
		}
	}
	for i := range k.strays {
		if k.strays[i].running() {
			return
		}
	}
	c.release(k)
}

// record writes down what became of a call.
func (c *Caller) record(k *call, result Result, why string) *CallRecord {
	r := &CallRecord{
		N: k.n, CallID: string(k.callID), From: k.From, To: k.To, Started: k.started, Result: result, Why: why,
		Code: k.code, Reason: k.reason, Node: c.nodes[k.current().node].Name, Member: k.member, ByeReason: k.byReason,
	}
	if !k.first.IsZero() {
		r.PDD = k.first.Sub(k.started)
	}
	if !k.answered.IsZero() {
		r.Setup, r.Talk = k.answered.Sub(k.started), c.now.Sub(k.answered)
		r.EndedBy = "caller"
		if result == HungUp {
			r.EndedBy = "callee"
		}
	}
	r.Tries = make([]Try, len(k.tries))
	for i := range k.tries {
		y := &k.tries[i]
		end := y.ended
		if end.IsZero() {
			end = c.now
		}
		r.Tries[i] = Try{Node: c.nodes[y.node].Name, At: y.at.Sub(k.started), Code: y.code, Cause: y.cause, Elapsed: end.Sub(y.at)}
	}
	return r
}

// story tells in one line what each node said.
func (c *Caller) story(k *call) string {
	var b strings.Builder
	for i := range k.tries {
		y := &k.tries[i]
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(c.nodes[y.node].Name + ": " + y.words() + " after " + y.ended.Sub(y.at).Round(time.Millisecond).String())
	}
	return b.String()
}

// Cancel gives a call up as its caller would: by CANCEL before the answer, by BYE
// after it. It reports whether the call was there.
func (c *Caller) Cancel(now time.Time, ref uint64) bool {
	c.now = now
	k := c.lookup(tokenOf(ref))
	if k == nil || k.phase == phaseOverdue {
		return false
	}
	switch k.phase {
	case phaseInvite:
		c.giveUp(k, Cancelled)
	case phaseUp:
		c.sendBye(k)
	}
	c.schedule(k)
	return true
}

// Request sends a request in the dialog of an answered call: INVITE, UPDATE,
// INFO or OPTIONS. It reports whether the call is up and no request is out.
func (c *Caller) Request(now time.Time, ref uint64, method string) bool {
	c.now = now
	k := c.lookup(tokenOf(ref))
	if k == nil || k.phase != phaseUp || k.out.running() {
		return false
	}
	k.Then = append(k.Then[:k.then:k.then], Action{Method: method})
	c.act(k)
	c.schedule(k)
	return true
}

// Failed takes the news that a message could not be sent: ref is what was given
// to the Sender, or the error names the branch (ICMP).
func (c *Caller) Failed(now time.Time, ref uint64, err error) {
	c.now = now
	t := tokenOf(ref)
	if ref == 0 {
		var icmp *transport.ICMPError
		if !errors.As(err, &icmp) {
			return
		}
		var ok bool
		if t, ok = c.parseToken(icmp.Branch, len(magic)); !ok {
			return
		}
	}
	k := c.lookup(t)
	if k == nil {
		return
	}
	y := k.try(t.seq)
	switch {
	case y != nil && !y.spoke && k.phase == phaseInvite && y == k.current():
		if !errors.Is(err, syscall.ECONNREFUSED) {
			y.detail = err.Error()
		}
		c.advance(k, "refused")
	case y != nil:
		k.canceller.stop()
	case t.seq == k.outSeq && k.out.running():
		k.out.stop()
		c.finish(k, Broken, k.outName+": "+err.Error())
	}
	c.schedule(k)
}

// Closed takes the news that a stream is gone: INVITEs that went over it without
// any response go to the next node.
func (c *Caller) Closed(now time.Time, flow transport.Flow) {
	c.now = now
	for i, n := range c.nodes {
		if flow == 0 || n.flow != flow {
			continue
		}
		n.flow = 0
		for _, k := range c.calls {
			if k.phase == phaseInvite && k.current().node == i && !k.current().spoke {
				c.advance(k, "closed")
				c.schedule(k)
			}
		}
	}
}

// learnFlow notes which stream leads to which node.
func (c *Caller) learnFlow(p *transport.Packet) {
	for _, n := range c.nodes {
		if n.Transport == p.Transport && n.Addr == p.Source {
			n.flow = p.Flow
		}
	}
}
