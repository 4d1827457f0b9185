package trunkgroup

import (
	"cmp"
	"fmt"
	"time"
)

// FraudSpec bounds what a customer's outbound calls may do before somebody
// looks at them. Zero means that there is no such bound.
type FraudSpec struct {
	Action       FraudAction            `yaml:"action,omitempty" json:"action,omitzero"`              // what happens beyond a bound; default block
	Calls        FraudWindowsSpec       `yaml:"calls,omitempty" json:"calls,omitzero"`                // to all destinations together
	Minutes      FraudWindowsSpec       `yaml:"minutes,omitempty" json:"minutes,omitzero"`            // of answered calls
	Destinations []FraudDestinationSpec `yaml:"destinations,omitempty" json:"destinations,omitempty"` // by risk
	ShortCalls   FraudShortCallsSpec    `yaml:"short_calls,omitempty" json:"short_calls,omitzero"`
	Night        FraudNightSpec         `yaml:"night,omitempty" json:"night,omitzero"`
	Contact      string                 `yaml:"contact,omitempty" json:"contact,omitempty"` // sip:, tel: or https: of whom a blocked caller may ask
}

// FraudWindowsSpec bounds a sum over the last hour and over the last day.
type FraudWindowsSpec struct {
	Hour int `yaml:"hour,omitempty" json:"hour,omitempty"`
	Day  int `yaml:"day,omitempty" json:"day,omitempty"`
}

// FraudDestinationSpec is a set of destinations of one risk. Without any bound
// every call there is beyond it.
type FraudDestinationSpec struct {
	Name     string           `yaml:"name" json:"name"`                        // like premium or high-risk
	Prefixes []string         `yaml:"prefixes" json:"prefixes"`                // "+882*"; the longest prefix wins
	Action   FraudAction      `yaml:"action,omitempty" json:"action,omitzero"` // default that of the customer
	Calls    FraudWindowsSpec `yaml:"calls,omitempty" json:"calls,omitzero"`
	Minutes  FraudWindowsSpec `yaml:"minutes,omitempty" json:"minutes,omitzero"`
}

// FraudShortCallsSpec bounds bursts of answered calls that end at once.
type FraudShortCallsSpec struct {
	Under  Duration `yaml:"under,omitempty" json:"under,omitempty"`   // a shorter call counts; default 6s
	Calls  int      `yaml:"calls,omitempty" json:"calls,omitempty"`   // most of them
	Within Duration `yaml:"within,omitempty" json:"within,omitempty"` // default 10m
}

// FraudNightSpec lowers all bounds while nobody is in the office.
type FraudNightSpec struct {
	From    string `yaml:"from,omitempty" json:"from,omitempty"`       // 19:00
	To      string `yaml:"to,omitempty" json:"to,omitempty"`           // 07:00
	Zone    string `yaml:"zone,omitempty" json:"zone,omitempty"`       // like America/Chicago; default UTC
	Percent int    `yaml:"percent,omitempty" json:"percent,omitempty"` // of every bound; default 20
}

// FraudAction is what happens to a call beyond a bound.
type FraudAction uint8

// The actions.
const (
	// FraudAlarm lets the call go on and tells.
	FraudAlarm FraudAction = 1
	// FraudBlock refuses the call.
	FraudBlock FraudAction = 2
	// FraudChallenge wants a digest from callers who are known by their source
	// only; with a right one the call goes on.
	FraudChallenge FraudAction = 3
)

// FraudActionNames lists the actions as a document names them.
func FraudActionNames() []string { return []string{"alarm", "block", "challenge"} }

// String returns the name as it stands in YAML; empty for the zero value.
func (a FraudAction) String() string {
	if a < FraudAlarm || a > FraudChallenge {
		return ""
	}
	return FraudActionNames()[a-1]
}

// MarshalText writes the name.
func (a FraudAction) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the name; empty text leaves the zero value.
func (a *FraudAction) UnmarshalText(b []byte) error {
	*a = 0
	if len(b) == 0 {
		return nil
	}
	for i, name := range FraudActionNames() {
		if name == string(b) {
			*a = FraudAction(i + 1)
			return nil
		}
	}
	return fmt.Errorf("unknown action %q", b)
}

