package cdr

import "strconv"

// appendRoute writes the route of a call whose plan asks others: its carrier and price
// (S-100), the attempts that failed, and what it says of the call (S-050).
func (r *Record) appendRoute(w *writer) {
	w.optional("carrier_id", r.CarrierID)
	w.optional("route_source", r.RouteSource)
	if r.Priced() {
		w.key("rate")
		w.b = r.AppendRate(w.b)
	}
	w.optional("currency", r.Currency)
	if r.BillingIncrement > 0 {
		w.integer("billing_increment", int64(r.BillingIncrement))
	}
	if r.MinDuration > 0 {
		w.integer("min_duration", int64(r.MinDuration))
	}
	if r.Priced() {
		w.integer("billed_seconds", int64(r.Billed()))
		w.key("cost")
		w.b = r.AppendCost(w.b)
	}
	if r.RouteSource != "" {
		w.key("lcr_attempts")
		w.b = r.AppendFailed(w.b)
	}
	if len(r.Fields) > 0 {
		w.key("fields")
		w.b = AppendFields(w.b, r.Fields)
	}
}

// AppendFailed appends the attempts that failed as a compact JSON array, oldest first
// (S-047, S-050): the carrier, what it answered or what was recorded for it, after how
// many milliseconds, and whether an INVITE was put on the wire at all (S-049). It is
// empty when the first route answered. An attempt that ended with the call, before it
// had an outcome of its own, has not failed.
func (r *Record) AppendFailed(dst []byte) []byte {
	dst = append(dst, '[')
	first := true
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Code < 300 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, `{"carrier_id":`...)
		dst = AppendString(dst, a.CarrierID)
		dst = append(dst, `,"status":`...)
		dst = strconv.AppendInt(dst, int64(a.Code), 10)
		dst = append(dst, `,"elapsed_ms":`...)
		dst = strconv.AppendInt(dst, a.Elapsed.Milliseconds(), 10)
		dst = append(dst, `,"dialed":`...)
		dst = strconv.AppendBool(dst, a.Dialed)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// AppendFields appends further fields as one JSON object. Of those with the same name
// the last one counts.
func AppendFields(dst []byte, fields []Field) []byte {
	dst = append(dst, '{')
	first := true
	for i, f := range fields {
		if overridden(fields[i+1:], f.Name) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = AppendString(dst, f.Name)
		dst = append(dst, ':')
		dst = AppendString(dst, f.Value)
	}
	return append(dst, '}')
}

func overridden(later []Field, name string) bool {
	for i := range later {
		if later[i].Name == name {
			return true
		}
	}
	return false
}
