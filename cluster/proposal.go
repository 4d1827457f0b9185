package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// verdict is what the leader answers to a proposal.
type verdict uint8

const (
	verdictDone     verdict = 0 // applied, or applied before
	verdictRetry    verdict = 1 // not the leader (any more): ask again, the same change
	verdictConflict verdict = 2 // another revision than the expected one is current
	verdictRefused  verdict = 3 // never: the message says why
)

// answer travels from the leader to the proposer.
type answer struct {
	verdict verdict
	version trunkgroup.Version // made, or current; the cluster does not travel
	message string
}

// maxMessage bounds the text of an answer: a document may have many faults.
const maxMessage = 64 << 10

// answerVersion starts every answer.
const answerVersion = 1

// errAnswer is returned for octets that are no answer.
var errAnswer = errors.New("cluster: malformed answer to a proposal")

func (a *answer) append(dst []byte) []byte {
	dst = append(dst, answerVersion, byte(a.verdict))
	dst = binary.BigEndian.AppendUint64(dst, a.version.Generation)
	dst = binary.BigEndian.AppendUint64(dst, a.version.Revision)
	return append(dst, a.message[:min(len(a.message), maxMessage)]...)
}

func parseAnswer(b []byte) (answer, error) {
	if len(b) < 18 || b[0] != answerVersion {
		return answer{}, errAnswer
	}
	return answer{
		verdict: verdict(b[1]),
		version: trunkgroup.Version{Generation: binary.BigEndian.Uint64(b[2:]), Revision: binary.BigEndian.Uint64(b[10:])},
		message: string(b[18:]),
	}, nil
}

// writeBlock and readBlock carry one message of a proposal stream: four octets of
// length, then the octets.
func writeBlock(w io.Writer, b []byte) error {
	_, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

func readBlock(r io.Reader, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if uint64(n) > uint64(limit) {
		return nil, fmt.Errorf("cluster: a message of %d octets, at most %d are read", n, limit)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// maxCommand bounds an encoded change.
const maxCommand = fsm.MaxDocument + 16<<10
