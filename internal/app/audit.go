package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/audit"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/sbc/guard"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// alarmAuditSave: the disk does not take the audit trail. Orders are carried out all
// the same; the log lines of the node have them too.
const alarmAuditSave = "audit_save"

// openAudit opens the node's audit trail in its data directory.
func openAudit(a *App) (*audit.Log, error) {
	dir := filepath.Join(a.cfg.DataDir, "audit")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("audit trail: %w", err)
	}
	return audit.Open(audit.Config{
		Path: filepath.Join(dir, "audit.jsonl"), Node: a.cfg.Name, OnFailing: a.auditKept, Logger: a.log.With("component", "audit"),
	})
}

// auditKept raises and clears the alarm.
func (a *App) auditKept(err error) {
	switch {
	case a.node == nil: // it has not begun yet, and says so in the log
	case err == nil:
		a.node.ClearAlarm(alarmAuditSave)
	default:
		a.node.RaiseAlarm(alarmAuditSave, err.Error())
	}
}

// audited writes down what somebody asked this node for.
func (a *App) audited(c admin.Audited) {
	e := audit.Entry{Via: "api", Author: c.Author, Verb: c.What, Outcome: audit.Done}
	var subject, detail []string
	for i := 0; i+1 < len(c.Args); i += 2 {
		name, value := fmt.Sprint(c.Args[i]), fmt.Sprint(c.Args[i+1])
		switch {
		case name == "reason":
			e.Reason = value
		case name == "dry_run" && value == "true":
			return // nothing was to be changed
		case value == "" || value == "false" || name == "dry_run":
		case slices.Contains(subjectNames, name):
			subject = append(subject, value)
		default:
			detail = append(detail, name+" "+value)
		}
	}
	e.Subject, e.Detail = strings.Join(subject, " "), strings.Join(detail, ", ")
	if c.Problem != "" {
		e.Outcome = "refused: " + c.Problem
	}
	a.audit.Add(e)
}

// subjectNames are the names under which the API says what a change is about.
var subjectNames = []string{"member", "of", "about", "group", "of_site", "prefix", "aor", "id", "for", "in", "number"}

// auditOrder writes down what another node has passed to this one.
func (a *App) auditOrder(o *order, answer *orderAnswer) {
	e := audit.Entry{Via: "node " + o.Via, Author: o.Author, Verb: "order: " + o.Verb, Subject: o.Subject, Reason: o.Reason, Outcome: audit.Done}
	switch {
	case o.Subject == "" && o.Verb != "states":
		e.Subject = o.Site
	case o.Verb == "states":
		e.Subject = strings.TrimSpace(o.Subject + " " + o.Site)
	}
	switch {
	case o.State != "":
		e.Detail = "state " + o.State
	case o.Weight > 0:
		e.Detail = fmt.Sprintf("weight %d", o.Weight)
	case o.On:
		e.Detail = "on"
	}
	if answer.Error != "" {
		e.Outcome = "refused: " + answer.Error
	}
	a.audit.Add(e)
}

// auditKnob writes down an operator's word that came from another node, or that
// ended.
func (a *App) auditKnob(k verdict.Knob, what string) {
	e := audit.Entry{Via: "node " + k.Node, Author: k.Author, Verb: "knob", Subject: k.Member, Detail: knobLine(k).Setting, Reason: k.Reason, Outcome: audit.Heard}
	if what != "" {
		e.Via, e.Outcome = "self", what
	}
	a.audit.Add(e)
}

// auditTable writes down which configuration is in force, and who wanted it.
func (a *App) auditTable(v trunkgroup.Version, current fsm.Entry) {
	e := audit.Entry{Via: "self", Verb: "configuration in force", Subject: fmt.Sprintf("revision %d.%d", v.Generation, v.Revision), Outcome: audit.Done}
	if current.Version == v {
		e.Author, e.Reason = current.Author, current.Reason
	}
	a.audit.Add(e)
}

// auditNumbers writes down which number table is in force, and who changed what.
func (a *App) auditNumbers(r fsm.NumbersRecord) {
	a.audit.Add(audit.Entry{
		Via: "self", Author: r.Author, Verb: "numbers in force", Subject: fmt.Sprintf("edition %d.%d", r.Version.Generation, r.Version.Revision),
		Detail: fmt.Sprintf("%d set, %d removed, %d in the table", r.Set, r.Removed, r.Len), Reason: r.Reason, Outcome: audit.Done,
	})
}

// auditBan writes down a ban of an operator that another node has made. Those that
// nodes make by themselves are as many as there are attackers: the log has them.
func (a *App) auditBan(b *guard.Ban) {
	if !b.Auto {
		a.audit.Add(audit.Entry{
			Via: "node " + b.Node, Author: b.By, Verb: "ban", Subject: b.Prefix.String(), Reason: b.Reason, Outcome: audit.Heard,
		})
	}
}

// Audit implements admin.Auditor.
func (d *desk) Audit(_ context.Context, q audit.Query) (admin.AuditList, error) {
	list, err := d.app.audit.List(q)
	if err != nil {
		return admin.AuditList{}, fmt.Errorf("%w: %w", admin.ErrUnavailable, err)
	}
	return admin.AuditList{Node: d.app.cfg.Name, Lost: d.app.audit.Lost(), Entries: slices.Concat([]audit.Entry{}, list)}, nil
}
