package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/document"
)

// Edit is one wanted change of the document.
type Edit struct {
	// What says in the history what it is about: trunk group acme-in.
	What string
	// Make edits the document. It may be called again, with another document, and refuses
	// with an error what is no longer as it was when the change was wanted.
	Make func(d *document.Document) error
}

// change is an edit that waits for its turn.
type change struct {
	Edit
	done chan error
}

// gather is how long the first of several changes waits for the others.
const gather = 30 * time.Millisecond

// maxReason bounds the reason of a revision, as nodes do.
const maxReason = 256

// Commit makes an edit part of the document in force. Edits of several callers become one
// revision; one that is refused does not hold up the others.
func (c *Client) Commit(ctx context.Context, e Edit) error {
	ch := &change{Edit: e, done: make(chan error, 1)}
	c.mu.Lock()
	c.waiting = append(c.waiting, ch)
	lead := !c.busy
	c.busy = true
	c.mu.Unlock()
	if lead {
		c.work(context.WithoutCancel(ctx))
	}
	return <-ch.done
}

// work makes changes until nobody waits. One caller does it for all.
func (c *Client) work(ctx context.Context) {
	for {
		time.Sleep(gather)
		c.mu.Lock()
		batch := c.waiting
		c.waiting = nil
		c.busy = len(batch) > 0
		c.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		c.commit(ctx, batch)
	}
}

// commit makes the changes in one revision, or when that is refused each in one of its own.
func (c *Client) commit(ctx context.Context, batch []*change) {
	err := c.apply(ctx, batch)
	if err == nil || len(batch) == 1 {
		for _, ch := range batch {
			ch.done <- err
		}
		return
	}
	for _, ch := range batch {
		ch.done <- c.apply(ctx, []*change{ch})
	}
}

// apply edits the newest document and has it applied; when somebody else was faster, again.
func (c *Client) apply(ctx context.Context, batch []*change) error {
	deadline := time.Now().Add(c.cfg.Patience)
	for {
		d, err := c.Document(ctx)
		if err != nil {
			return err
		}
		if d.Revision == 0 {
			return errors.New("the cluster has no document yet: apply the first one with tandem config apply, with its sites and at least one trunk group")
		}
		text, err := edited(d.Text, batch)
		if err != nil {
			return fmt.Errorf("revision %s of %s (%s): %w", d.Version, d.Author, d.Reason, err)
		}
		if string(text) == d.Text {
			return nil
		}
		err = c.put(ctx, d, text, reason(batch))
		if !conflict(err) || time.Now().After(deadline) {
			return err
		}
	}
}

// edited is the document with the edits.
func edited(text string, batch []*change) ([]byte, error) {
	d, err := document.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	for _, ch := range batch {
		if err := ch.Make(d); err != nil {
			return nil, err
		}
	}
	return d.Bytes(), nil
}

// put has a document applied in the place of the one that it was made from. The key stays
// the same over all nodes and repetitions: a change that was made although nobody could say
// so is answered as made.
func (c *Client) put(ctx context.Context, from Document, text []byte, reason string) error {
	var applied Version
	err := c.each(ctx, request{
		has: "revision", method: http.MethodPost, path: "/v1/config", body: text, kind: "application/yaml", key: "terraform-" + rand.Text(),
		query: url.Values{"expect_revision": {strconv.FormatUint(from.Revision, 10)}, "author": {c.cfg.Author}, "reason": {reason}},
	}, into(&applied))
	if err == nil {
		c.mu.Lock()
		if c.seen.Older(applied) {
			c.seen = applied
		}
		c.mu.Unlock()
		return nil
	}
	if p, ok := errors.AsType[*Problem](err); ok && final(err) {
		if conflict(err) { // the next document read must be as new as the one that was in the way
			c.mu.Lock()
			if v := (Version{from.Generation, p.Revision}); c.seen.Older(v) {
				c.seen = v
			}
			c.mu.Unlock()
		}
		return err
	}
	// Nobody said what became of it. What is in force says so.
	d, readErr := c.Document(ctx)
	switch {
	case readErr == nil && d.Text == string(text):
		return nil
	case readErr == nil && !from.Older(d.Version):
		return fmt.Errorf("the change was not made: %w", err)
	}
	return fmt.Errorf("it is not known whether the change was made (%s); look at tandem config history and plan again: %w", reason, err)
}

func reason(batch []*change) string {
	what := make([]string, len(batch))
	for i, ch := range batch {
		what[i] = ch.What
	}
	s := strings.Join(what, "; ")
	if len(s) > maxReason {
		cut := fmt.Sprintf("... (%d changes)", len(batch))
		s = strings.ToValidUTF8(s[:maxReason-len(cut)], "") + cut
	}
	return s
}
