//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/internal/linear"
	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

// change asks a node for one change, once, under an idempotency key. An error means
// that the outcome is not known.
func change(ctx context.Context, n *tandem.Node, document []byte, expect *uint64, key string) (linear.Outcome, error) {
	query := url.Values{"author": {"history"}, "reason": {key}}
	if expect != nil {
		query.Set("expect_revision", strconv.FormatUint(*expect, 10))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://node/v1/config?"+query.Encode(), bytes.NewReader(document))
	if err != nil {
		return linear.Outcome{}, err
	}
	request.Header.Set("Content-Type", "application/yaml")
	request.Header.Set("Idempotency-Key", key)
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", n.Socket())
		},
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return linear.Outcome{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return linear.Outcome{}, err
	}
	var said struct {
		Generation uint64 `json:"generation"`
		Revision   uint64 `json:"revision"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return linear.Outcome{}, fmt.Errorf("%s: %w: %s", n.Name, err, body)
	}
	switch response.StatusCode {
	case http.StatusOK:
		return linear.Outcome{Generation: said.Generation, Revision: said.Revision}, nil
	case http.StatusConflict:
		return linear.Outcome{Conflict: true, Revision: said.Revision}, nil
	}
	return linear.Outcome{}, fmt.Errorf("%s: %s: %s", n.Name, response.Status, body)
}

// configClient changes the document on changing nodes until the context ends. A change
// whose answer was lost is repeated under its key.
func (w *world) configClient(ctx context.Context, id int, h *linear.History) {
	random := rand.New(rand.NewPCG(uint64(id), 7))
	var seen uint64
	for i := 0; ctx.Err() == nil; i++ {
		c := linear.Change{Document: string(withNumber(fmt.Sprintf("+1972%d%06d", 2+id, i)))}
		switch random.IntN(4) {
		case 0:
			read := uint64(linear.Impossible)
			c.Expect = &read
		case 1, 2:
			expect := seen
			c.Expect = &expect
		}
		key := fmt.Sprintf("history-%d-%d", id, i)
		asked := time.Now()
		o := linear.Outcome{Unknown: true}
		for range 30 {
			try, cancel := context.WithTimeout(context.Background(), 6*time.Second)
			answer, err := change(try, w.Nodes[random.IntN(len(w.Nodes))], []byte(c.Document), c.Expect, key)
			cancel()
			if err == nil {
				o, seen = answer, answer.Revision
				break
			}
			pause(ctx, 300*time.Millisecond)
		}
		h.Add(id, c, asked, o, time.Now())
		pause(ctx, time.Duration(random.IntN(800))*time.Millisecond)
	}
}

// pause waits for a while or the end of the context.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// votersOf are the nodes with a vote, as a node sees it.
func votersOf(n *tandem.Node) (int, error) {
	out, err := n.Command("node", "list", "-o", "json")
	if err != nil {
		return 0, err
	}
	var list struct {
		Nodes []struct {
			Raft string `json:"raft"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return 0, err
	}
	count := 0
	for _, x := range list.Nodes {
		if x.Raft == "leader" || x.Raft == "voter" {
			count++
		}
	}
	return count, nil
}

// allVote waits until every node has its vote.
func (w *world) allVote(t testing.TB) {
	t.Helper()
	eventually(t, 3*time.Minute, "all nodes vote", func() error {
		count, err := votersOf(w.Nodes[0])
		return cmp.Or(err, mismatch(count, len(w.Nodes)))
	})
}

func mismatch(got, want int) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%d voters, want %d", got, want)
}

// restarted kills a node, with or without its disk, and starts it again.
func (w *world) restarted(t testing.TB, name string, lost bool) {
	t.Helper()
	n := w.Node(lab.Place(name))
	n.Kill()
	if lost {
		if err := os.RemoveAll(n.DataDir()); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, n.Name+" after its restart", n.Ready)
}

