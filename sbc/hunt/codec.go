package hunt

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/internal/percent"
)

// A list that a peer sends is refused beyond these.
const (
	maxListBytes = 32 << 10
	maxList      = 512
)

// ErrAttempts is a list of attempts that cannot be read.
var ErrAttempts = errors.New("malformed list of attempts")

// AppendAttempts appends a list of attempts as the value of the header X-Tandem-Attempts, by which a
// peer tells the origin of a hand-off what it tried and whether its final is definitive (DEC-06). The
// caller fills in Site, Group and Member. The text is a comma list; its first element is the version and
// "definitive" or "exhausted", each further one an attempt:
//
//	1;exhausted,ashburn;acme-in;pbx-3;503;dpf;118;,ashburn;acme-in;pbx-4;408;d;4000;no_response
//
// that is site, group, member, code, flags (d dialled, p progress, f final received), milliseconds and
// cause; of an attempt of a fork also its number, and of one by a route its place. Further fields are for later versions and are skipped.
func AppendAttempts(dst []byte, attempts []Attempt, definitive bool) []byte {
	last := "1;exhausted"
	if definitive {
		last = "1;definitive"
	}
	dst = append(dst, last...)
	for i := range attempts {
		a := &attempts[i]
		dst = append(dst, ',')
		for _, s := range [...]string{a.Site, a.Group, a.Member} {
			dst = append(percent.Append(dst, s), ';')
		}
		dst = append(strconv.AppendInt(dst, int64(a.Code), 10), ';')
		for _, f := range [...]struct {
			set  bool
			name byte
		}{{a.Dialed, 'd'}, {a.Progress, 'p'}, {a.Final, 'f'}} {
			if f.set {
				dst = append(dst, f.name)
			}
		}
		dst = append(dst, ';')
		dst = append(strconv.AppendInt(dst, a.Elapsed.Milliseconds(), 10), ';')
		dst = percent.Append(dst, a.Cause)
		if a.Fork != 0 || a.Route != 0 {
			dst = strconv.AppendUint(append(dst, ';'), uint64(a.Fork), 10)
		}
		if a.Route != 0 {
			dst = strconv.AppendUint(append(dst, ';'), uint64(a.Route), 10)
		}
	}
	return dst
}

// ParseAttempts reads what AppendAttempts wrote. The error is ErrAttempts.
func ParseAttempts(v []byte) (attempts []Attempt, definitive bool, err error) {
	if len(v) > maxListBytes || bytes.Count(v, []byte(",")) > maxList {
		return nil, false, ErrAttempts
	}
	head, rest, more := strings.Cut(string(v), ",")
	version, last, ok := strings.Cut(strings.TrimSpace(head), ";")
	if !ok || version != "1" {
		return nil, false, ErrAttempts
	}
	last, _, _ = strings.Cut(last, ";")
	if last != "definitive" && last != "exhausted" {
		return nil, false, ErrAttempts
	}
	for more {
		var element string
		element, rest, more = strings.Cut(rest, ",")
		a, err := parseAttempt(strings.TrimSpace(element))
		if err != nil {
			return nil, false, err
		}
		a.Target = len(attempts)
		attempts = append(attempts, a)
	}
	return attempts, last == "definitive", nil
}

func parseAttempt(element string) (a Attempt, err error) {
	fields := strings.Split(element, ";")
	if len(fields) < 7 {
		return a, ErrAttempts
	}
	for i, to := range [...]*string{&a.Site, &a.Group, &a.Member, nil, nil, nil, &a.Cause} {
		if to == nil {
			continue
		}
		text, ok := percent.Text(fields[i])
		if !ok {
			return a, ErrAttempts
		}
		*to = text
	}
	if a.Code, err = strconv.Atoi(fields[3]); err != nil || a.Code < 0 || a.Code > 699 {
		return a, ErrAttempts
	}
	a.Dialed = strings.Contains(fields[4], "d")
	a.Progress = strings.Contains(fields[4], "p")
	a.Final = strings.Contains(fields[4], "f")
	ms, err := strconv.ParseUint(fields[5], 10, 32)
	if err != nil {
		return a, ErrAttempts
	}
	a.Elapsed = time.Duration(ms) * time.Millisecond
	a.Fork, a.Route = optional(fields, 7), optional(fields, 8)
	return a, nil
}

// optional reads a field that not every version writes; what cannot be read is of a later one.
func optional(fields []string, at int) uint16 {
	if at >= len(fields) {
		return 0
	}
	n, err := strconv.ParseUint(fields[at], 10, 16)
	if err != nil {
		return 0
	}
	return uint16(n)
}
