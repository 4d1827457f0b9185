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
	mine, err := l.message(purpose, target, l.Keys.Primary())
	if err != nil {
		return Remote{}, err
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
	version, err := common(mine, theirs)
	if err != nil {
		return Remote{}, err
	}
	dialerKey := l.Keys.Derive(dialerLabel)
	proof := mac(dialerKey, sent, received)
	start := time.Now()
	if _, err := rw.Write(proof); err != nil {
		return Remote{}, fmt.Errorf("hello: send proof: %w", err)
	}
	var answer [1 + macLength]byte
	if _, err := io.ReadFull(rw, answer[:]); err != nil {
		return Remote{}, fmt.Errorf("hello: read proof: %w", err)
	}
	want := mac(l.Keys.Derive(acceptorLabel), sent, received, answer[:1])
	if !hmac.Equal(want, answer[1:]) {
		return Remote{}, ErrKey
	}
	r := theirs.remote(version)
	r.Purpose, r.RTT = purpose, time.Since(start)
	if err := status(answer[0]).err(); err != nil {
		return r, err
	}
	if target != "" && r.Node != target {
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
		return Remote{}, ErrKey
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