// TestConfigHistoryIsLinearizable records a history of changes at all nodes while
// leaders are killed, paused and cut off, sites are cut off and a disk is lost, and
// checks that a single copy of the document could have given it. Calls go on.
func TestConfigHistoryIsLinearizable(t *testing.T) {
	w := theWorld(t)
	l := theLab(t)
	t.Cleanup(func() {
		l.HealSite(lab.Ashburn)
		l.HealSite(lab.Dallas)
		if err := w.Start(); err != nil {
			t.Error(err)
		}
		w.restoreDocument(t)
		w.allVote(t)
		w.settled(t)
	})
	first, err := revisionOf(w.Nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	h := new(linear.History)
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	defer func() { stop(); clients.Wait() }()
	for id := range 4 {
		clients.Go(func() { w.configClient(ctx, id, h) })
	}
	cut := func(site string) func() {
		return func() {
			l.CutSite(site)
			pause(ctx, 6*time.Second)
			l.HealSite(site)
		}
	}
	for _, harm := range []struct {
		what string
		do   func()
	}{
		{"leader killed", func() { w.restarted(t, w.leader(t), false) }},
		{"Ashburn cut off", cut(lab.Ashburn)},
		{"leader paused", func() {
			pid := w.Node(lab.Place(w.leader(t))).Pid()
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Error(err)
			}
			pause(ctx, 6*time.Second)
			if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
				t.Error(err)
			}
		}},
		{"leader killed, disk lost", func() { w.restarted(t, w.leader(t), true) }},
		{"Dallas cut off", cut(lab.Dallas)},
		{"leader killed again", func() { w.restarted(t, w.leader(t), false) }},
	} {
		t.Log(harm.what)
		harm.do()
		pause(ctx, 4*time.Second)
		pstnCall(t, w.Node(lab.Dallas2), acmeNumber, peer.Complete(0))
	}
	stop()
	clients.Wait()
	made, conflicts, unknown := h.Counts()
	t.Logf("%d changes made, %d conflicts and reads, %d unknown", made, conflicts, unknown)
	if made < 20 {
		t.Errorf("only %d changes were made", made)
	}
	begin := linear.Start{Generation: first.Generation, Revision: first.Revision, Document: first.Document}
	if err := h.Check(begin, time.Minute); err != nil {
		t.Error(err)
	}
	w.equalTables(t, first)
}

// TestDEC14_RecoveryFromLostQuorum loses Dallas and the witness for good: calls go
// on in Ashburn, changes do not, until one command there. The dead come back, are
// refused and say so, and rejoin by one command each. Calls go on at all of it.
func TestDEC14_RecoveryFromLostQuorum(t *testing.T) {
	w := theWorld(t)
	a1, a2 := w.Node(lab.Ashburn1), w.Node(lab.Ashburn2)
	t.Cleanup(func() {
		if err := w.Start(); err != nil {
			t.Error(err)
		}
		w.restoreDocument(t)
		w.allVote(t)
		w.settled(t)
	})
	before, err := revisionOf(a1)
	if err != nil {
		t.Fatal(err)
	}
	refusedCommand(t, a1, "there is a leader", nil, "cluster", "recover", w.Name, "--reason", "test")
	gone := []*tandem.Node{w.Node(lab.Dallas1), w.Node(lab.Dallas2), w.Node(lab.Witness1)}
	for _, n := range gone {
		n.Kill()
	}
	eventually(t, time.Minute, "a change fails", func() error {
		begin := time.Now()
		err := apply(a1, withNumber("+19725550170"))
		switch took := time.Since(begin); {
		case err == nil:
			return fmt.Errorf("it was taken")
		case !strings.Contains(err.Error(), "of 5 voters") || took > 3*time.Second:
			return fmt.Errorf("after %v: %w", took, err)
		}
		return nil
	})
	pstnCall(t, a1, acmeNumber, peer.Complete(0))
	eventually(t, 2*time.Minute, "the recovery", func() error {
		_, err := a1.Command("cluster", "recover", w.Name, "--reason", "Dallas and the witness are gone")
		return err
	})
	// What the log of the recovered node holds counts, also the change that failed, when
	// it came to a leader that had not yet seen that it was one no more.
	r, err := revisionOf(a1)
	if err != nil || r.Generation <= before.Generation || r.Document != before.Document && r.Document != string(withNumber("+19725550170")) {
		t.Fatalf("revision %d.%d, %v; want a higher generation than %d and the document before, or the one that was tried:\n%s",
			r.Generation, r.Revision, err, before.Generation, r.Document)
	}
	const number = "+19725550171"
	eventually(t, time.Minute, "a change at the other survivor", func() error { return apply(a2, withNumber(number)) })
	pstnCall(t, a1, number, peer.Complete(0))

	for _, n := range gone {
		if err := n.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range gone {
		eventually(t, time.Minute, n.Name+" says that it was given up", func() error {
			out, err := n.Command("node", "list", "-o", "json")
			if err == nil && !strings.Contains(string(out), "config_superseded") {
				err = fmt.Errorf("it says: %s", out)
			}
			return err
		})
	}
	if err := apply(gone[0], withNumber("+19725550172")); err == nil {
		t.Error("a change was taken by a node of the old epoch")
	}
	pstnCall(t, gone[0], acmeNumber, peer.Complete(0))
	for _, n := range gone {
		command(t, n, "cluster", "rejoin", w.Name)
	}
	w.equalTables(t, before)
	pstnCall(t, gone[1], number, peer.Complete(0))
}
