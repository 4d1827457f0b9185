package hello

import (
	"crypto/hmac"
	"fmt"
	"io"
	"time"
)

// Dial runs the dialer's side on a fresh stream, whose deadline the caller has
// set. target is the node that is meant; empty takes any member of the cluster.
// On an error the stream is useless; a Remote with a name then tells who
// refused.
func Dial(rw io.ReadWriter, l Local, purpose Purpose, target string) (Remote, error) {
	offer := l.Keys.Primary()
	if l.Keys.Has(l.Offer) {
		offer = l.Offer
	}
	mine, err := l.message(purpose, target, offer)
	if err != nil {
		return Remote{}, err
	}
	if l.Renewal {
		mine.flags |= flagRenewal
	}
	sent, err := send(rw, mine)
	if err != nil {
		return Remote{}, fmt.Errorf("hello: send: %w", err)
	}
	theirs, received, err := receive(rw)
	if err != nil {
		return Remote{}, err
	}
	if theirs.cluster != l.Cluster {
		return Remote{}, ErrCluster
	}
	if theirs.key != offer {
		return Remote{}, &UnknownKeyError{Offered: offer, Peer: theirs.key, Held: l.Keys.Has(theirs.key)}
	}
	version, err := common(mine, theirs)
	if err != nil {
		return Remote{}, err
	}
	dialerKey, _ := l.Keys.DeriveFor(offer, dialerLabel)
	acceptorKey, _ := l.Keys.DeriveFor(offer, acceptorLabel)
	proof := mac(dialerKey, sent, received)
	start := time.Now()
	if _, err := rw.Write(proof); err != nil {
		return Remote{}, fmt.Errorf("hello: send proof: %w", err)
	}
	var answer [1 + macLength]byte
	if _, err := io.ReadFull(rw, answer[:]); err != nil {
		return Remote{}, fmt.Errorf("hello: read proof: %w", err)
	}
	want := mac(acceptorKey, sent, received, answer[:1])
	if !hmac.Equal(want, answer[1:]) {
		return Remote{}, ErrKey
	}
	r := theirs.remote(version)
	r.Purpose, r.RTT = purpose, time.Since(start)
	if err := status(answer[0]).err(); err != nil {
		return r, err
	}
	switch {
	case l.Proven != "" && r.Node != l.Proven:
		return r, ErrForged
	case target != "" && r.Node != target:
		return r, ErrIdentity
	}
	return r, nil
}

// Accept runs the acceptor's side. takes says whether streams of a purpose are
// wanted. A Remote with a name beside an error tells which member was refused.
func Accept(rw io.ReadWriter, l Local, takes func(Purpose) bool) (Remote, error) {
	theirs, received, err := receive(rw)
	if err != nil {
		return Remote{}, err
	}
	if theirs.cluster != l.Cluster {
		return Remote{}, ErrCluster
	}
	dialerKey, ok := l.Keys.DeriveFor(theirs.key, dialerLabel)
	if !ok {
		return Remote{}, l.unknownKey(rw, theirs)
	}
	acceptorKey, _ := l.Keys.DeriveFor(theirs.key, acceptorLabel)
	mine, err := l.message(theirs.purpose, theirs.node, theirs.key)
	if err != nil {
		return Remote{}, err
	}
	sent, err := send(rw, mine)
	if err != nil {
		return Remote{}, fmt.Errorf("hello: send: %w", err)
	}
	version, err := common(mine, theirs)
	if err != nil {
		return Remote{}, err
	}
	var proof [macLength]byte
	if _, err := io.ReadFull(rw, proof[:]); err != nil {
		return Remote{}, fmt.Errorf("hello: read proof: %w", err)
	}
	if !hmac.Equal(mac(dialerKey, received, sent), proof[:]) {
		return Remote{}, ErrKey
	}
	verdict := l.judge(theirs, takes)
	answer := append([]byte{byte(verdict)}, mac(acceptorKey, received, sent, []byte{byte(verdict)})...)
	if _, err := rw.Write(answer); err != nil {
		return Remote{}, fmt.Errorf("hello: send proof: %w", err)
	}
	r := theirs.remote(version)
	r.Purpose = theirs.purpose
	return r, verdict.err()
}
