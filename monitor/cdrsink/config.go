package cdrsink

import (
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/cdr/profile"
	"github.com/tandem-sbc/tandem/monitor/cdrlog"
)

// Type is what a sink writes to.
type Type string

// The types.
const (
	File   Type = "file"
	HTTP   Type = "http"
	Syslog Type = "syslog"
)

// Format is how records are written.
type Format string

// The formats.
const (
	JSONLines Format = "jsonl" // one object per line
	JSONArray Format = "json"  // one array per request, over HTTP only
	CSV       Format = "csv"
)

// Config says what one sink does. It was checked before.
type Config struct {
	// Name is unique; the sink's place is kept under it.
	Name   string
	Type   Type
	Format Format
	// Profile has the words of the records.
	Profile *profile.Profile
	// Kinds are the kinds that are passed on; empty means those of the profile.
	Kinds []cdr.Kind
	// Oldest has a sink that is new begin with the oldest record of the spool, not with
	// the next one.
	Oldest bool
	// Batch is how many records are passed on at once.
	Batch int

	// Path is the file of type file. It is put aside when it would pass RotateSize bytes,
	// and at each full RotateEvery of UTC; 0 = never.
	Path        string
	RotateSize  int64
	RotateEvery time.Duration

	// URL is where type http posts to. Authorization is a secret.
	URL           string
	Authorization string

	// Address is host:port of type syslog, Transport udp, tcp or tls.
	Address   string
	Transport string

	// TLS is for https and tls; nil means the roots of the system.
	TLS *tls.Config
	// Timeout bounds one delivery.
	Timeout time.Duration
}

// SetConfig is what all sinks of a node share.
type SetConfig struct {
	Log *cdrlog.Log
	// Dir is where sinks keep their places. It is made.
	Dir string
	// Node is this node's name.
	Node  string
	Sinks []Config
	// Keep is for how long files of the spool stay that all sinks have; 0 = for ever.
	Keep   time.Duration
	Logger *slog.Logger
}

const (
	// firstPause and lastPause are between which the pause after a failure doubles.
	firstPause = 500 * time.Millisecond
	lastPause  = time.Minute
	// batchBytes is about how much is passed on at once.
	batchBytes = 1 << 20
	// pruneEvery is how often files whose time is over are looked for.
	pruneEvery = time.Minute
	// lastWords is how long a sink that is stopped may go on passing on what there is.
	lastWords = 2 * time.Second
)

// Status is how a sink does.
type Status struct {
	Name   string
	Type   Type
	Target string
	// Sent is how many records the other side has taken since the start.
	Sent uint64
	// Unusable is how many could not be read from the spool or written for this sink.
	Unusable uint64
	// Errors is how many tries failed.
	Errors uint64
	// Gaps is how many numbers were missing in the spool: lost records.
	Gaps uint64
	// Next is the number of the first record that the other side has not.
	Next uint64
	// Backlog is how many records wait. Oldest is when the call of the first of them
	// ended; zero when none waits, or it was not looked at yet.
	Backlog uint64
	Oldest  time.Time
	// Failing: the last try failed. Reason says why, Since since when it fails.
	Failing bool
	Since   time.Time
	Reason  string
}
