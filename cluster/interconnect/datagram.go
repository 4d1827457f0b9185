package interconnect

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"net"
	"time"

	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// kindSession opens the datagrams beside a stream: the writer of the stream says
// how it will sign them. A build that does not know it skips it.
const kindSession byte = 3

// Lengths of the parts of a session frame and of a datagram.
const (
	sessionLength  = 8 + 8 + sha256.Size
	datagramLength = 34
	macLength      = 16
)

// datagramMagic begins each datagram: two letters and its version.
var datagramMagic = [2]byte{'T', 1}

// session is one node's datagrams to one other node as long as one stream stands.
type session struct {
	id  uint64
	mac hash.Hash
}

// newSession makes a session and the frame that announces it. Its key is of the
// cluster key and of a secret that only the two ends of the stream know: with TLS no
// other node can sign, and without it nobody who has not the cluster key.
func newSession(keys *keyring.Keyring) (session, []byte) {
	frame := make([]byte, sessionLength)
	// It never fails (Go 1.24).
	_, _ = rand.Read(frame)
	id := keys.Primary()
	copy(frame[8:], id[:])
	s, _ := openSession(keys, frame)
	return s, frame
}

// openSession reads the frame of newSession; false when it is none, or of a
// cluster key that this node has not.
func openSession(keys *keyring.Keyring, frame []byte) (session, bool) {
	if len(frame) < sessionLength {
		return session{}, false
	}
	key, ok := keys.DeriveFor(keyring.ID(frame[8:16]), "tandem datagram v1")
	if !ok {
		return session{}, false
	}
	mixed := hmac.New(sha256.New, key)
	mixed.Write(frame[:sessionLength])
	return session{binary.BigEndian.Uint64(frame), hmac.New(sha256.New, mixed.Sum(nil))}, true
}

// datagram says beside the streams what their heartbeats say.
type datagram struct {
	session uint64
	seq     uint64
	// age is how long ago the sender last heard the receiver, by whatever way, in
	// whole milliseconds.
	age time.Duration
	// echo is the highest number that the sender has received and held how long
	// ago that was, in whole microseconds: the receiver measures the round trip.
	echo uint64
	held time.Duration
}

// append adds the signed datagram to dst.
func (d datagram) append(dst []byte, s *session) []byte {
	at := len(dst)
	dst = append(dst, datagramMagic[:]...)
	dst = binary.BigEndian.AppendUint64(dst, s.id)
	dst = binary.BigEndian.AppendUint64(dst, d.seq)
	dst = binary.BigEndian.AppendUint32(dst, uint32((min(max(d.age, 0), neverHeard)+time.Millisecond-1)/time.Millisecond))
	dst = binary.BigEndian.AppendUint64(dst, d.echo)
	dst = binary.BigEndian.AppendUint32(dst, uint32(min(max(d.held, 0), time.Hour)/time.Microsecond))
	return append(dst, s.sum(dst[at:])...)
}

func (s *session) sum(b []byte) []byte {
	s.mac.Reset()
	s.mac.Write(b)
	return s.mac.Sum(nil)[:macLength]
}

// parseDatagram reads a datagram without its proof, which genuine checks. What
// follows the known fields is of a later version and ends with the proof as well.
func parseDatagram(b []byte) (datagram, bool) {
	if len(b) < datagramLength+macLength || [2]byte(b) != datagramMagic {
		return datagram{}, false
	}
	return datagram{
		session: binary.BigEndian.Uint64(b[2:]),
		seq:     binary.BigEndian.Uint64(b[10:]),
		age:     time.Duration(binary.BigEndian.Uint32(b[18:])) * time.Millisecond,
		echo:    binary.BigEndian.Uint64(b[22:]),
		held:    time.Duration(binary.BigEndian.Uint32(b[30:])) * time.Microsecond,
	}, true
}

// genuine reports whether the datagram is signed by the other end of the session.
func (s *session) genuine(b []byte) bool {
	signed := len(b) - macLength
	return s.mac != nil && hmac.Equal(b[signed:], s.sum(b[:signed]))
}

// udpAddr is where the datagrams beside a stream go: its other end.
func udpAddr(conn net.Conn) net.Addr {
	a, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return nil
	}
	return &net.UDPAddr{IP: a.IP, Port: a.Port, Zone: a.Zone}
}
