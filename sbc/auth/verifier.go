package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// MinKey is the least length of the cluster key in bytes.
const MinKey = 16

// Outcome says what to do with a request.
type Outcome uint8

const (
	// None: the header holds no Digest credentials for our realm. Look at the next Authorization header, else challenge.
	None Outcome = iota
	// OK: the caller is who it says.
	OK
	// Stale: the digest is right, the nonce is not usable (any more). Challenge again with stale=true, so that the caller repeats without
	// asking a human (RFC 7616 section 3.3).
	Stale
	// Denied: challenge again without stale; Reason is for metrics, never for the caller.
	Denied
)

// String is the lower-case name.
func (o Outcome) String() string {
	return [...]string{"none", "ok", "stale", "denied"}[o]
}

// Reasons of a Stale or Denied outcome, for metrics and logs.
const (
	ReasonMalformed   = "malformed"    // the header cannot be read
	ReasonUnsupported = "unsupported"  // an algorithm or a form of the username that is never offered
	ReasonQOP         = "qop"          // no qop, or another than auth
	ReasonURI         = "uri"          // the digest covers another Request-URI
	ReasonUnknownUser = "unknown_user" // no such user in the realm
	ReasonAlgorithm   = "algorithm"    // the user has no secret for this algorithm or must not use it: a downgrade, or a missing hash
	ReasonDigest      = "digest"       // wrong secret
	ReasonNonce       = "nonce"        // right digest over a nonce that is not ours, or was given to another source
	ReasonExpired     = "expired"      // right digest over an old nonce
	ReasonReplay      = "replay"       // right digest, but the nonce count did not rise
)

// Request is what the credentials of one request are judged by.
type Request struct {
	Source netip.Addr // where it came from
	Method string
	URI    []byte // its Request-URI as it was received
	Realm  string // that its challenge names
	Lookup Lookup // finds its credential
}

// Result is the verdict on one Authorization value. Group and Credential are set when Outcome is OK only.
type Result struct {
	Outcome    Outcome
	Reason     string
	Group      *trunkgroup.Group
	Credential *trunkgroup.Credential
	// Username is what the caller claims: trust it when Outcome is OK.
	Username string
	// Proven tells, whatever the outcome, that the nonce was minted for this source and has not expired: whoever sends from there has
	// received there, so that a datagram's source is not forged.
	Proven bool
	// Hashes is how many digests were computed. It is the same for known and unknown users, so that the time tells nothing either.
	Hashes int
	// Use is what was spent. It belongs to the cluster's entry of the open INVITE, which is how a replay at another node is refused
	// (DEC-25).
	Use Use
}

// Use is one use of a nonce.
type Use struct {
	Nonce  uint64 // identifies the nonce; 0 = no use
	Second uint32 // when the nonce was minted
	Count  uint32 // its nonce count; 0 without qop
}

// Observe takes a use of a nonce at another node: the same use here is stale from now on.
func (v *Verifier) Observe(now time.Time, u Use) {
	if now = now.Add(v.opts.ClockOffset); u.Nonce != 0 && alive(u.Second, now) {
		v.counts.use(u.Nonce, u.Second, u.Count, now)
	}
}

// Lookup finds the credential of a user and the group that it stands for, nil for an unknown one.
type Lookup func(realm, username string) (*trunkgroup.Credential, *trunkgroup.Group)

// Options are the rarer settings of a Verifier; the zero value is the default.
type Options struct {
	// AllowNoQOP accepts answers without qop, as RFC 2069 callers send them. They carry no nonce count, so a nonce serves only once.
	AllowNoQOP bool
	// MaxNonces bounds the nonces whose counts are remembered, 24 bytes or so each. Default 262,144.
	MaxNonces int
	// ClockOffset is added to the clock: tests put a node's clock wrong by it.
	ClockOffset time.Duration
}

// Verifier mints challenges and judges answers, for every realm under the same key.
type Verifier struct {
	realm  string
	opts   Options
	mint   atomic.Pointer[minters]
	unique atomic.Uint64
	counts *counts
	// decoy stands in for the secret of an unknown user, so that the same work is done for him.
	decoy [SHA512256 + 1]string
}

