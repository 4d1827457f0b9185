package gossip

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxMeta is the bound that memberlist sets on a node's metadata, in octets.
const MaxMeta = 512

// metaVersion starts every encoding; fields may only be added behind the last one.
const metaVersion = 1

// ErrMeta is returned for metadata that cannot be read.
var ErrMeta = errors.New("gossip: malformed node metadata")

// Meta is what a node tells of itself.
type Meta struct {
	Protocol     uint8  // version of frames and commands that the node speaks
	Witness      bool   // votes only, carries no calls
	FellBack     bool   // does not run the canary of its site (DEC-25)
	Resting      bool   // has no part in the consensus at present
	Blank        bool   // lost its log, and with it the right to vote
	Load         uint16 // share of the node's capacity in use, in thousandths
	Boot         uint64 // boot number (DEC-13)
	Site         string
	State        string // "ready", "draining", ...
	Interconnect string // advertised interconnect address, host:port
	Raft         string // advertised raft address, host:port
	Build        string // version of the program
	// Generation and Revision are of the document that the node runs; 0 when
	// it runs none, or a version of the program that does not tell.
	Generation, Revision uint64
	// LastTerm and LastIndex are of the last entry in the node's log; 0 when
	// it has none, or a version of the program that does not tell.
	LastTerm, LastIndex uint64
	// Metrics is where Prometheus reads the node's metrics, host:port; empty for nowhere,
	// or a version of the program that does not tell.
	Metrics string
}

// Append adds the encoded metadata to dst; it fails when the result is too large.
func (m Meta) Append(dst []byte) ([]byte, error) {
	start := len(dst)
	var flags byte
	if m.Witness {
		flags |= 1
	}
	if m.FellBack {
		flags |= 2
	}
	if m.Resting {
		flags |= 4
	}
	if m.Blank {
		flags |= 8
	}
	dst = append(dst, metaVersion, m.Protocol, flags)
	dst = binary.BigEndian.AppendUint16(dst, m.Load)
	dst = binary.AppendUvarint(dst, m.Boot)
	for _, s := range []string{m.Site, m.State, m.Interconnect, m.Raft, m.Build} {
		if len(s) > 255 {
			return nil, fmt.Errorf("gossip: %q is longer than 255 octets", s)
		}
		dst = append(dst, byte(len(s)))
		dst = append(dst, s...)
	}
	for _, v := range []uint64{m.Generation, m.Revision, m.LastTerm, m.LastIndex} {
		dst = binary.AppendUvarint(dst, v)
	}
	// Of all fields this one can be missed: it does not keep a node with long names out.
	metrics := m.Metrics
	if len(metrics) > 255 || len(dst)-start+1+len(metrics) > MaxMeta {
		metrics = ""
	}
	dst = append(append(dst, byte(len(metrics))), metrics...)
	if n := len(dst) - start; n > MaxMeta {
		return nil, fmt.Errorf("gossip: node metadata has %d octets, at most %d are possible", n, MaxMeta)
	}
	return dst, nil
}

// ParseMeta reads metadata; octets behind the known fields are ignored.
func ParseMeta(b []byte) (Meta, error) {
	if len(b) < 6 || b[0] < metaVersion {
		return Meta{}, ErrMeta
	}
	m := Meta{Protocol: b[1], Witness: b[2]&1 != 0, FellBack: b[2]&2 != 0, Resting: b[2]&4 != 0, Blank: b[2]&8 != 0, Load: binary.BigEndian.Uint16(b[3:])}
	boot, n := binary.Uvarint(b[5:])
	if n <= 0 {
		return Meta{}, ErrMeta
	}
	m.Boot = boot
	rest := b[5+n:]
	for _, s := range []*string{&m.Site, &m.State, &m.Interconnect, &m.Raft, &m.Build} {
		if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
			return Meta{}, ErrMeta
		}
		end := 1 + int(rest[0])
		*s, rest = string(rest[1:end]), rest[end:]
	}
	for _, v := range []*uint64{&m.Generation, &m.Revision, &m.LastTerm, &m.LastIndex} {
		value, n := binary.Uvarint(rest)
		if n <= 0 {
			return m, nil // an older version ends here
		}
		*v, rest = value, rest[n:]
	}
	if len(rest) > 0 && len(rest) > int(rest[0]) { // else an older version ends here
		m.Metrics = string(rest[1 : 1+int(rest[0])])
	}
	return m, nil
}
