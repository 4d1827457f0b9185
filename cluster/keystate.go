package cluster

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"

	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// keysRecord is the key of the record by which a node tells what keys and certificate it
// has: ids and fingerprints, never a key.
const keysRecord = "cluster/keys"

// keyStateVersion starts every encoding; fields may only be added behind the last one.
const keyStateVersion = 1

// shortPrint is how many hexadecimal digits of a fingerprint are told and shown.
const shortPrint = 16

// maxAuthorities bounds how many authorities are told, so that a record fits.
const maxAuthorities = 8

var errKeyState = errors.New("cluster: malformed state of keys")

const (
	keysTLS   = 1
	keysPlain = 2
)

// append adds the encoded state to dst.
func (s KeyState) append(dst []byte) []byte {
	var flags byte
	if s.TLS {
		flags |= keysTLS
	}
	if s.Plain {
		flags |= keysPlain
	}
	dst = append(dst, keyStateVersion, flags, byte(len(s.Keys)))
	for _, k := range s.Keys {
		dst = append(dst, k[:]...)
	}
	var ends int64
	if !s.Expires.IsZero() {
		ends = s.Expires.Unix()
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(ends))
	dst = appendPrint(dst, s.Certificate)
	list := s.Authorities[:min(len(s.Authorities), maxAuthorities)]
	dst = append(dst, byte(len(list)))
	for _, a := range list {
		dst = appendPrint(dst, a)
	}
	return dst
}

func appendPrint(dst []byte, print string) []byte {
	var raw [shortPrint / 2]byte
	_, _ = hex.Decode(raw[:], []byte(print)) // zeros when there is none
	return append(dst, raw[:]...)
}

// decodeKeyState reads what append wrote; octets behind the known fields are ignored.
func decodeKeyState(b []byte) (KeyState, error) {
	if len(b) < 3 || b[0] < keyStateVersion || int(b[2]) > keyring.MaxSecrets {
		return KeyState{}, errKeyState
	}
	s := KeyState{TLS: b[1]&keysTLS != 0, Plain: b[1]&keysPlain != 0}
	const idLength = len(keyring.ID{})
	n, rest := int(b[2]), b[3:]
	if len(rest) < n*idLength+8+shortPrint/2+1 {
		return KeyState{}, errKeyState
	}
	for range n {
		s.Keys = append(s.Keys, keyring.ID(rest[:idLength]))
		rest = rest[idLength:]
	}
	if ends := int64(binary.BigEndian.Uint64(rest)); ends > 0 {
		s.Expires = time.Unix(ends, 0)
	}
	if s.TLS {
		s.Certificate = hex.EncodeToString(rest[8 : 8+shortPrint/2])
	}
	rest = rest[8+shortPrint/2:]
	count := int(rest[0])
	rest = rest[1:]
	if count > maxAuthorities || len(rest) < count*shortPrint/2 {
		return KeyState{}, errKeyState
	}
	for range count {
		s.Authorities = append(s.Authorities, hex.EncodeToString(rest[:shortPrint/2]))
		rest = rest[shortPrint/2:]
	}
	return s, nil
}
