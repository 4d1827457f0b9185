package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Names of the headers of a request.
const (
	headerEvent     = "Tandem-Event"
	headerSignature = "Tandem-Signature"
)

// maxAnswer is how much of an answer is read, so that its connection can be used again.
const maxAnswer = 16 << 10

// finalError is a failure that another try would not mend.
type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }

// post sends an event once. The error says nothing of what is secret.
func (l *line) post(id string, body []byte) error {
	s := l.sender
	ctx, cancel := context.WithTimeout(s.ctx, l.timeout)
	defer cancel()
	r, err := l.request(ctx, id, body)
	if err != nil {
		return &finalError{err}
	}
	answer, err := s.client.Do(r)
	if err != nil {
		// What net/http says names the URL, which may hold more than is good for logs.
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			err = inner.Err
		}
		return fmt.Errorf("no answer: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // the status has said it
	switch code := answer.StatusCode; {
	case code/100 == 2:
		return nil
	case code/100 == 3:
		return &finalError{fmt.Errorf("answered %d, and redirects are not followed", code)}
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code >= 500:
		return fmt.Errorf("answered %d", code)
	default:
		return &finalError{fmt.Errorf("answered %d", code)}
	}
}

// request makes the request of one try: the time of its signature is that of the try.
func (l *line) request(ctx context.Context, id string, body []byte) (*http.Request, error) {
	s := l.sender
	address, err := trunkgroup.ExpandEnv(l.url, s.cfg.lookup)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	if why := trunkgroup.URLFault(address); why != "" {
		return nil, errors.New("url " + why)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("url cannot be asked")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(headerEvent, id)
	r.Header.Set("User-Agent", s.cfg.Agent)
	if l.auth != "" {
		auth, err := trunkgroup.ExpandEnv(l.auth, s.cfg.lookup)
		if err != nil {
			return nil, fmt.Errorf("auth_header: %w", err)
		}
		r.Header.Set("Authorization", auth)
	}
	if l.secret != "" {
		secret, err := trunkgroup.ExpandEnv(l.secret, s.cfg.lookup)
		if err != nil {
			return nil, fmt.Errorf("secret: %w", err)
		}
		if secret == "" {
			return nil, errors.New("secret: the variable is empty, and anybody could sign")
		}
		r.Header.Set(headerSignature, Sign(secret, time.Now(), body))
	}
	return r, nil
}

// Sign returns the signature of a body: "t=SECONDS,v1=HEX", where HEX is HMAC-SHA256 over
// the seconds, a dot and the body.
func Sign(secret string, at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(seconds))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}
