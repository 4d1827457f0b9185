package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/cluster/pki"
	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/monitor/audit"
	"github.com/tandem-sbc/tandem/sbc"
)

// alarmKeyFiles: a file of keys or certificates was changed and cannot be used; the
// node goes on with what it has.
const alarmKeyFiles = "key_files"

// trust is what the files of cluster keys and certificates held when they were last read.
type trust struct {
	keys     *keyring.Keyring
	secrets  [][]byte // of keys, in their order
	seed     uint64
	identity *pki.Identity // nil: streams between nodes are without TLS
	// authority admits new nodes; nil on most.
	authority *pki.Authority
	// unable says why there is none although one is named: the node works, and admits nobody.
	unable error
}

// loadTrust reads the files. Whatever does not fit together is an error; that a certificate
// has expired is not, since a node without peers still takes calls.
func loadTrust(cfg *config.Config) (*trust, error) {
	c := &cfg.Cluster
	file := config.KeyFile{Keys: c.Keys, Seed: c.Seed}
	if c.KeyFile != "" {
		var err error
		if file, err = config.ReadKeyFile(c.KeyFile); err != nil {
			return nil, fmt.Errorf("cluster.key_file: %w", err)
		}
	}
	t := &trust{seed: file.Seed}
	for _, k := range file.Keys {
		t.secrets = append(t.secrets, k.Bytes())
	}
	if t.seed == 0 {
		t.seed = sbc.Seed(t.secrets[0])
	}
	var err error
	if t.keys, err = keyring.New(t.secrets...); err != nil {
		return nil, fmt.Errorf("cluster.key_file: %w", err)
	}
	if c.TLS.Cert == "" {
		return t, nil
	}
	if t.identity, err = loadIdentity(cfg); err != nil {
		return nil, err
	}
	if c.TLS.AuthorityKey == "" {
		return t, nil
	}
	// An authority that was taken out of cluster.tls.ca must go at once, whether or not its key is still named.
	if t.authority, err = loadAuthority(c.TLS); err != nil {
		t.unable = fmt.Errorf("cluster.tls.ca_key: this node admits nobody: %w", err)
	}
	return t, nil
}

func loadAuthority(files config.ClusterTLS) (*pki.Authority, error) {
	key, err := config.ReadPrivate(files.AuthorityKey)
	if err != nil {
		return nil, err
	}
	authorities, err := os.ReadFile(files.CA)
	if err != nil {
		return nil, err
	}
	return pki.ParseAuthority(authorities, key)
}

func loadIdentity(cfg *config.Config) (*pki.Identity, error) {
	files := cfg.Cluster.TLS
	cert, err := os.ReadFile(files.Cert)
	if err != nil {
		return nil, fmt.Errorf("cluster.tls.cert: %w", err)
	}
	key, err := config.ReadPrivate(files.Key)
	if err != nil {
		return nil, fmt.Errorf("cluster.tls.key: %w", err)
	}
	authorities, err := os.ReadFile(files.CA)
	if err != nil {
		return nil, fmt.Errorf("cluster.tls.ca: %w", err)
	}
	id, err := pki.Parse(cfg.Cluster.ID, cfg.Name, cert, key, authorities)
	if err != nil {
		return nil, fmt.Errorf("cluster.tls: %w", err)
	}
	return id, nil
}

// CheckKeys reports what is wrong with the files of keys and certificates of a node file, an expired
// certificate included.
func CheckKeys(cfg *config.Config) error {
	t, err := loadTrust(cfg)
	if err == nil {
		err = t.unable
	}
	if err == nil && t.identity != nil {
		if err = t.identity.Check(time.Now()); err != nil {
			err = fmt.Errorf("cluster.tls: %w", err)
		}
	}
	return err
}

// Seed is what a cluster key gives for the hashes that all nodes compute alike; see sbc.Seed.
func Seed(key []byte) uint64 { return sbc.Seed(key) }

// keeper watches the files of keys and certificates and has the running node use what
// they come to hold.
type keeper struct {
	app   *App
	log   *slog.Logger
	files []string
	certs []*liveTLS

	mu      sync.Mutex
	trust   *trust
	stamps  map[string]stamp // of the last attempt
	failing int              // attempts in a row that failed
	cancel  context.CancelFunc
	done    chan struct{}
}

// stamp tells whether a file may have changed.
type stamp struct {
	at   time.Time
	size int64
	mode os.FileMode
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size(), info.Mode()}
}

// newKeeper reads all files for the first time.
func newKeeper(a *App) (*keeper, error) {
	k := &keeper{app: a, log: a.log.With("component", "keys"), done: make(chan struct{})}
	c := a.cfg.Cluster
	for _, path := range []string{c.KeyFile, c.TLS.Cert, c.TLS.Key, c.TLS.CA, c.TLS.AuthorityKey} {
		if path != "" {
			k.files = append(k.files, path)
		}
	}
	k.stamps = k.look()
	var err error
	if k.trust, err = loadTrust(a.cfg); err != nil {
		return nil, err
	}
	return k, nil
}

