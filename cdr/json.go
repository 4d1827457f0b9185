package cdr

import (
	"fmt"
	"net/netip"
	"strconv"
	"time"
	"unicode/utf8"
)

// TimeLayout is how a record writes times: RFC 3339, UTC, milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// AppendJSON appends the record as one JSON object without line breaks. Control
// characters and bytes that are not UTF-8 are escaped, so one record is one
// line whatever a far end wrote. It fails when the record lacks its call id or
// its kind.
func (r *Record) AppendJSON(dst []byte) ([]byte, error) {
	if r.CallID == "" || r.Kind == "" {
		return dst, fmt.Errorf("cdr: record %q of kind %q: id and kind must be set", r.CallID, r.Kind)
	}
	w := writer{append(dst, '{')}
	w.integer("schema_version", SchemaVersion)
	w.text("call_id", r.CallID)
	w.text("kind", string(r.Kind))
	w.integer("version", int64(max(r.Version, 1)))
	w.boolean("final", r.Final)
	w.optional("closed_by", r.ClosedBy)
	r.appendPlace(&w)
	r.appendParties(&w)
	r.appendTimes(&w)
	r.appendEnd(&w)
	r.appendAttempts(&w)
	r.appendRoute(&w)
	w.optional("ro_session_id", r.RoSession)
	if r.RoResult > 0 {
		w.integer("ro_result_code", int64(r.RoResult))
	}
	w.optional("rf_session_id", r.RfSession)
	if r.Test {
		w.boolean("test", true)
	}
	return append(w.b, '}'), nil
}

func (r *Record) appendPlace(w *writer) {
	w.optional("cluster", r.Cluster)
	w.text("node", r.Node)
	w.text("site", r.Site)
	w.optional("egress_site", r.EgressSite)
	w.boolean("handed_off", r.HandedOff)
	w.text("direction", string(r.Direction))
	w.optional("customer", r.Customer)
	w.optional("ingress_group", r.IngressGroup)
	w.optional("ingress_member", r.IngressMember)
	w.optional("egress_group", r.EgressGroup)
	w.optional("egress_member", r.EgressMember)
}

func (r *Record) appendParties(w *writer) {
	w.optional("caller", r.Caller)
	w.optional("caller_raw", r.CallerRaw)
	w.optional("called", r.Called)
	w.optional("called_raw", r.CalledRaw)
	w.optional("rn", r.RN)
	w.optional("to", r.To)
	w.optional("sip_call_id", r.SIPCallID)
	w.optional("egress_call_id", r.EgressCallID)
	w.address("src", r.Source)
	w.address("local", r.Local)
	w.optional("transport", r.Transport)
	w.optional("auth_user", r.AuthUser)
	w.optional("user_agent", r.UserAgent)
}

func (r *Record) appendTimes(w *writer) {
	w.time("start_time", r.Start)
	w.time("progress_time", r.Progress)
	w.time("answer_time", r.Answer)
	w.time("end_time", r.End)
	w.integer("duration", seconds(r.Duration()))
	w.integer("duration_ms", r.Duration().Milliseconds())
	w.integer("billsec", seconds(r.Billable()))
	w.integer("billsec_ms", r.Billable().Milliseconds())
	if r.PDD > 0 {
		w.integer("pdd_ms", r.PDD.Milliseconds())
	}
}

// seconds rounds up: a started second counts.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

func (r *Record) appendEnd(w *writer) {
	w.integer("sip_code", int64(r.SIPCode))
	w.optional("sip_reason", r.SIPReason)
	w.optional("hangup_cause", r.HangupCause)
	if r.HangupQ850 > 0 {
		w.integer("hangup_cause_q850", int64(r.HangupQ850))
	}
	w.optional("hangup_party", string(r.HangupParty))
}

func (r *Record) appendAttempts(w *writer) {
	w.key("attempts")
	w.b = r.AppendAttempts(w.b)
}

// AppendAttempts appends the attempts as a JSON array, oldest first.
func (r *Record) AppendAttempts(dst []byte) []byte {
	w := writer{append(dst, '[')}
	for i := range r.Attempts {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, '{')
		r.Attempts[i].append(&w)
		w.b = append(w.b, '}')
	}
	return append(w.b, ']')
}

func (a *Attempt) append(w *writer) {
	w.integer("n", int64(a.N))
	w.text("group", a.Group)
	w.text("member", a.Member)
	w.text("site", a.Site)
	w.boolean("dialed", a.Dialed)
	w.boolean("progress", a.Progress)
	w.integer("code", int64(a.Code))
	w.optional("cause", a.Cause)
	w.integer("elapsed_ms", a.Elapsed.Milliseconds())
	w.optional("egress_call_id", a.EgressCallID)
	w.optional("address", a.Address)
	w.optional("carrier_id", a.CarrierID)
}

// writer appends the members of one JSON object.
type writer struct{ b []byte }

func (w *writer) key(name string) {
	if last := w.b[len(w.b)-1]; last != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
}

func (w *writer) integer(name string, n int64) {
	w.key(name)
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *writer) boolean(name string, v bool) {
	w.key(name)
	w.b = strconv.AppendBool(w.b, v)
}

func (w *writer) text(name, s string) {
	w.key(name)
	w.b = AppendString(w.b, s)
}

// optional writes nothing for an empty string.
func (w *writer) optional(name, s string) {
	if s != "" {
		w.text(name, s)
	}
}

func (w *writer) time(name string, t time.Time) {
	if t.IsZero() {
		return
	}
	w.key(name)
	w.b = append(w.b, '"')
	w.b = t.UTC().AppendFormat(w.b, TimeLayout)
	w.b = append(w.b, '"')
}

func (w *writer) address(name string, a netip.AddrPort) {
	if !a.IsValid() {
		return
	}
	w.key(name + "_ip")
	w.b = append(w.b, '"')
	w.b = a.Addr().Unmap().AppendTo(w.b)
	w.b = append(w.b, '"')
	w.integer(name+"_port", int64(a.Port()))
}

const hexDigits = "0123456789abcdef"

// AppendString appends a JSON string (RFC 8259 section 7) on one line, whatever is
// in s. Bytes that are not UTF-8 become U+FFFD; U+2028 and U+2029, which some
// readers take for a line end, and the C1 controls are escaped too.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '"' || c == '\\':
				dst = append(dst, '\\', c)
			case c < 0x20 || c == 0x7f:
				dst = appendEscape(dst, rune(c))
			default:
				dst = append(dst, c)
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, "\ufffd"...)
		case r < 0xa0 || r == '\u2028' || r == '\u2029':
			dst = appendEscape(dst, r)
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&0xf], hexDigits[r>>8&0xf], hexDigits[r>>4&0xf], hexDigits[r&0xf])
}
