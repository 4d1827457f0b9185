package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/cdr/profile"
	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/cdrlog"
	"github.com/tandem-sbc/tandem/monitor/cdrsink"
	"github.com/tandem-sbc/tandem/monitor/metrics"
)

// Names of the alarms about call records.
const (
	alarmSpool = "cdr_spool" // the disk takes no records
	alarmSinks = "cdr_sinks" // a sink fails, or is far behind
)

const (
	// sinkPatience is for how long a sink may fail before there is an alarm.
	sinkPatience = time.Minute
	// sinkBehind is how old a record may be that waits for a sink.
	sinkBehind = 10 * time.Minute
)

// openSinks makes the sinks of the node file.
func openSinks(a *App, spool *cdrlog.Log) (*cdrsink.Set, error) {
	var list []cdrsink.Config
	for i := range a.cfg.CDR.Sinks {
		s := &a.cfg.CDR.Sinks[i]
		c := cdrsink.Config{
			Name: s.Name, Type: cdrsink.Type(s.Type), Format: cdrsink.Format(s.Format), Profile: profile.Named(s.Profile),
			Oldest: s.Oldest, Batch: s.Batch, Path: s.Path, RotateSize: s.RotateSize, RotateEvery: s.RotateEvery,
			URL: s.URL, Authorization: string(s.Authorization.Bytes()), Address: s.Address, Transport: s.Transport, Timeout: s.Timeout,
		}
		for _, k := range s.Kinds {
			c.Kinds = append(c.Kinds, cdr.Kind(k))
		}
		var err error
		if c.TLS, err = sinkTLS(s); err != nil {
			return nil, fmt.Errorf("sink %s: %w", s.Name, err)
		}
		list = append(list, c)
	}
	return cdrsink.Open(cdrsink.SetConfig{
		Log: spool, Dir: filepath.Join(a.cfg.DataDir, "cdr-sinks"), Node: a.cfg.Name, Sinks: list,
		Keep: a.cfg.CDR.Keep, Logger: a.log.With("component", "cdr"),
	})
}

// sinkTLS is whom a sink trusts and how it shows itself.
func sinkTLS(s *config.Sink) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.TLS.CA != "" {
		pem, err := os.ReadFile(s.TLS.CA)
		if err != nil {
			return nil, fmt.Errorf("tls.ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("tls.ca: " + s.TLS.CA + " holds no certificate")
		}
	}
	if s.TLS.Cert != "" {
		pair, err := tls.LoadX509KeyPair(s.TLS.Cert, s.TLS.Key)
		if err != nil {
			return nil, fmt.Errorf("tls.cert: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// watchRecords raises and clears the alarms about call records.
func (w *watch) watchRecords(now time.Time) {
	w.app.alarmIf(alarmSpool, spoolTrouble(w.records.Stats()))
	w.app.alarmIf(alarmSinks, sinkTrouble(now, w.sinks.Status()))
}

// spoolTrouble says what is wrong with the disk of call records; empty = nothing.
func spoolTrouble(s cdrlog.Stats) string {
	if !s.Failing {
		return ""
	}
	held := "records wait in memory and are lost if this process ends"
	if s.Refused > 0 {
		held = "RECORDS ARE LOST, for as many wait in memory as may"
	}
	return fmt.Sprintf("since %s call records cannot be written: %s; calls go on, %s; make room or mend the disk: it is tried again by itself",
		s.Since.UTC().Format(time.RFC3339), s.Reason, held)
}

// sinkTrouble says which sinks fail, or are far behind; empty = none.
func sinkTrouble(now time.Time, list []cdrsink.Status) string {
	var parts []string
	for _, s := range list {
		switch {
		case s.Failing && now.Sub(s.Since) >= sinkPatience:
			parts = append(parts, fmt.Sprintf("%s (%s) takes nothing since %s: %s", s.Name, s.Target, s.Since.UTC().Format(time.RFC3339), s.Reason))
		case s.Backlog > 0 && !s.Oldest.IsZero() && now.Sub(s.Oldest) >= sinkBehind:
			parts = append(parts, fmt.Sprintf("%s (%s) is behind: the oldest record that waits is of %s", s.Name, s.Target, s.Oldest.UTC().Format(time.RFC3339)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "; nothing is lost, the spool keeps what they lack; tandem cdr sinks shows how they do"
}

// Sinks implements admin.Sinks.
func (d *desk) Sinks(context.Context) (admin.SinkList, error) {
	w := d.app.watch
	st := w.records.Stats()
	out := admin.SinkList{
		Node: d.app.cfg.Name, Sinks: []admin.Sink{},
		Spool: admin.Spool{
			Path: d.app.cfg.CDR.Path, Last: w.records.Through(), Backlog: st.Backlog, Lost: st.Refused + st.Unusable,
			Failing: st.Failing, Since: moment(st.Since), Reason: st.Reason,
		},
	}
	for _, s := range w.sinks.Status() {
		out.Sinks = append(out.Sinks, admin.Sink{
			Name: s.Name, Type: string(s.Type), Target: s.Target, Next: s.Next, Sent: s.Sent, Backlog: s.Backlog, Oldest: moment(s.Oldest),
			Errors: s.Errors, Unusable: s.Unusable, Gaps: s.Gaps, Failing: s.Failing, Since: moment(s.Since), Reason: s.Reason,
		})
	}
	return out, nil
}

// sinkMetrics are what is shown of the sinks.
func sinkMetrics(now time.Time, list []cdrsink.Status) []metrics.CDRSink {
	out := make([]metrics.CDRSink, 0, len(list))
	for _, s := range list {
		m := metrics.CDRSink{Name: s.Name, Sent: s.Sent, Unusable: s.Unusable, Errors: s.Errors, Gaps: s.Gaps, Backlog: s.Backlog, Failing: s.Failing}
		if s.Backlog > 0 && !s.Oldest.IsZero() {
			m.Waits = max(now.Sub(s.Oldest), 0)
		}
		out = append(out, m)
	}
	return out
}