// Fraud is what a customer may do, compiled.
type Fraud struct {
	Customer string
	// Rules are the bounds; the first is for all destinations together.
	Rules   []FraudRule
	Short   FraudShort
	Contact string

	prefixes prefixIndex // index of Rules
	night    nightSpan
}

// FraudRule bounds calls to some destinations. Zero is no bound.
type FraudRule struct {
	Name    string // "all" or that of the destination
	Action  FraudAction
	Calls   FraudWindows
	Minutes FraudWindows
	// Closed: every call there is beyond the bounds.
	Closed bool
}

// FraudWindows bounds a sum over the last hour and over the last day.
type FraudWindows struct{ Hour, Day int }

// FraudShort bounds answered calls shorter than Under within a time. Calls zero
// is no bound.
type FraudShort struct {
	Under, Within time.Duration
	Calls         int
}

// RuleOf returns the index of the rule for a called number beside the first,
// or 0.
func (f *Fraud) RuleOf(e164 []byte) int {
	n, ok := pack(e164)
	if !ok {
		return 0
	}
	_, rule := f.prefixes.longest(n, nil)
	return int(rule)
}

// Percent is how much of each bound holds at a time: 100, less at night.
func (f *Fraud) Percent(now time.Time) int { return f.night.percent(now) }

// nightSpan is a part of each day; the zero value is no part.
type nightSpan struct {
	from, to int // minutes after midnight
	zone     *time.Location
	share    int
}

func (n *nightSpan) percent(now time.Time) int {
	if n.zone == nil {
		return 100
	}
	local := now.In(n.zone)
	at := 60*local.Hour() + local.Minute()
	inside := at >= n.from && at < n.to
	if n.from > n.to {
		inside = at >= n.from || at < n.to
	}
	if inside {
		return n.share
	}
	return 100
}

const (
	fraudAll          = "all"
	defaultShort      = 6 * time.Second
	defaultWithin     = 10 * time.Minute
	defaultNightShare = 20
)

func compileFraud(customer string, s *FraudSpec) *Fraud {
	action := cmp.Or(s.Action, FraudBlock)
	f := &Fraud{
		Customer: customer, Contact: s.Contact,
		Rules: []FraudRule{{Name: fraudAll, Action: action, Calls: FraudWindows(s.Calls), Minutes: FraudWindows(s.Minutes)}},
		Short: FraudShort{
			Under: s.ShortCalls.Under.or(defaultShort), Within: s.ShortCalls.Within.or(defaultWithin), Calls: s.ShortCalls.Calls,
		},
	}
	for _, d := range s.Destinations {
		r := FraudRule{
			Name: d.Name, Action: cmp.Or(d.Action, action), Calls: FraudWindows(d.Calls), Minutes: FraudWindows(d.Minutes),
		}
		r.Closed = r.Calls == FraudWindows{} && r.Minutes == FraudWindows{}
		for _, p := range d.Prefixes {
			if n, ok := routePrefix(p); ok {
				f.prefixes.add(n, uint32(len(f.Rules)))
			}
		}
		f.Rules = append(f.Rules, r)
	}
	f.night, _ = parseNight(&s.Night)
	return f
}

// parseNight reads a night; without one it has no zone. path names the key at
// fault.
func parseNight(s *FraudNightSpec) (n nightSpan, path string) {
	if *s == (FraudNightSpec{}) {
		return n, ""
	}
	from, err := time.Parse("15:04", s.From)
	if err != nil {
		return n, "from"
	}
	to, err := time.Parse("15:04", s.To)
	if err != nil || to.Equal(from) {
		return n, "to"
	}
	zone, err := time.LoadLocation(cmp.Or(s.Zone, "UTC"))
	if err != nil || s.Zone == "Local" {
		return n, "zone"
	}
	if s.Percent < 0 || s.Percent > 100 {
		return n, "percent"
	}
	minutes := func(t time.Time) int { return 60*t.Hour() + t.Minute() }
	return nightSpan{minutes(from), minutes(to), zone, cmp.Or(s.Percent, defaultNightShare)}, ""
}
