package cluster

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/tandem-sbc/tandem/cluster/atrest"
)

// streamMagic starts what is sealed in pieces, because it is too large to be held in memory
// twice; the last octet is the version of the format. Then come pieces of streamPiece octets,
// each sealed, of which the last one is shorter, perhaps empty.
const (
	streamMagic = "TNDSTR\x00\x01"
	streamPiece = 1 << 20
)

// pieceLabel binds a piece to its place, and the last one to being the last.
func pieceLabel(label string, n int, last bool) string {
	label += " piece " + strconv.Itoa(n)
	if last {
		label += " last"
	}
	return label
}

// streamed reports whether a file begins as one that is sealed in pieces.
func streamed(head []byte) bool { return bytes.HasPrefix(head, []byte(streamMagic)) }

// plainSize returns how many octets are sealed in a stream of size octets.
func plainSize(size int64) int64 {
	body := size - int64(len(streamMagic))
	return body - (body/int64(streamPiece+atrest.Overhead)+1)*int64(atrest.Overhead)
}

// sealedWriter seals what is written in pieces. Close writes the last one.
type sealedWriter struct {
	w     io.Writer
	vault *vault
	label string
	plain []byte
	n     int
}

func newSealedWriter(w io.Writer, v *vault, label string) (*sealedWriter, error) {
	_, err := io.WriteString(w, streamMagic)
	return &sealedWriter{w: w, vault: v, label: label, plain: make([]byte, 0, streamPiece)}, err
}

// Write implements io.Writer.
func (s *sealedWriter) Write(b []byte) (written int, err error) {
	for len(b) > 0 {
		n := min(len(b), streamPiece-len(s.plain))
		s.plain = append(s.plain, b[:n]...)
		b, written = b[n:], written+n
		if len(s.plain) == streamPiece {
			if err := s.piece(false); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

func (s *sealedWriter) piece(last bool) error {
	_, err := s.w.Write(s.vault.Seal(pieceLabel(s.label, s.n, last), s.plain))
	s.plain = s.plain[:0]
	s.n++
	return err
}

// Close writes the last piece; it does not close what is below.
func (s *sealedWriter) Close() error { return s.piece(true) }

// sealedReader reads what a sealedWriter wrote, behind its magic.
type sealedReader struct {
	r     *bufio.Reader
	vault *vault
	label string
	plain []byte
	n     int
	last  bool
}

// newSealedReader begins with the magic.
func newSealedReader(from io.Reader, v *vault, label string) (*sealedReader, error) {
	r := bufio.NewReader(from)
	head := make([]byte, len(streamMagic))
	if _, err := io.ReadFull(r, head); err != nil || !streamed(head) {
		return nil, errors.Join(fmt.Errorf("%w: not sealed in pieces", atrest.ErrSealed), err)
	}
	return &sealedReader{r: r, vault: v, label: label}, nil
}

// Read implements io.Reader.
func (s *sealedReader) Read(b []byte) (int, error) {
	for len(s.plain) == 0 {
		if s.last {
			return 0, io.EOF
		}
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, s.plain)
	s.plain = s.plain[n:]
	return n, nil
}

func (s *sealedReader) next() error {
	sealed := make([]byte, streamPiece+atrest.Overhead)
	n, err := io.ReadFull(s.r, sealed)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		s.last = true
	case err != nil && !errors.Is(err, io.EOF):
		return err
	}
	if s.plain, err = s.vault.Open(pieceLabel(s.label, s.n, s.last), sealed[:n]); err != nil {
		return err
	}
	s.n++
	return nil
}
