package peer

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Message is one SIP message of a SIPp message log.
type Message struct {
	// At is when it was sent or received.
	At   time.Time
	Sent bool
	// Text is the message with line ends as LF.
	Text string
}

// entry is the line pair that begins a message in SIPp's log.
var entry = regexp.MustCompile(`(?m)^-{40,} (\d{4}-\d\d-\d\d)\s+(\d\d:\d\d:\d\d\.\d+).*\n\S+ message (sent|received)\b.*\n\n?`)

// ParseMessages reads a SIPp message log. A last entry that is being written is
// returned as far as it goes.
func ParseMessages(log []byte) []Message {
	text := strings.ReplaceAll(string(log), "\r\n", "\n")
	found := entry.FindAllStringSubmatchIndex(text, -1)
	var list []Message
	for i, f := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		// SIPp writes local time without a zone.
		at, err := time.ParseInLocation("2006-01-02 15:04:05.999999", text[f[2]:f[3]]+" "+text[f[4]:f[5]], time.Local)
		if err != nil {
			continue
		}
		list = append(list, Message{
			At: at, Sent: text[f[6]:f[7]] == "sent", Text: strings.TrimLeft(text[f[1]:end], "\n"),
		})
	}
	return list
}

// line is the message's first line.
func (m Message) line() string {
	l, _, _ := strings.Cut(m.Text, "\n")
	return l
}

// Method is the request's method, empty for a response.
func (m Message) Method() string {
	if word, _, _ := strings.Cut(m.line(), " "); word != "SIP/2.0" {
		return word
	}
	return ""
}

// Code is the response's status code, 0 for a request.
func (m Message) Code() int {
	words := strings.Fields(m.line())
	if len(words) < 2 || words[0] != "SIP/2.0" {
		return 0
	}
	code, err := strconv.Atoi(words[1])
	if err != nil {
		return 0
	}
	return code
}

// Headers returns all values of a header, in order; name in its long form.
func (m Message) Headers(name string) []string {
	head, _, _ := strings.Cut(m.Text, "\n\n")
	var values []string
	for _, l := range strings.Split(head, "\n")[1:] {
		n, v, _ := strings.Cut(l, ":")
		if strings.EqualFold(strings.TrimSpace(n), name) {
			values = append(values, strings.TrimSpace(v))
		}
	}
	return values
}

// Header is the first value of a header, empty when it is absent.
func (m Message) Header(name string) string {
	if v := m.Headers(name); len(v) > 0 {
		return v[0]
	}
	return ""
}

// Body is what follows the header.
func (m Message) Body() string {
	_, b, _ := strings.Cut(m.Text, "\n\n")
	return b
}

// Tag is the tag parameter of a From or To value.
func Tag(value string) string {
	_, rest, _ := strings.Cut(value, ";tag=")
	tag, _, _ := strings.Cut(rest, ";")
	return tag
}

// Received returns the distinct requests of a method that were received:
// repeats of one transaction count once.
func Received(messages []Message, method string) []Message {
	seen := map[string]bool{}
	var list []Message
	for _, m := range messages {
		key := m.Header("Via") + m.Header("Call-ID") + m.Header("CSeq")
		if !m.Sent && m.Method() == method && !seen[key] {
			seen[key] = true
			list = append(list, m)
		}
	}
	return list
}

// Responses returns the responses received to a method, repeats included.
func Responses(messages []Message, method string) []Message {
	var list []Message
	for _, m := range messages {
		if !m.Sent && m.Code() != 0 && strings.HasSuffix(m.Header("CSeq"), " "+method) {
			list = append(list, m)
		}
	}
	return list
}
