package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Config is how the demo runs.
type Config struct {
	// Out gets what the audience reads.
	Out io.Writer
	// Keep leaves the sites up after the acts, until the context ends.
	Keep bool
	// Rate is calls per second of each of the four caller programs; 0 means 5.
	Rate float64
	// Key is the text of a fresh cluster key.
	Key []byte
}

// ErrLost means that a call was lost that should not have been, or that the
// cluster did not do what an act demands.
var ErrLost = errors.New("the demo failed")

// Run plays the demo. It ends with ErrLost when a call was lost that should not
// have been.
func Run(ctx context.Context, cfg Config) error {
	// A child ends with the thread that started it (PR_SET_PDEATHSIG).
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if cfg.Rate <= 0 {
		cfg.Rate = 5
	}
	dir, err := os.MkdirTemp("", "tandem-demo-")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p := &play{cfg: cfg, began: time.Now()}
	p.say("Tandem demo: two sites, two nodes each, a witness, four carriers' gateways, four PBXs, all on loopback.")
	setup, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	s, err := open(setup, dir, cfg.Key)
	if err != nil {
		return fmt.Errorf("%w%s", err, tail(dir))
	}
	p.say("Five processes are up after %.1f s. Calls begin.", time.Since(p.began).Seconds())
	callers, hush := context.WithCancel(ctx)
	defer hush()
	if err := s.call(callers, cfg.Rate); err != nil {
		hush()
		s.close()
		return err
	}
	p.s = s
	faults := p.acts(ctx)
	if cfg.Keep && ctx.Err() == nil {
		p.invite()
		<-ctx.Done()
	}
	hush()
	s.close()
	return p.summary(faults)
}

// play is one performance.
type play struct {
	cfg   Config
	s     *stage
	began time.Time
}

func (p *play) say(format string, args ...any) { _, _ = fmt.Fprintf(p.cfg.Out, format+"\n", args...) }

func (p *play) acts(ctx context.Context) (faults []string) {
	for i, a := range acts() {
		if ctx.Err() != nil {
			return faults
		}
		p.say("\n%d. %s\n   %s", i+1, a.title, a.explain)
		before := p.s.tally(ctx)
		if err := p.play(ctx, a); err != nil {
			faults = append(faults, a.title+": "+err.Error())
			continue
		}
		if a.expect != nil {
			if err := a.expect(before, p.s.tally(ctx)); err != nil && ctx.Err() == nil {
				faults = append(faults, a.title+": "+err.Error())
				p.say("   UNEXPECTED: %v", err)
			}
		}
		if a.heal != nil {
			if err := a.heal(p.s); err != nil {
				faults = append(faults, a.title+": heal: "+err.Error())
			}
			p.watch(ctx, 3*time.Second, "healing")
		}
	}
	return faults
}

func (p *play) play(ctx context.Context, a act) error {
	if a.do != nil {
		if err := a.do(p.s); err != nil {
			return err
		}
	}
	p.watch(ctx, a.watch, "")
	return nil
}

// watch prints one line per second.
func (p *play) watch(ctx context.Context, d time.Duration, mark string) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	end := time.After(d)
	last := p.s.tally(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-end:
			return
		case <-tick.C:
			now := p.s.tally(ctx)
			p.say("   %5.1fs  %3d calls/s   answered in dallas %3d, ashburn %3d   handed off %2.0f   failed %d   %s",
				time.Since(p.began).Seconds(), now.answered-last.answered,
				now.site("dallas")-last.site("dallas"), now.site("ashburn")-last.site("ashburn"),
				now.handoffs-last.handoffs, now.failed-last.failed, mark)
			last = now
		}
	}
}

// invite tells how to call the demo from outside.
func (p *play) invite() {
	own, err := os.Executable()
	if err != nil {
		own = "tandem"
	}
	node := places[1] // it has lived through all of it, and its counters with it
	sip, tool := at(node.ip, sitePort), own+" --address unix:"+adminSocket(p.s.dir, node)
	p.say(`
The sites stay up until Ctrl-C. In a second terminal, a call from the PSTN into Dallas:
  sipp -sn uac -i %s -s %s %s -m 1
from a softphone on this machine, calling from %s:
  sip:%s@%s
what was handed off so far, and how the cluster stands:
  curl -s http://%s/metrics | grep tandem_handoffs
  %s node list
  %s member list
  %s explain %s --from %s:5060
`, guestIP, acmeNumber, sip, guestIP, acmeNumber, sip, at(node.ip, metricsPort), tool, tool, tool, acmeNumber, guestIP)
}

// summary counts what happened and judges it.
func (p *play) summary(faults []string) error {
	s := p.s
	started, answered := 0, 0
	for _, l := range s.loads {
		c := l.load.Counts()
		started += c.Started
		answered += c.Answered
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.say("\nSummary after %.0f s: %d calls, %d answered; %d lost with their node, %d that rang at a far end when it died, %d lost otherwise.",
		time.Since(p.began).Seconds(), started, answered, len(s.excuse), len(s.rang), len(s.lost))
	for i, r := range s.lost {
		if i == 10 {
			p.say("  and %d more", len(s.lost)-i)
			break
		}
		p.say("  lost: %s to %s at %s by node %s: %s %d %s", r.CallID, r.To, r.Started.Format("15:04:05.000"), r.Node, r.Result, r.Code, r.Why)
	}
	for _, f := range faults {
		p.say("  %s", f)
	}
	if len(s.lost) == 0 && len(faults) == 0 && answered > 0 {
		p.say("No call was lost that a living member could have taken.")
		return nil
	}
	if kept := s.keepLogs(); kept != "" {
		p.say("Logs, records and configurations are in %s", kept)
	}
	return ErrLost
}

// tail returns the last lines of the nodes' logs, for a demo that did not
// start.
func tail(dir string) string {
	var out strings.Builder
	for _, p := range places {
		b, err := os.ReadFile(filepath.Join(dir, p.name+".log"))
		if err != nil || len(b) == 0 {
			continue
		}
		if len(b) > 600 {
			b = b[len(b)-600:]
		}
		fmt.Fprintf(&out, "\n%s: ...%s", p.name, b)
	}
	return out.String()
}
