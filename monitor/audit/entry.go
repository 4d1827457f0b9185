package audit

import (
	"strings"
	"time"
)

// maxText bounds each text of an entry in bytes.
const maxText = 512

// Entry is one line.
type Entry struct {
	Time time.Time `json:"time"`
	Node string    `json:"node"` // that writes it
	// Via says how the node came to know: api, node NAME (another one passed the order
	// or told of it), self.
	Via     string `json:"via"`
	Author  string `json:"author,omitempty"`
	Verb    string `json:"verb"`
	Subject string `json:"subject,omitempty"`
	Detail  string `json:"detail,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Outcome string `json:"outcome"`        // done, heard, or what was refused and why
	Lost    uint64 `json:"lost,omitempty"` // entries before this one that found no room
}

// Done is the outcome of what was carried out.
const Done = "done"

// Heard is the outcome of what another node has done.
const Heard = "heard"

// bound cuts what is too long.
func (e *Entry) bound() {
	for _, s := range []*string{&e.Node, &e.Via, &e.Author, &e.Verb, &e.Subject, &e.Detail, &e.Reason, &e.Outcome} {
		if len(*s) > maxText {
			*s = strings.ToValidUTF8((*s)[:maxText], "")
		}
	}
}

// Query says which entries somebody wants.
type Query struct {
	Since   time.Time // zero for all
	Subject string    // a part of the subject; empty for all
	Limit   int       // the newest so many; 0 = DefaultLimit
}

// DefaultLimit is how many entries are listed unless somebody says otherwise.
const DefaultLimit = 1000

func (q *Query) wants(e *Entry) bool {
	return !e.Time.Before(q.Since) && (q.Subject == "" || strings.Contains(e.Subject, q.Subject))
}