// New makes a verifier under the cluster key, which every node of the cluster uses. Realm is this node's own, for hosts that are no
// realm of a credential.
func New(key []byte, realm string, opts Options) (*Verifier, error) {
	if opts.MaxNonces <= 0 {
		opts.MaxNonces = 1 << 18
	}
	v := &Verifier{realm: realm, opts: opts, counts: newCounts(opts.MaxNonces)}
	if err := v.SetKeys(key); err != nil {
		return nil, err
	}
	var salt [8]byte
	if _, err := rand.Read(salt[:]); err != nil {
		return nil, fmt.Errorf("auth: random salt: %w", err)
	}
	v.unique.Store(binary.BigEndian.Uint64(salt[:]))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("tandem decoy secret"))
	decoy := hex.EncodeToString(mac.Sum(nil))
	v.decoy[MD5], v.decoy[SHA256], v.decoy[SHA512256] = decoy[:32], decoy, decoy
	return v, nil
}

// SetKeys replaces the key that nonces are made under, and the older ones under which they are still taken. It may be called
// while others verify. A nonce under a key that is gone is stale, which costs its holder one more round trip.
func (v *Verifier) SetKeys(key []byte, older ...[]byte) error {
	next := &minters{}
	for _, k := range append([][]byte{key}, older...) {
		if len(k) < MinKey {
			return fmt.Errorf("auth: the key has %d bytes, need %d", len(k), MinKey)
		}
		next.list = append(next.list, newMinter(k))
	}
	v.mint.Store(next)
	return nil
}

// Realm is the node's own realm.
func (v *Verifier) Realm() string { return v.realm }

// Verify judges one Authorization value of a request. Only the outcome may show on the wire.
func (v *Verifier) Verify(now time.Time, req *Request, authorization []byte) Result {
	now = now.Add(v.opts.ClockOffset)
	p, digest, err := parse(authorization)
	switch {
	case !digest:
		return Result{Outcome: None}
	case err != nil:
		return Result{Outcome: Denied, Reason: ReasonMalformed}
	case string(unescape(p.realm)) != req.Realm:
		return Result{Outcome: None}
	}
	r := Result{Outcome: Denied, Username: string(unescape(p.username))}
	second, mark, minted := v.mint.Load().check(p.nonce, req.Source)
	r.Proven = minted && alive(second, now)
	hash := ParseAlgorithm(p.algorithm)
	count, qop := p.count()
	switch {
	case hash == NoAlgorithm || p.extended || equalFold(p.userhash, "true"):
		r.Reason = ReasonUnsupported
	case !qop || p.qop == nil && !v.opts.AllowNoQOP:
		r.Reason = ReasonQOP
	case !sameURI(p.uri, req.URI):
		r.Reason = ReasonURI
	}
	if r.Reason != "" {
		return r
	}

	credential, group := req.Lookup(req.Realm, r.Username)
	secret := ""
	if credential != nil {
		secret = credential.HA1(hash.String())
	}
	usable := secret != ""
	if !usable {
		secret = v.decoy[hash]
	}
	right := v.right(hash, secret, req.Method, &p)
	r.Hashes = p.hashes
	switch {
	case credential == nil:
		r.Reason = ReasonUnknownUser
	case !usable:
		r.Reason = ReasonAlgorithm
	case !right:
		r.Reason = ReasonDigest
	case !minted:
		r.Outcome, r.Reason = Stale, ReasonNonce
	case !alive(second, now):
		r.Outcome, r.Reason = Stale, ReasonExpired
	case !v.counts.use(mark, second, count, now):
		r.Outcome, r.Reason = Stale, ReasonReplay
	default:
		r.Outcome, r.Group, r.Credential = OK, group, credential
		r.Use = Use{Nonce: mark, Second: second, Count: count}
	}
	return r
}

// right computes the response and compares it in constant time.
func (v *Verifier) right(hash Algorithm, secret, method string, p *params) bool {
	var ha1, want, got [2 * sha256.Size]byte
	n := copy(ha1[:], secret)
	w := hash.appendResponse(want[:0], ha1[:n], method, p)
	if len(p.response) != len(w) {
		return false
	}
	for i, c := range p.response {
		got[i] = toLower(c)
	}
	return subtle.ConstantTimeCompare(got[:len(w)], w) == 1
}

// count reads qop and nc. ok is false when qop is not auth or when what must stand beside it does not (RFC 7616 section 3.4).
func (p *params) count() (nc uint32, ok bool) {
	if p.qop == nil {
		return 0, p.nc == nil && p.cnonce == nil
	}
	if !equalFold(p.qop, "auth") || len(p.cnonce) == 0 || len(p.nc) != 8 {
		return 0, false
	}
	for _, c := range p.nc {
		switch c = toLower(c); {
		case c >= '0' && c <= '9':
			nc = nc<<4 | uint32(c-'0')
		case c >= 'a' && c <= 'f':
			nc = nc<<4 | uint32(c-'a'+10)
		default:
			return 0, false
		}
	}
	return nc, nc > 0
}
