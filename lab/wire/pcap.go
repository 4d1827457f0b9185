package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Constants of the classic pcap format.
const (
	magicMicro      = 0xa1b2c3d4
	linkRaw         = 101
	globalHeaderLen = 24
	recordHeaderLen = 16
	maxRecord       = 1 << 18
)

// ErrFormat says that a stream is no pcap capture of raw IP packets.
var ErrFormat = errors.New("not a little-endian pcap of raw IP packets")

// packets calls each for every packet of a pcap stream. A record that the
// writer had not finished ends the reading without an error.
func packets(r io.Reader, each func(ip []byte)) error {
	var head [globalHeaderLen]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return fmt.Errorf("pcap header: %w", err)
	}
	if binary.LittleEndian.Uint32(head[:]) != magicMicro || binary.LittleEndian.Uint32(head[20:]) != linkRaw {
		return ErrFormat
	}
	for {
		var rec [recordHeaderLen]byte
		if _, err := io.ReadFull(r, rec[:]); err != nil {
			return ended(err)
		}
		n := binary.LittleEndian.Uint32(rec[8:])
		if n > maxRecord {
			return fmt.Errorf("pcap record of %d bytes: %w", n, ErrFormat)
		}
		data := make([]byte, n)
		if _, err := io.ReadFull(r, data); err != nil {
			return ended(err)
		}
		each(data)
	}
}

func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return fmt.Errorf("pcap record: %w", err)
}