// watchTLS adds the files of a listener, or of the connections that this node opens.
func (k *keeper) watchTLS(l *liveTLS) {
	for _, path := range []string{l.files.Cert, l.files.Key, l.files.CA} {
		if path != "" {
			k.files = append(k.files, path)
		}
	}
	k.certs = append(k.certs, l)
	k.stamps = k.look()
}

// current is what the node proves itself by now.
func (k *keeper) current() *trust {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.trust
}

func (k *keeper) start() {
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	if k.trust.unable != nil {
		k.app.node.RaiseAlarm(alarmKeyFiles, k.trust.unable.Error())
	}
	go k.run(ctx)
}

func (k *keeper) stop(context.Context) error {
	if k.cancel != nil {
		k.cancel()
		<-k.done
	}
	return nil
}

func (k *keeper) run(ctx context.Context) {
	defer close(k.done)
	tick := time.NewTicker(k.app.cfg.Cluster.Reload)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			k.round(false)
		}
	}
}

func (k *keeper) look() map[string]stamp {
	now := make(map[string]stamp, len(k.files))
	for _, path := range k.files {
		now[path] = stampOf(path)
	}
	return now
}

// round reads the files when one of them may have changed, the last attempt failed, or somebody asked.
func (k *keeper) round(asked bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.look()
	changed := false
	for path, s := range now {
		changed = changed || s != k.stamps[path]
	}
	if !changed && !asked && k.failing == 0 {
		return
	}
	k.stamps = now
	err := k.apply()
	if err == nil {
		if k.failing > 0 {
			k.log.Info("the files of keys and certificates are good again")
		}
		k.failing = 0
		k.app.node.ClearAlarm(alarmKeyFiles)
		return
	}
	// A certificate and its key are two files: between the copies of the two they do not fit.
	if k.failing++; k.failing >= 2 || asked {
		k.app.node.RaiseAlarm(alarmKeyFiles, "the node goes on with what it has: "+err.Error())
	}
	if changed || asked {
		k.log.Warn("the files of keys and certificates cannot be used", "error", err)
	}
}

// apply reads everything and puts into force what differs. Each part stands for itself: a
// bad certificate of a listener keeps no cluster key back.
func (k *keeper) apply() error {
	var faults []error
	next, err := loadTrust(k.app.cfg)
	if err == nil && next.identity != nil && !next.identity.Same(k.trust.identity) {
		// What no peer takes is not put in the place of what they take.
		err = next.identity.Check(time.Now())
	}
	if err != nil {
		faults = append(faults, err)
	} else {
		faults = append(faults, k.adopt(next), next.unable)
	}
	for _, c := range k.certs {
		changed, err := c.reload()
		if changed {
			k.log.Info("certificate of sip replaced", "use", c.use)
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func (k *keeper) adopt(next *trust) error {
	var faults []error
	old := k.trust
	if !next.keys.Same(old.keys) {
		common := false
		for _, id := range next.keys.IDs() {
			common = common || old.keys.Has(id)
		}
		k.app.audit.Add(audit.Entry{Via: "self", Verb: "cluster keys changed", Detail: "uses " + next.keys.Primary().String(), Outcome: audit.Done})
		k.log.Info("cluster keys changed", "uses", next.keys.Primary().String(), "holds", fmt.Sprint(next.keys.IDs()))
		if !common {
			k.log.Warn("none of the cluster keys is one of those before: nodes that have not changed yet are out until they have")
		}
		faults = append(faults, k.app.node.SetKeys(next.keys))
		if k.app.server != nil {
			faults = append(faults, k.app.server.SetKeys(next.secrets[0], next.secrets[1:]...))
		}
	}
	if next.identity != nil && !next.identity.Same(old.identity) {
		k.log.Info("certificate replaced", "until", next.identity.Expires().UTC().Format(time.RFC3339), "fingerprint", pki.Fingerprint(next.identity.Leaf())[:16])
		k.app.node.SetIdentity(next.identity, k.app.cfg.Cluster.TLS.Plain)
	}
	if next.seed != old.seed {
		// Nodes that run keep the old one; one that starts now would be alone with the new one.
		faults = append(faults, fmt.Errorf("cluster.key_file: the seed is another one than that of the running nodes: "+
			"change keys with tandem cluster key add|use|remove, which keeps it; the line seed=%016x is missing", old.seed))
		next.seed = old.seed
	}
	k.trust = next
	return errors.Join(faults...)
}

// Reload reads the files of keys and certificates now, and returns when what they say is in force.
func (a *App) Reload() { a.keys.round(true) }

// identityOf says whether the node is to speak TLS between nodes, in the words of package cluster.
func (t *trust) apply(c *cluster.Config, plain bool) {
	c.Keys, c.Identity, c.Plain = t.keys, t.identity, plain
}
