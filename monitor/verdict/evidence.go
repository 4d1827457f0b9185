package verdict

import "time"

// Evidence is what a call saw of a target (DEC-11), on its way to the node that probes the target.
type Evidence struct {
	Key        Key
	OK         bool          // a response of any kind
	Cause      string        // why not OK
	RetryAfter time.Duration // of a 503; then OK and Cause mean nothing
}

// Append appends the encoding.
func (e *Evidence) Append(dst []byte) []byte {
	dst = append(dst, format)
	dst = appendText(dst, e.Key.String())
	ok := byte(0)
	if e.OK {
		ok = 1
	}
	dst = append(dst, ok)
	dst = appendText(dst, e.Cause)
	return appendAge(dst, e.RetryAfter)
}

// DecodeEvidence reads what Append wrote.
func DecodeEvidence(b []byte) (Evidence, error) {
	d := decode(b)
	key := d.text()
	e := Evidence{OK: d.Octet() == 1, Cause: d.text(), RetryAfter: d.age()}
	if d.Bad() {
		return Evidence{}, ErrFormat
	}
	var err error
	e.Key, err = ParseKey(key)
	return e, err
}
