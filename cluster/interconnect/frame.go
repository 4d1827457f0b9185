package interconnect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// FrameVersion is the version of the frames that this build writes and the
// highest that it reads.
const FrameVersion = 1

// Kinds of frames. 0-15 are the interconnect's own, the others belong to its users.
const (
	kindPing byte = 1
	kindPong byte = 2

	// FirstUserKind is the lowest kind that Send takes and OnFrame registers.
	FirstUserKind byte = 16
)

// frameHeader is the length of a frame's head: four octets of length (of all that
// follows them), version, kind.
const frameHeader = 6

// MaxPayload is the largest payload of a frame in octets: a SIP message of the
// largest size with its envelope fits many times. What is larger has a stream of
// its own (see OnStream), so that a heartbeat never waits behind it.
const MaxPayload = 256 << 10

// errFrame is returned for a length that no frame can have; the stream is lost.
var errFrame = errors.New("interconnect: impossible frame length")

// appendFrame adds the encoded frame to dst.
func appendFrame(dst []byte, kind byte, payload []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(2+len(payload)))
	dst = append(dst, FrameVersion, kind)
	return append(dst, payload...)
}

// readFrame reads one frame. The payload is fresh memory that the caller may keep.
func readFrame(r io.Reader) (version, kind byte, payload []byte, err error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 2 || n > 2+MaxPayload {
		return 0, 0, nil, fmt.Errorf("%w: %d", errFrame, n)
	}
	payload = make([]byte, n-2)
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, 0, nil, err
	}
	return head[4], head[5], payload, nil
}
