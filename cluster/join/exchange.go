package join

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/cluster/pki"
)

// exchangeTimeout bounds the newcomer's side.
const exchangeTimeout = 15 * time.Second

// Serve answers one newcomer on a stream on which this node has proven itself. admit makes the
// admission of a node for its request; it is called once the token was found good, and the token is used by then, whatever
// comes of it. The error tells why nobody was admitted.
func (b *Book) Serve(rw io.ReadWriter, from string, now time.Time, admit func(node string, csr []byte) (*Admission, error)) (node string, err error) {
	var r Request
	if err := receive(rw, &r); err != nil {
		return "", err
	}
	var id ID
	var secret [32]byte
	if copy(id[:], r.ID) != len(id) || copy(secret[:], r.Secret) != len(secret) || len(r.Secret) != len(secret) || len(r.ID) != len(id) {
		return "", ErrToken
	}
	if err := b.Redeem(now, id, secret, r.Node, from); err != nil {
		// He may know it: only who has the secret hears more than that the token is unknown.
		return r.Node, errors.Join(err, send(rw, answer{Error: err.Error()}))
	}
	a, err := admit(r.Node, r.CSR)
	if err != nil {
		return r.Node, errors.Join(err, send(rw, answer{Error: "the node cannot issue a certificate: " + err.Error()}))
	}
	return r.Node, send(rw, answer{Admission: a})
}

// Join uses a token and returns what the cluster gives, with the private key that was made for it (PEM). address, when not
// empty, is dialled in place of the one in the token.
func Join(ctx context.Context, t Token, address string) (a *Admission, key []byte, err error) {
	key, request, err := pki.NewRequest()
	if err != nil {
		return nil, nil, err
	}
	if address == "" {
		address = t.Address
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, nil, fmt.Errorf("join: %w", err)
	}
	defer raw.Close()
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	c := tls.Client(raw, pki.JoinClient(t.Cluster, t.Issuer, t.Authority))
	if err := c.HandshakeContext(ctx); err != nil {
		return nil, nil, fmt.Errorf("join: %s at %s: %w", t.Issuer, address, pki.Classify(err))
	}
	if err := send(c, Request{ID: t.ID[:], Secret: t.Secret[:], Node: t.Node, CSR: request}); err != nil {
		return nil, nil, err
	}
	var got answer
	if err := receive(c, &got); err != nil {
		return nil, nil, err
	}
	if got.Error != "" || got.Admission == nil {
		return nil, nil, fmt.Errorf("%s refuses: %s", t.Issuer, strings.TrimPrefix(got.Error, "join: "))
	}
	if _, err := pki.Parse(t.Cluster, t.Node, []byte(got.Admission.Certificate), key, []byte(got.Admission.Authorities)); err != nil {
		return nil, nil, fmt.Errorf("join: what %s gave does not fit: %w", t.Issuer, err)
	}
	return got.Admission, key, nil
}
