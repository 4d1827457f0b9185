package deck

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Bounds of the fields of a row.
const (
	maxName     = 63
	maxTech     = 32
	maxSeconds  = 86400
	maxPriority = 1_000_000
	shownText   = 40 // octets of a text that cannot be
)

// row reads the fields of a line as a row. Faults are noted; an error ends the reading.
func (c *reader) row() error {
	c.values = [columnCount][]byte{}
	for i, at := range c.columns {
		if at != colOther {
			c.values[at] = c.fields[i]
		}
	}
	before := c.count
	p := c.prefix()
	r := packed{price: c.price(), from: c.moment(colFrom), to: c.moment(colTo)}
	if r.to != 0 && r.to <= r.from {
		c.fault("effective_to is not after effective_from", "the row counts up to, and not including, effective_to")
	}
	var t Terms
	t.Increment, t.MinDuration = c.billing()
	c.money()
	carrier := ""
	if !c.builder.sells {
		carrier = c.name(colCarrier, c.Carrier, "the row has no carrier", nil)
		t.Group = c.name(colGroup, c.Group, "the row has no group", c.KnownGroup)
		if len(c.values[colPolicy]) > 0 {
			t.NumberPolicy = c.name(colPolicy, "", "", c.KnownPolicy)
		}
		t.TechPrefix = c.tech()
		t.Priority = c.number(colPriority, maxPriority)
	}
	if c.count > before {
		return nil
	}
	return c.builder.add(p, carrier, t, r, uint32(c.at))
}

// prefix reads digits with or without + before and * behind; "*" alone is all numbers.
func (c *reader) prefix() prefix {
	text := c.values[colPrefix]
	body := text
	if len(body) > 1 && body[len(body)-1] == '*' {
		body = body[:len(body)-1]
	}
	if len(body) > 1 && body[0] == '+' {
		body = body[1:]
	}
	if string(body) == "*" {
		return 0
	}
	p, ok := parsePrefix(body)
	switch {
	case len(text) == 0:
		c.fault("the prefix is missing", `write digits of an E.164 number, or "*" for all numbers`)
	case !ok && bytes.ContainsAny(text, "eE") && bytes.ContainsAny(text, ".,+"):
		c.fault(shown(text)+" is no prefix", "a spreadsheet has rounded it: format the column as text and fill it again")
	case !ok:
		c.fault(shown(text)+" is no prefix", `write up to 15 digits with the country code, like "1214", one prefix on a line`)
	case body[0] == '0':
		c.fault(shown(text)+" begins with 0, and no country code does", "write the country code without 00 or 0 in front")
	}
	return p
}

// price reads a price, or "block".
func (c *reader) price() trunkgroup.Price {
	text := string(c.values[colRate])
	p, ok := trunkgroup.ParsePrice(text)
	switch {
	case strings.EqualFold(text, "block") && !c.builder.sells:
		return blocked
	case text == "":
		c.fault("the rate is missing", `write what a minute costs, or "block" where the carrier takes no calls`)
	case !ok && strings.Contains(text, ","):
		c.fault(shown(c.values[colRate])+" is no rate", "write a decimal point: 0.0042")
	case !ok:
		c.fault(shown(c.values[colRate])+" is no rate", "write what a minute costs with at most nine decimals, like 0.0042")
	}
	return p
}

// money reads the currency, of which a deck has one.
func (c *reader) money() {
	text := string(c.values[colCurrency])
	if text == "" {
		text = c.Currency
	}
	switch {
	case text != "" && !isCurrency(text):
		c.fault(fmt.Sprintf("%.*q is no currency", shownText, text), "write its three letters (ISO 4217), like USD")
	case c.stated && text != c.builder.currency:
		c.fault(fmt.Sprintf("the row is in %s, and rows before it are in %s", currencyText(text), currencyText(c.builder.currency)), "convert them: prices of two currencies cannot be compared")
	default:
		c.builder.currency, c.stated = text, true
	}
}

