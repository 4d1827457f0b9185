package dispatcher

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// By is what a question hashes, by Kamailio's number of the algorithm (K-20).
type By int

// The algorithms that hash.
const (
	ByCallID      By = 0
	ByFrom        By = 1
	ByTo          By = 2
	ByRequestUser By = 3
	ByAuthUser    By = 5
	ByString      By = 7
)

const (
	// inFlight bounds the questions without an answer.
	inFlight = 128
	// patience is how long an answer may take before the question is asked again.
	patience = 300 * time.Millisecond
	// rounds is how often a question is asked.
	rounds = 10
)

// None stands for a key that no member takes.
const None = -1

// Place says for each key the port of the member that Kamailio chooses, or None.
// Keys are put where the algorithm looks: they are users, and the whole Call-ID.
func (k *Kamailio) Place(by By, keys []string) ([]int, error) {
	c, err := net.Dial("udp", k.addr.String())
	if err != nil {
		return nil, fmt.Errorf("dispatcher: %w", err)
	}
	defer c.Close()
	a := &asking{c: c, by: by, keys: keys, ports: make([]int, len(keys)), done: make([]bool, len(keys)), local: c.LocalAddr().String()}
	for range rounds {
		if err := a.round(); err != nil {
			return nil, err
		}
		if a.left() == 0 {
			return a.ports, nil
		}
	}
	return nil, fmt.Errorf("%d of %d questions have no answer", a.left(), len(keys))
}

// asking is one call of Place.
type asking struct {
	c     net.Conn
	by    By
	keys  []string
	ports []int
	done  []bool
	got   int
	local string
	buf   [4096]byte
}

func (a *asking) left() int { return len(a.keys) - a.got }

// round asks all questions that have no answer, a bounded number at a time.
func (a *asking) round() error {
	open := 0
	for i := range a.keys {
		if a.done[i] {
			continue
		}
		if _, err := a.c.Write(a.question(i)); err != nil {
			return nil //nolint:nilerr // it does not listen yet: the next round asks again
		}
		for open++; open >= inFlight; open-- {
			if err := a.answer(); err != nil {
				return timeIsUp(err)
			}
		}
	}
	for ; open > 0; open-- {
		if err := a.answer(); err != nil {
			return timeIsUp(err)
		}
	}
	return nil
}

// timeIsUp passes over what the next round mends.
func timeIsUp(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, errRefused) {
		return nil
	}
	return err
}

var errRefused = errors.New("nobody listens")

// question is an OPTIONS about one key; its Call-ID begins with the key's number
// unless it is the key.
func (a *asking) question(i int) []byte {
	user, callID := "u", strconv.Itoa(i)+"-q"
	request, from, to, auth, key := user, user, user, "", ""
	switch k := a.keys[i]; a.by {
	case ByCallID:
		callID = k
	case ByFrom:
		from = k
	case ByTo:
		to = k
	case ByRequestUser:
		request = k
	case ByAuthUser:
		auth = fmt.Sprintf("Authorization: Digest username=%q, realm=\"r\", nonce=\"n\", uri=\"sip:x\", response=\"0\"\r\n", k)
	default:
		key = "X-Key: " + k + "\r\n"
	}
	return fmt.Appendf(nil, "OPTIONS sip:%s@example.net SIP/2.0\r\nVia: SIP/2.0/UDP %s;branch=z9hG4bK-%d;rport\r\nMax-Forwards: 70\r\n"+
		"From: <sip:%s@example.net>;tag=%d\r\nTo: <sip:%s@example.net>\r\nCall-ID: %s\r\nCSeq: 1 OPTIONS\r\nX-Alg: %d\r\n%s%sContent-Length: 0\r\n\r\n",
		request, a.local, i, from, i, to, callID, a.by, auth, key)
}

// answer reads one answer: which key it is about stands in the branch.
func (a *asking) answer() error {
	if err := a.c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	n, err := a.c.Read(a.buf[:])
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		time.Sleep(patience / 10)
		return errRefused
	}
	text := a.buf[:n]
	line, _, _ := bytes.Cut(text, []byte("\r\n"))
	_, branch, _ := bytes.Cut(text, []byte("branch=z9hG4bK-"))
	end := bytes.IndexAny(branch, ";\r\n")
	i, err := strconv.Atoi(string(branch[:max(end, 0)]))
	if err != nil || i < 0 || i >= len(a.keys) {
		return fmt.Errorf("an answer to nothing: %s", line)
	}
	if a.done[i] {
		return nil
	}
	port := None
	if at := bytes.LastIndexByte(line, ':'); bytes.HasPrefix(line, []byte("SIP/2.0 200 ")) && at > 0 {
		if port, err = strconv.Atoi(string(line[at+1:])); err != nil {
			return fmt.Errorf("an answer that is no member: %s", line)
		}
	}
	a.ports[i], a.done[i] = port, true
	a.got++
	return nil
}
