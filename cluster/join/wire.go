package join

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxMessage bounds what either side reads, in octets: certificates, keys and some hundred nodes.
const maxMessage = 256 << 10

// Request is what a newcomer sends.
type Request struct {
	ID     []byte `json:"id"`
	Secret []byte `json:"secret"`
	Node   string `json:"node"`
	// CSR is a request for a certificate (PKCS #10, DER).
	CSR []byte `json:"csr"`
}

// Admission is what a newcomer gets.
type Admission struct {
	// Certificate, Authorities are PEM, Keys the text of the file of cluster keys, which is secret.
	Certificate string `json:"certificate"`
	Authorities string `json:"authorities"`
	Keys        string `json:"keys"`
	// Peers are the nodes that the newcomer will meet.
	Peers []Peer `json:"peers"`
}

// Peer is a node of the cluster, as the node file of another one names it.
type Peer struct {
	Name         string `json:"name"`
	Site         string `json:"site"`
	Gossip       string `json:"gossip"`
	Interconnect string `json:"interconnect"`
}

// answer is an admission, or why there is none.
type answer struct {
	Error     string     `json:"error,omitempty"`
	Admission *Admission `json:"admission,omitempty"`
}

func send(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	if len(text) > maxMessage {
		return fmt.Errorf("join: a message of %d octets, at most %d are possible", len(text), maxMessage)
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	if err != nil {
		return fmt.Errorf("join: send: %w", err)
	}
	return nil
}

func receive(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return fmt.Errorf("join: read: %w", err)
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxMessage {
		return errors.New("join: impossible length")
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return fmt.Errorf("join: read: %w", err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("join: malformed message: %w", err)
	}
	return nil
}
