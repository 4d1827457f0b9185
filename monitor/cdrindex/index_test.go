package cdrindex

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/monitor/cdrquery"
)

// bench is an index over files of a directory, driven round by round.
type rig struct {
	*Index
	t       *testing.T
	dir     string
	trouble []string
}

func newRig(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	r.Index = r.fresh(change)
	t.Cleanup(r.Stop)
	return r
}

// fresh makes an index as a new process would.
func (r *rig) fresh(change func(*Config)) *Index {
	r.t.Helper()
	cfg := Config{
		Path: filepath.Join(r.dir, "index", "calls.db"), Records: filepath.Join(r.dir, "cdr.jsonl"),
		OnTrouble: func(err error) { r.trouble = append(r.trouble, fmt.Sprint(err)) },
	}
	if change != nil {
		change(&cfg)
	}
	i, err := New(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	i.f.buffer = make([]byte, chunk)
	return i
}

// look makes one round, as the loop does.
func (r *rig) look() error {
	err := r.round(r.t.Context(), time.Now())
	r.judge(err)
	return err
}

func (r *rig) mustLook() {
	r.t.Helper()
	if err := r.look(); err != nil {
		r.t.Fatal(err)
	}
}

// write appends records to a file.
func (r *rig) write(name string, records ...cdr.Record) {
	r.t.Helper()
	var text []byte
	for n := range records {
		var err error
		if text, err = records[n].AppendJSON(text); err != nil {
			r.t.Fatal(err)
		}
		text = append(text, '\n')
	}
	r.append(name, string(text))
}

func (r *rig) append(name, text string) {
	r.t.Helper()
	f, err := os.OpenFile(filepath.Join(r.dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		r.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// ids returns the ids of what is found, in the order of the answer.
func (r *rig) ids(q cdrquery.Query) []string {
	r.t.Helper()
	if err := q.Check(); err != nil {
		r.t.Fatal(err)
	}
	var ids []string
	for from := (Cursor{}); ; {
		page, err := r.Search(r.t.Context(), &q, from, Bounds{3, 4 << 10})
		if err != nil {
			r.t.Fatal(err)
		}
		for _, text := range page.Rows {
			row, err := cdrquery.Parse(text)
			if err != nil {
				r.t.Fatal(err)
			}
			ids = append(ids, row.CallID)
		}
		if from = page.Next; from == (Cursor{}) {
			return ids
		}
	}
}

func (r *rig) want(q cdrquery.Query, ids ...string) {
	r.t.Helper()
	if got := r.ids(q); !slices.Equal(got, ids) {
		r.t.Errorf("%+v: got %v, want %v", q, got, ids)
	}
}

var began = time.Now().Add(-time.Hour).Truncate(time.Second)

// call is a record; n orders them by time.
func call(n int) cdr.Record {
	at := began.Add(time.Duration(n) * time.Second)
	return cdr.Record{
		CallID: fmt.Sprintf("call-%03d", n), Kind: cdr.KindCall, Version: 1, Final: true, Node: "dal-1", Site: "dallas", EgressSite: "dallas",
		Direction: cdr.Outbound, Customer: "acme", IngressGroup: "acme-out", EgressGroup: "carrier-a", CarrierID: "c-a",
		Caller: "+13105550100", CallerRaw: "3105550100", Called: fmt.Sprintf("+1214555%04d", n), CalledRaw: fmt.Sprintf("1214555%04d", n),
		SIPCallID: fmt.Sprintf("a-%d@host", n), EgressCallID: fmt.Sprintf("b-%d", n),
		Start: at, Answer: at.Add(time.Second), End: at.Add(time.Minute), SIPCode: 200, HangupCause: cdr.CauseCleared, HangupQ850: 16,
		Attempts: []cdr.Attempt{
			{N: 1, Group: "carrier-b", Member: "gw", Site: "dallas", Dialed: true, Code: 503, CarrierID: "c-b", EgressCallID: fmt.Sprintf("b1-%d", n)},
			{N: 2, Group: "carrier-a", Member: "gw", Site: "dallas", Dialed: true, Code: 200, CarrierID: "c-a", EgressCallID: fmt.Sprintf("b-%d", n)},
			{N: 3, Group: "carrier-c", Member: "gw", Site: "dallas", Code: 503, CarrierID: "c-c"},
		},
	}
}

func TestSearchFindsByEveryWord(t *testing.T) {
	r := newRig(t, nil)
	failed := call(2)
	failed.Answer, failed.SIPCode, failed.HangupCause, failed.HangupQ850 = time.Time{}, 503, "NORMAL_TEMPORARY_FAILURE", 41
	failed.Customer, failed.Site, failed.CarrierID, failed.EgressGroup, failed.Attempts = "other", "ashburn", "c-z", "carrier-z", nil
	r.write("cdr.jsonl", call(1), failed, call(3))
	r.mustLook()
	yes, no := true, false
	r.want(cdrquery.Query{}, "call-003", "call-002", "call-001")
	r.want(cdrquery.Query{CallID: "call-001"}, "call-001")
	r.want(cdrquery.Query{CallID: "a-3@host"}, "call-003")
	r.want(cdrquery.Query{CallID: "b1-3"}, "call-003")
	r.want(cdrquery.Query{CallID: "call-00"})
	r.want(cdrquery.Query{Number: "+1 (310) 555-0100"}, "call-003", "call-002", "call-001")
	r.want(cdrquery.Query{Number: "12145550002"}, "call-002")
	r.want(cdrquery.Query{Caller: "12145550002"})
	r.want(cdrquery.Query{Caller: "3105550100"}, "call-003", "call-002", "call-001")
	r.want(cdrquery.Query{Called: "+1214*"}, "call-003", "call-002", "call-001")
	r.want(cdrquery.Query{Called: "+1214*", Caller: "13105550100", Customer: "other"}, "call-002")
	r.want(cdrquery.Query{Customer: "acme"}, "call-003", "call-001")
	r.want(cdrquery.Query{Carrier: "c-a"}, "call-003", "call-001")
	r.want(cdrquery.Query{Carrier: "c-b", Called: "+12145550003"}, "call-003")
	r.want(cdrquery.Query{Carrier: "c-c"}) // never dialled
	r.want(cdrquery.Query{Carrier: "acme-out"}, "call-003", "call-002", "call-001")
	r.want(cdrquery.Query{Cause: "normal_clearing"}, "call-003", "call-001")
	r.want(cdrquery.Query{Cause: "41"}, "call-002")
	r.want(cdrquery.Query{Code: "5xx"}, "call-002")
	r.want(cdrquery.Query{Code: "200"}, "call-003", "call-001")
	r.want(cdrquery.Query{Site: "ashburn"}, "call-002")
	r.want(cdrquery.Query{Answered: &yes}, "call-003", "call-001")
	r.want(cdrquery.Query{Answered: &no}, "call-002")
	r.want(cdrquery.Query{From: call(2).Start}, "call-003", "call-002")
	r.want(cdrquery.Query{From: call(2).Start.Add(1)}, "call-003")
	r.want(cdrquery.Query{To: call(2).Start}, "call-001")
	r.want(cdrquery.Query{To: call(2).Start.Add(1)}, "call-002", "call-001")
}

func TestByIDGivesAllRecordsOfCalls(t *testing.T) {
	r := newRig(t, nil)
	part := call(1)
	part.Kind = cdr.KindHandoff
	r.write("cdr.jsonl", call(1), part, call(2), call(3))
	r.mustLook()
	rows, done, err := r.ByID(t.Context(), []string{"call-001", "nobody", "call-003", "call-002"}, Bounds{3, 1 << 20})
	if err != nil || len(rows) != 3 || done != 3 {
		t.Errorf("%d rows of %d ids, %v", len(rows), done, err)
	}
	rows, done, err = r.ByID(t.Context(), []string{"call-001", "call-002"}, Bounds{10, 10})
	if err != nil || len(rows) != 2 || done != 1 {
		t.Errorf("%d rows of %d ids, %v", len(rows), done, err)
	}
}

// DEC-24: of each call id and kind the highest version counts, in whatever order and how
// often lines come.
func TestDEC24_HighestVersionIsKept(t *testing.T) {
	r := newRig(t, nil)
	survivor, owner := call(1), call(1)
	survivor.Final, survivor.ClosedBy, survivor.HangupCause, survivor.Called = false, cdr.BySurvivor, cdr.CauseNodeLost, "+12145559999"
	owner.Version = 2
	r.write("cdr.jsonl", owner, survivor, owner, survivor)
	r.mustLook()
	r.want(cdrquery.Query{}, "call-001")
	r.want(cdrquery.Query{Cause: cdr.CauseNodeLost})
	again := owner
	again.Version, again.Called = 4, "+12145558888"
	r.write("cdr.jsonl", again)
	r.mustLook()
	r.want(cdrquery.Query{Called: "+12145558888"}, "call-001")
	r.want(cdrquery.Query{Called: "+12145550001"}, "call-001") // as received
	again.Version, again.CalledRaw = 6, ""
	r.write("cdr.jsonl", again)
	r.mustLook()
	r.want(cdrquery.Query{Called: "+12145550001"})
	if n := r.Stats().Rows; n != 1 {
		t.Errorf("%d rows", n)
	}
}

// The record of a call's end takes the place of those that said that it is up.
func TestInterimRecordsGoWithTheCall(t *testing.T) {
	r := newRig(t, nil)
	first, second := call(1), call(1)
	first.Kind, second.Kind = cdr.KindInterim, cdr.KindInterim
	second.End = second.End.Add(time.Hour)
	r.write("cdr.jsonl", second, first)
	r.mustLook()
	rows, _, err := r.ByID(t.Context(), []string{"call-001"}, Bounds{10, 1 << 20})
	if err != nil || len(rows) != 1 || !strings.Contains(string(rows[0]), second.End.UTC().Format(cdr.TimeLayout)) {
		t.Fatalf("%s, %v", rows, err)
	}
	r.write("cdr.jsonl", call(1), first)
	r.mustLook()
	rows, _, err = r.ByID(t.Context(), []string{"call-001"}, Bounds{10, 1 << 20})
	if err != nil || len(rows) != 1 || !strings.Contains(string(rows[0]), `"kind":"call"`) || r.Stats().Rows != 1 {
		t.Fatalf("%s, %v", rows, err)
	}
}

func TestFollowsFilesThatArePutAside(t *testing.T) {
	r := newRig(t, nil)
	r.write("cdr.jsonl", call(1), call(2))
	r.mustLook()
	r.write("cdr.jsonl", call(3))
	r.rename("cdr.jsonl", "cdr-20260301T000000Z-1.jsonl")
	r.mustLook() // no current file
	r.write("cdr.jsonl", call(4))
	r.mustLook()
	r.write("cdr.jsonl", call(5))
	r.rename("cdr.jsonl", "cdr-20260301T000000Z-2.jsonl")
	r.write("cdr.jsonl", call(6))
	r.mustLook()
	r.write("cdr.jsonl", call(7))
	r.mustLook()
	r.write("cdr-notes.jsonl", call(90)) // not one of ours
	r.f.listAt = time.Time{}
	r.mustLook()
	r.want(cdrquery.Query{}, "call-007", "call-006", "call-005", "call-004", "call-003", "call-002", "call-001")
	if s := r.Stats(); s.Behind != 0 || s.Unreadable != 0 || s.Rows != 7 {
		t.Errorf("%+v", s)
	}
}

func (r *rig) rename(from, to string) {
	r.t.Helper()
	if err := os.Rename(filepath.Join(r.dir, from), filepath.Join(r.dir, to)); err != nil {
		r.t.Fatal(err)
	}
}

// A process that ends at any moment goes on where it was, and reads nothing twice that it
// need not.
func TestGoesOnAfterARestart(t *testing.T) {
	r := newRig(t, nil)
	r.write("cdr.jsonl", call(1), call(2))
	r.mustLook()
	r.Stop()
	r.write("cdr.jsonl", call(3))
	r.Index = r.fresh(nil)
	r.mustLook()
	if place := r.f.places; len(place) != 1 {
		t.Errorf("places %v", place)
	}
	r.want(cdrquery.Query{}, "call-003", "call-002", "call-001")
	// kill -9: nothing is closed, and the next process looks the database through.
	r.Index = r.fresh(nil)
	r.mustLook()
	r.want(cdrquery.Query{}, "call-003", "call-002", "call-001")
}

// Lines that were written and not synced may be cut off and written anew.
func TestFileThatShrankIsReadAgain(t *testing.T) {
	r := newRig(t, nil)
	r.write("cdr.jsonl", call(1), call(2))
	r.mustLook()
	info, err := os.Stat(filepath.Join(r.dir, "cdr.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(r.dir, "cdr.jsonl"), info.Size()/2); err != nil {
		t.Fatal(err)
	}
	r.mustLook()
	longer := call(3)
	longer.UserAgent = strings.Repeat("x", 700)
	r.append("cdr.jsonl", "\n")
	r.write("cdr.jsonl", longer, call(4))
	r.mustLook()
	r.want(cdrquery.Query{}, "call-004", "call-003", "call-002", "call-001")
}

func TestLinesThatAreNoRecordsAreSkipped(t *testing.T) {
	r := newRig(t, nil)
	r.append("cdr.jsonl", "not json\n{}\n\n")
	r.write("cdr.jsonl", call(1))
	r.append("cdr.jsonl", strings.Repeat("x", 3*chunk)+"\n")
	r.write("cdr.jsonl", call(2))
	r.append("cdr.jsonl", `{"call_id":"half`)
	r.mustLook()
	r.mustLook()
	r.want(cdrquery.Query{}, "call-002", "call-001")
	if s := r.Stats(); s.Unreadable < 3 || s.Behind != int64(len(`{"call_id":"half`)) || s.Failing {
		t.Errorf("%+v", s)
	}
}

// What is damaged is made anew from the files, and says so until it is complete.
func TestDamagedDatabaseIsMadeAnew(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"no database":   func([]byte) []byte { return []byte(strings.Repeat("this is not a database. ", 300)) },
		"zeros":         func(b []byte) []byte { clear(b[4096 : len(b)-4096]); return b },
		"cut off":       func(b []byte) []byte { return b[:len(b)/2] },
		"another form":  func(b []byte) []byte { b[63] = 99; return b },
		"empty":         func([]byte) []byte { return nil },
		"random middle": func(b []byte) []byte { copy(b[8192:], strings.Repeat("\xa5", 6000)); return b },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			for n := range 40 {
				r.write("cdr.jsonl", call(n))
			}
			r.mustLook()
			r.shut(false) // as after a crash: it is looked through
			path := r.cfg.Path
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			r.Index = r.fresh(nil)
			var last error
			for range 3 {
				if last = r.look(); last == nil {
					break
				}
			}
			if last != nil {
				t.Fatal(last)
			}
			if got := r.ids(cdrquery.Query{}); len(got) != 40 {
				t.Errorf("%d calls are found", len(got))
			}
			if s := r.Stats(); s.Failing || name != "empty" && (s.Rebuilds != 1 || len(r.trouble) != 2 || r.trouble[1] != "<nil>") {
				t.Errorf("%+v, told %q", s, r.trouble)
			}
		})
	}
}

// A question that meets the damage first gets an error, and the next round cures it.
func TestDamageThatAQuestionFinds(t *testing.T) {
	r := newRig(t, nil)
	r.write("cdr.jsonl", call(1))
	r.mustLook()
	if _, err := r.store.write.Exec("DROP TABLE leg"); err != nil {
		t.Fatal(err)
	}
	q := cdrquery.Query{CallID: "x", Limit: 1}
	if _, err := r.Search(t.Context(), &q, Cursor{}, Bounds{1, 1}); !errors.Is(err, errDamaged) {
		t.Fatal(err)
	}
	if err := r.look(); !errors.Is(err, errDamaged) {
		t.Fatal(err)
	}
	if _, err := r.Search(t.Context(), &q, Cursor{}, Bounds{1, 1}); !errors.Is(err, ErrNotReady) {
		t.Error(err)
	}
	r.mustLook()
	r.want(cdrquery.Query{CallID: "b-1"}, "call-001")
}

func TestKeepAndSizeBoundTheIndex(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Keep, c.Size = 2*time.Hour, 600<<10 })
	old := call(0)
	old.Start = time.Now().Add(-3 * time.Hour)
	r.write("cdr.jsonl", old)
	r.mustLook()
	r.want(cdrquery.Query{})
	for n := range 100 {
		r.write("cdr.jsonl", call(n))
	}
	r.mustLook()
	if got := len(r.ids(cdrquery.Query{})); got != 100 {
		t.Fatalf("%d", got)
	}
	// Time passes: what began before goes with every word by which it was found.
	if err := r.prune(t.Context(), began.Add(2*time.Hour+50*time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := r.ids(cdrquery.Query{}); len(got) != 50 || got[49] != "call-050" {
		t.Errorf("%d: %v", len(got), got)
	}
	for table, want := range map[string]int{"party": 150, "leg": 150, "carrier": 250} {
		var n int
		if err := r.store.read.QueryRow("SELECT COUNT(*) FROM " + table).Scan(&n); err != nil || n != want {
			t.Errorf("%s has %d rows, %v; want %d", table, n, err, want)
		}
	}
	for n := range 3000 {
		r.write("cdr.jsonl", call(n))
	}
	r.mustLook()
	r.f.pruneAt = time.Time{}
	r.mustLook()
	if s := r.Stats(); s.Bytes > 600<<10 || s.Rows == 0 || s.Rows > 2000 || int(s.Rows) != len(r.ids(cdrquery.Query{Limit: 10000})) {
		t.Errorf("%+v", s)
	}
	if got := r.ids(cdrquery.Query{}); got[0] != "call-2999" {
		t.Errorf("the latest call is gone: %v", got[0])
	}
}

// A question has the time that its context gives.
func TestSearchEndsWithItsContext(t *testing.T) {
	r := newRig(t, nil)
	r.write("cdr.jsonl", call(1))
	r.mustLook()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	q := cdrquery.Query{Limit: 1}
	if _, err := r.Search(ctx, &q, Cursor{}, Bounds{1, 1}); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	i, err := New(Config{Path: "x", Records: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Search(t.Context(), &q, Cursor{}, Bounds{1, 1}); !errors.Is(err, ErrNotReady) {
		t.Errorf("%v", err)
	}
}
