package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseBehaviour reads a behaviour from one line: a name, then options.
//
//	answer ring=1s after=3s hangup=20s     180, 200, then BYE by the callee
//	instant                                180 and 200 at once
//	busy | unavailable | 480 | 603         a final failure (after=DURATION delays it)
//	blackhole | trying | ringing ring=6s   silence at three depths
//	early ring=1s after=2s code=486        183 with SDP, then the final
//	late                                   200 to the INVITE when a CANCEL comes
//
// Options for all: ring, after, hangup, reinvite, update (durations), code,
// options, bye, change (codes; "silent"), cancel (obey, ignore, goon, answer,
// half, unknown), ack (normal, deaf, once), retry-after (seconds).
func ParseBehaviour(s string) (Behaviour, error) {
	words := strings.Fields(s)
	if len(words) == 0 {
		return Behaviour{}, fmt.Errorf("behaviour: empty; use a name such as answer, busy or blackhole")
	}
	o := behaviourOptions{code: 200, ring: 0}
	for _, w := range words[1:] {
		if err := o.read(w); err != nil {
			return Behaviour{}, fmt.Errorf("behaviour %q: %w", words[0], err)
		}
	}
	b, err := o.base(words[0])
	if err != nil {
		return Behaviour{}, err
	}
	return o.finish(b), nil
}

type behaviourOptions struct {
	ring, after  time.Duration
	code         int
	then         []Action
	cancel       *CancelMode
	ack          AckMode
	options      *int
	bye, change  int
	extraHeaders []string
}

var (
	cancelNames = []string{"obey", "ignore", "goon", "answer", "half", "unknown"}
	ackNames    = []string{"normal", "deaf", "once"}
)

func (o *behaviourOptions) read(word string) error {
	key, value, ok := strings.Cut(word, "=")
	if !ok {
		return fmt.Errorf("option %q: want key=value", word)
	}
	var err error
	switch key {
	case "ring":
		o.ring, err = parseWait(value)
	case "after":
		o.after, err = parseWait(value)
	case "hangup":
		err = o.action("BYE", value)
	case "reinvite":
		err = o.action("INVITE", value)
	case "update":
		err = o.action("UPDATE", value)
	case "code":
		o.code, err = parseCode(value)
	case "bye":
		o.bye, err = parseCode(value)
	case "change":
		o.change, err = parseCode(value)
	case "options":
		var code int
		code, err = parseCode(value)
		o.options = &code
	case "cancel":
		var i int
		i, err = parseName(value, cancelNames)
		mode := CancelMode(i)
		o.cancel = &mode
	case "ack":
		var i int
		i, err = parseName(value, ackNames)
		o.ack = AckMode(i)
	case "retry-after":
		_, err = strconv.ParseUint(value, 10, 31)
		o.extraHeaders = append(o.extraHeaders, "Retry-After: "+value)
	default:
		return fmt.Errorf("option %q is not known", key)
	}
	if err != nil {
		return fmt.Errorf("option %s: %w", key, err)
	}
	return nil
}

func (o *behaviourOptions) action(method, value string) error {
	d, err := parseWait(value)
	o.then = append(o.then, Action{After: d, Method: method})
	return err
}

func (o *behaviourOptions) base(name string) (Behaviour, error) {
	switch name {
	case "answer":
		return Answers(o.ring, o.after), nil
	case "instant":
		return AnswersAtOnce(), nil
	case "busy":
		return named("busy", Rejects(486, o.after)), nil
	case "unavailable":
		return Unavailable(), nil
	case "blackhole":
		return BlackHole(), nil
	case "trying":
		return TryingOnly(), nil
	case "ringing":
		return RingsForEver(o.ring), nil
	case "early":
		return EarlyMedia(o.ring, o.after, o.code), nil
	case "late":
		return LateAnswer(o.ring), nil
	}
	code, err := parseCode(name)
	if err != nil || code < 300 {
		return Behaviour{}, fmt.Errorf("behaviour %q is not known", name)
	}
	return named(name, Rejects(code, o.after)), nil
}

func (o *behaviourOptions) finish(b Behaviour) Behaviour {
	b.Then = o.then
	b.Ack = o.ack
	if o.cancel != nil {
		b.Cancel = *o.cancel
	}
	if o.options != nil {
		b.Options = *o.options
	}
	if o.bye != 0 {
		b.Bye = o.bye
	}
	if o.change != 0 {
		b.Change = o.change
	}
	if len(o.extraHeaders) > 0 && len(b.Steps) > 0 {
		last := &b.Steps[len(b.Steps)-1]
		last.Headers = append(last.Headers, o.extraHeaders...)
	}
	return b
}

func parseWait(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("%s is negative", s)
	}
	return d, err
}

func parseCode(s string) (int, error) {
	if s == "silent" {
		return Silent, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 100 || n > 699 {
		return 0, fmt.Errorf("%q is not a response code", s)
	}
	return n, nil
}

func parseName(s string, names []string) (int, error) {
	for i, n := range names {
		if n == s {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q is not one of %s", s, strings.Join(names, ", "))
}
