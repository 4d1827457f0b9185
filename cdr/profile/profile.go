package profile

import (
	"slices"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

// Profile is the form of records for one kind of reader. It never changes.
type Profile struct {
	// Name is what the configuration calls it.
	Name string
	// Header tells whether its CSV begins with a line of names: Asterisk's has none.
	Header bool
	// Kinds are the kinds of records that its readers can tell apart.
	Kinds   []cdr.Kind
	columns []column
}

// row is a record with its number in the node's spool.
type row struct {
	*cdr.Record
	seq uint64
}

// column is one column. A number stands without quotes in JSON.
type column struct {
	name   string
	number bool
	append func(dst []byte, r row) []byte
}

// all are the profiles by name.
var all = []*Profile{
	{Name: "46labs", Header: true, Kinds: calls, columns: labs46},
	{Name: "asterisk", Kinds: calls, columns: asterisk},
	{Name: "cgrates", Header: true, Kinds: calls, columns: cgrates},
	{Name: "freeswitch", Header: true, Kinds: calls, columns: freeswitch},
	{Name: "libresbc", Header: true, Kinds: calls, columns: libresbc},
	{Name: Tandem, Header: true, Kinds: []cdr.Kind{cdr.KindCall, cdr.KindHandoff, cdr.KindInterim}, columns: tandem},
}

// calls: a reader that knows no kinds would bill the part of a peer site, and a call that
// is still up, as calls of their own.
var calls = []cdr.Kind{cdr.KindCall}

// Tandem is the name of the profile whose JSON is the record itself.
const Tandem = "tandem"

// Names returns the names of all profiles.
func Names() []string {
	var list []string
	for _, p := range all {
		list = append(list, p.Name)
	}
	return list
}

// Named returns a profile, nil for a name that none has.
func Named(name string) *Profile {
	for _, p := range all {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Takes reports whether records of a kind are for the readers of this profile.
func (p *Profile) Takes(k cdr.Kind) bool { return slices.Contains(p.Kinds, k) }

// AppendHeader appends the line of names, with its line break.
func (p *Profile) AppendHeader(dst []byte) []byte {
	for i, c := range p.columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, c.name...)
	}
	return append(dst, '\n')
}

// AppendCSV appends a record as one line of CSV (RFC 4180), with its line break. No cell
// holds one, or another control character, and none is a formula to a spreadsheet.
func (p *Profile) AppendCSV(dst []byte, r *cdr.Record, seq uint64) []byte {
	var scratch [512]byte
	for i := range p.columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendCell(dst, p.columns[i].value(scratch[:0], row{r, seq}))
	}
	return append(dst, '\n')
}

// AppendJSON appends a record as one JSON object on one line, without a line break.
// Numbers that are not known are null, other values empty.
func (p *Profile) AppendJSON(dst []byte, r *cdr.Record, seq uint64) []byte {
	var scratch [512]byte
	dst = append(dst, '{')
	for i := range p.columns {
		c := &p.columns[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = cdr.AppendString(dst, c.name)
		dst = append(dst, ':')
		v := c.value(scratch[:0], row{r, seq})
		switch {
		case c.number && isNumber(v):
			dst = append(dst, v...)
		case c.number && len(v) == 0:
			dst = append(dst, "null"...)
		default:
			dst = cdr.AppendString(dst, string(v))
		}
	}
	return append(dst, '}')
}

// value is what stands in a column: what the record knows, or else what its further field
// of this name says.
func (c *column) value(dst []byte, r row) []byte {
	at := len(dst)
	if c.append != nil {
		dst = c.append(dst, r)
	}
	if len(dst) > at {
		return dst
	}
	for _, f := range slices.Backward(r.Fields) { // of several the last one counts
		if f.Name == c.name {
			return append(dst, f.Value...)
		}
	}
	return dst
}

// isNumber reports whether text is a plain decimal number as JSON writes them.
func isNumber(v []byte) bool {
	if len(v) > 0 && v[0] == '-' {
		v = v[1:]
	}
	if len(v) == 0 || len(v) > 1 && v[0] == '0' && v[1] != '.' {
		return false
	}
	point := false
	for i, c := range v {
		if c == '.' && !point && i > 0 && i < len(v)-1 {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// The makers of columns. A zero value is one that is not known, unless always is set.

func text(name string, get func(r row) string) column {
	return column{name, false, func(dst []byte, r row) []byte { return append(dst, get(r)...) }}
}

// fixed is a column with the same text in every record.
func fixed(name, value string) column {
	return text(name, func(row) string { return value })
}

// unknown is a column that Tandem has nothing for: only a further field fills it.
func unknown(name string) column { return column{name: name} }

func number(name string, get func(r row) int64) column {
	return column{name, true, func(dst []byte, r row) []byte { return strconv.AppendInt(dst, get(r), 10) }}
}

func boolean(name string, get func(r row) bool) column {
	return text(name, func(r row) string { return strconv.FormatBool(get(r)) })
}

func instant(name, layout string, get func(r row) time.Time) column {
	return text(name, func(r row) string {
		t := get(r)
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(layout)
	})
}

// epoch is an instant in seconds since 1970, 0 for none.
func epoch(name string, get func(r row) time.Time) column {
	return number(name, func(r row) int64 {
		t := get(r)
		if t.IsZero() {
			return 0
		}
		return t.Unix()
	})
}

// seconds rounds up as the record does: a started second counts.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// What several profiles have under names of their own.

func start(r row) time.Time    { return r.Start }
func progress(r row) time.Time { return r.Progress }
func answer(r row) time.Time   { return r.Answer }
func end(r row) time.Time      { return r.End }

func duration(r row) int64 { return seconds(r.Duration()) }
func billsec(r row) int64  { return seconds(r.Billable()) }

func cost(name string) column {
	return column{name, true, func(dst []byte, r row) []byte { return r.AppendCost(dst) }}
}

// carrier is the carrier of the route, or else the trunk group of the way out.
func carrier(r row) string {
	if r.CarrierID != "" {
		return r.CarrierID
	}
	return r.EgressGroup
}
