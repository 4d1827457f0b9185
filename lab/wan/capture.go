package wan

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// Constants of the classic pcap format, written in little-endian order.
const (
	pcapMagic   = 0xa1b2c3d4 // microsecond time stamps
	pcapMajor   = 2
	pcapMinor   = 4
	pcapLinkRaw = 101 // packets begin with the IP header
)

// Capture is a running pcap recording of a Link.
type Capture struct {
	link *Link
	w    io.Writer
	err  error
	buf  []byte
}

func newCapture(l *Link, w io.Writer) (*Capture, error) {
	head := binary.LittleEndian.AppendUint32(nil, pcapMagic)
	head = binary.LittleEndian.AppendUint16(head, pcapMajor)
	head = binary.LittleEndian.AppendUint16(head, pcapMinor)
	head = binary.LittleEndian.AppendUint64(head, 0) // time zone and accuracy
	head = binary.LittleEndian.AppendUint32(head, maxPacket)
	head = binary.LittleEndian.AppendUint32(head, pcapLinkRaw)
	if _, err := w.Write(head); err != nil {
		return nil, fmt.Errorf("pcap header: %w", err)
	}
	return &Capture{link: l, w: w}, nil
}

// packet writes one record; the link's capture lock is held.
func (c *Capture) packet(at time.Time, b []byte) {
	if c.err != nil {
		return
	}
	c.buf = binary.LittleEndian.AppendUint32(c.buf[:0], uint32(at.Unix()))
	c.buf = binary.LittleEndian.AppendUint32(c.buf, uint32(at.Nanosecond()/1000))
	c.buf = binary.LittleEndian.AppendUint32(c.buf, uint32(len(b)))
	c.buf = binary.LittleEndian.AppendUint32(c.buf, uint32(len(b)))
	c.buf = append(c.buf, b...)
	_, c.err = c.w.Write(c.buf)
}

// Stop ends the recording and returns its first write error. It does not close
// the writer.
func (c *Capture) Stop() error {
	c.link.capture.Lock()
	defer c.link.capture.Unlock()
	if c.link.tap == c {
		c.link.tap = nil
	}
	if c.err != nil {
		return fmt.Errorf("pcap record: %w", c.err)
	}
	return nil
}
