package app

import (
	"context"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/tandem-sbc/tandem/cluster/join"
	"github.com/tandem-sbc/tandem/cluster/pki"
	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/monitor/admin"
)

// tokensFile is where a node remembers the join tokens that it made.
const tokensFile = "tokens.json"

// door lets new nodes in, on a node that has an authority's key.
type door struct {
	app  *App
	book *join.Book
}

// newDoor opens the book of tokens; nil on a node that admits nobody.
func newDoor(a *App) (*door, error) {
	if a.cfg.Cluster.TLS.AuthorityKey == "" {
		return nil, nil
	}
	book, err := join.Open(filepath.Join(a.cfg.DataDir, tokensFile))
	if err != nil {
		return nil, err
	}
	d := &door{app: a, book: book}
	a.node.OnJoin(func() bool { return book.Any(time.Now()) }, d.take)
	return d, nil
}

// take serves one newcomer.
func (d *door) take(conn net.Conn, from string) error {
	node, err := d.book.Serve(conn, from, time.Now(), d.admit)
	if err != nil {
		return fmt.Errorf("join of %q: %w", node, err)
	}
	d.app.log.Warn("a new node was given its certificate and the cluster keys", "peer", node, "source", from)
	return nil
}

// admit makes what a newcomer is given.
func (d *door) admit(node string, csr []byte) (*join.Admission, error) {
	t := d.app.keys.current()
	if t.authority == nil {
		return nil, errors.New("this node holds no authority's key any more")
	}
	cert, err := t.authority.Sign(csr, d.app.cfg.Cluster.ID, node, pki.NodeLife, time.Now())
	if err != nil {
		return nil, err
	}
	a := &join.Admission{Certificate: string(cert), Keys: t.file().Format()}
	for _, c := range t.identity.Authorities() {
		a.Authorities += string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
	}
	for _, m := range d.app.node.Members() {
		if m.Name != node {
			a.Peers = append(a.Peers, join.Peer{Name: m.Name, Site: m.Meta.Site, Gossip: m.Address, Interconnect: m.Meta.Interconnect})
		}
	}
	return a, nil
}

// file is the text that another node's key file gets: with the seed, which it could not derive from a later key.
func (t *trust) file() config.KeyFile {
	f := config.KeyFile{Seed: t.seed}
	for _, s := range t.secrets {
		f.Keys = append(f.Keys, config.NewSecret(s))
	}
	return f
}

// NewToken implements admin.Keys.
func (d *desk) NewToken(_ context.Context, o admin.TokenOrder) (admin.Token, error) {
	a := d.app
	t := a.keys.current()
	if a.door == nil || t.authority == nil {
		return admin.Token{}, fmt.Errorf("%w: this node holds no key of an authority (cluster.tls.ca_key): ask a node that does, or make the files by hand with tandem cluster cert", admin.ErrRefused)
	}
	if !config.IsName(o.Node) {
		return admin.Token{}, fmt.Errorf("%w: %q is not a name of a node", admin.ErrInvalid, o.Node)
	}
	for _, s := range a.node.KeyStates() {
		if s.Node == o.Node && (s.Up || s.Self) && !o.Replace {
			return admin.Token{}, fmt.Errorf("%w: a node %s is in the cluster and up; --replace makes a token for another machine of that name", admin.ErrRefused, o.Node)
		}
	}
	var address string
	for _, m := range a.node.Members() {
		if m.Name == a.cfg.Name {
			address = m.Meta.Interconnect
		}
	}
	// The newcomer holds this node's certificate against it, whichever authority signs for him.
	issuer := t.identity.Issuer()
	if issuer == nil {
		return admin.Token{}, fmt.Errorf("%w: the authority that signed this node's certificate is not in cluster.tls.ca itself", admin.ErrRefused)
	}
	life := join.DefaultLife
	if o.Seconds > 0 {
		life = time.Duration(o.Seconds) * time.Second
	}
	tok, until, err := a.door.book.Add(time.Now(), join.Token{
		Cluster: a.cfg.Cluster.ID, Node: o.Node, Issuer: a.cfg.Name, Address: address,
		Authority: sha256.Sum256(issuer.Raw),
	}, life)
	if errors.Is(err, join.ErrTooMany) {
		err = as(admin.ErrRefused, err)
	}
	if err != nil {
		return admin.Token{}, err
	}
	a.log.Info("join token made", "id", tok.ID.String(), "for", o.Node, "until", until.UTC().Format(time.RFC3339), "author", o.Author)
	return admin.Token{Token: tok.Text(), ID: tok.ID.String(), Node: o.Node, Until: until}, nil
}