func isCurrency(s string) bool {
	return len(s) == 3 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// moment reads a day (its beginning, UTC) or an RFC 3339 time.
func (c *reader) moment(column int) instant {
	text := string(c.values[column])
	if text == "" {
		return 0
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t, err = time.Parse(time.RFC3339, text)
	}
	i, ok := instantOf(t)
	if err != nil || !ok || t.Nanosecond() != 0 {
		c.fault(fmt.Sprintf("%s %s is no time", columnName(column), shown(c.values[column])), "write a day like 2026-12-01, which begins at 00:00 UTC, or a time like 2026-12-01T06:00:00Z")
		return 0
	}
	return i
}

// billing reads increment and min_duration; "30/6" in increment is both, the least first.
func (c *reader) billing() (increment, least uint32) {
	first, second, both := strings.Cut(string(c.values[colIncrement]), "/")
	if !both {
		return c.number(colIncrement, maxSeconds), c.number(colMinDuration, maxSeconds)
	}
	if len(c.values[colMinDuration]) > 0 {
		c.fault("increment and min_duration both say what is billed at least", "write one of them")
	}
	a, errA := strconv.ParseUint(first, 10, 32)
	b, errB := strconv.ParseUint(second, 10, 32)
	if errA != nil || errB != nil || a > maxSeconds || b > maxSeconds {
		c.fault(shown(c.values[colIncrement])+" is no increment", `write seconds, like "6", or the least and the increment, like "30/6"`)
		return 0, 0
	}
	return uint32(b), uint32(a)
}

func (c *reader) number(column, limit int) uint32 {
	text := c.values[column]
	if len(text) == 0 {
		return 0
	}
	n, err := strconv.ParseUint(string(text), 10, 32)
	if err != nil || n > uint64(limit) {
		c.fault(fmt.Sprintf("%s %s is out of range", columnName(column), shown(text)), fmt.Sprintf("write a whole number up to %d", limit))
		return 0
	}
	return uint32(n)
}

// nameKey is a text of a column that was checked.
type nameKey struct {
	column int
	text   string
}

// name reads a name, or takes the given one where the line has none. Each is checked and
// asked for once.
func (c *reader) name(column int, or, missing string, known func(string) (string, bool)) string {
	text := c.values[column]
	if len(text) == 0 {
		text = []byte(or)
	}
	if len(text) == 0 {
		c.fault(missing, "fill the column "+columnName(column))
		return ""
	}
	if name, ok := c.names[nameKey{column, string(text)}]; ok {
		return name
	}
	name := string(text)
	if !isName(name) {
		c.fault(fmt.Sprintf("%s %s is no name", columnName(column), shown(text)), "names are at most 63 letters, digits, and - . _ inside")
		return ""
	}
	if known != nil {
		if remedy, ok := known(name); !ok {
			c.fault(fmt.Sprintf("there is no %s %q", strings.ReplaceAll(columnName(column), "_", " "), name), remedy)
			return ""
		}
	}
	c.names[nameKey{column, name}] = name
	return name
}

func isName(s string) bool {
	for i := range len(s) {
		letter := s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || s[i] >= '0' && s[i] <= '9'
		if !letter && (i == 0 || s[i] != '-' && s[i] != '.' && s[i] != '_') {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

// tech reads what goes before the number in a Request-URI.
func (c *reader) tech() string {
	text := string(c.values[colTechPrefix])
	if !isTech(text) {
		c.fault(shown(c.values[colTechPrefix])+" is no tech prefix", "use at most 32 digits, letters, and + # * -")
		return ""
	}
	return text
}

func isTech(s string) bool {
	for i := range len(s) {
		if !(s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || s[i] >= '0' && s[i] <= '9') && !strings.ContainsRune("+#*-", rune(s[i])) {
			return false
		}
	}
	return len(s) <= maxTech
}

func shown(text []byte) string { return fmt.Sprintf("%.*q", shownText, text) }

// fault notes what is wrong with the line at hand.
func (c *reader) fault(problem, remedy string) {
	if c.count++; len(c.told) < c.MaxFaults {
		c.told = append(c.told, trunkgroup.Fault{Line: c.at, Problem: problem, Remedy: remedy})
	}
}

// faults returns what was noted in the order of lines, with how many more there are.
func (c *reader) faults() error {
	slices.SortStableFunc(c.told, func(a, b trunkgroup.Fault) int { return cmp.Compare(a.Line, b.Line) })
	if more := c.count - len(c.told); more > 0 {
		c.told = append(c.told, trunkgroup.Fault{Problem: fmt.Sprintf("%d more lines have faults", more), Remedy: "correct the lines above and read the list again"})
	}
	return c.told.Err()
}
