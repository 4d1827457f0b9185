package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Numbers implements admin.Numbers.
func (d *desk) Numbers(context.Context) (admin.NumberSummary, error) {
	n := d.app.node.Numbers()
	s := admin.NumberSummary{
		Generation: n.Version.Generation, Edition: n.Version.Revision, Numbers: n.Table.Len(), Source: n.Source,
		Checksum: fmt.Sprintf("%016x", n.Table.Checksum()), Groups: n.Table.Groups(), Orphans: n.Orphans, Imports: []admin.OpenImport{},
	}
	if !n.At.IsZero() {
		s.Since = &n.At
	}
	for _, i := range n.Imports {
		s.Imports = append(s.Imports, admin.OpenImport{Author: i.Author, Reason: i.Reason, Since: i.Opened, Set: i.Set, Gone: i.Gone})
	}
	return s, nil
}

// Owner implements admin.Numbers: it asks the table that calls are routed by.
func (d *desk) Owner(_ context.Context, number string) (admin.NumberOwner, error) {
	t := d.app.node.Table()
	if t == nil {
		return admin.NumberOwner{}, as(admin.ErrUnavailable, errors.New("there is no configuration yet"))
	}
	if p, err := trunkgroup.ParsePattern(number); err != nil || p.Kind != trunkgroup.Exact {
		return admin.NumberOwner{}, as(admin.ErrInvalid, fmt.Errorf("%q is no number; write it as +12145550100", number))
	}
	out := admin.NumberOwner{Number: number, Others: []admin.NumberRow{}, Edition: d.app.node.Numbers().Version.Revision}
	m, ok := t.FindNumber([]byte(number))
	if ok {
		out.Group, out.By, out.InTable = m.Group.Name, m.By(), m.InTable
	}
	for _, c := range t.NumberCovers([]byte(number)) {
		if ok && c.Group == m.Group && c.By() == m.By() {
			continue
		}
		out.Others = append(out.Others, admin.NumberRow{Pattern: c.By(), Group: c.Group.Name})
	}
	return out, nil
}

// ListNumbers implements admin.Numbers.
func (d *desk) ListNumbers(_ context.Context, group, after string, limit int) (admin.NumberPage, error) {
	n := d.app.node.Numbers()
	page := admin.NumberPage{Edition: n.Version.Revision, Numbers: []admin.NumberRow{}}
	var from trunkgroup.Pattern
	if after != "" {
		var err error
		if from, err = trunkgroup.ParsePattern(after); err != nil {
			return page, as(admin.ErrInvalid, fmt.Errorf("after: %w", err))
		}
	}
	for p, g := range n.Table.After(from) {
		if group != "" && g != group {
			continue
		}
		if len(page.Numbers) == limit {
			page.Next = page.Numbers[limit-1].Pattern
			break
		}
		page.Numbers = append(page.Numbers, admin.NumberRow{Pattern: p.String(), Group: g})
	}
	return page, nil
}

// exportCheck is after how many lines an export looks whether anybody still wants it.
const exportCheck = 4096

// ExportNumbers implements admin.Numbers.
func (d *desk) ExportNumbers(ctx context.Context, w io.Writer, group string) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if _, err := b.WriteString("number,group\n"); err != nil {
		return err
	}
	lines := 0
	for p, g := range d.app.node.Numbers().Table.All() {
		if group != "" && g != group {
			continue
		}
		if lines++; lines%exportCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := b.WriteString(p.String() + "," + g + "\n"); err != nil {
			return err
		}
	}
	return b.Flush()
}

// ChangeNumbers implements admin.Numbers.
func (d *desk) ChangeNumbers(ctx context.Context, c admin.NumberChange) (admin.NumbersApplied, error) {
	start := time.Now()
	edit := cluster.NumbersEdit{Author: c.Author, Reason: c.Reason, Expect: c.Expect, Key: c.Key}
	out := admin.NumbersApplied{}
	for i, r := range c.Rows {
		p, err := trunkgroup.ParsePattern(r.Pattern)
		if err != nil {
			return out, as(admin.ErrInvalid, fmt.Errorf("row %d: %q: %w; write +12145550100, +1469555* or +12145550100..+12145550199", i+1, r.Pattern, err))
		}
		if r.Group != "" {
			if remedy, ok := d.numbered(r.Group); !ok {
				return out, as(admin.ErrInvalid, fmt.Errorf("row %d: no numbers can belong to %q; %s", i+1, r.Group, remedy))
			}
		}
		edit.Rows = append(edit.Rows, trunkgroup.NumberChange{Pattern: p, Group: r.Group})
	}
	out.Set, out.Removed = d.app.node.Numbers().Table.Tally(edit.Rows)
	v, changed, err := d.app.node.ChangeNumbers(ctx, edit)
	out.Generation, out.Edition, out.Unchanged = v.Generation, v.Revision, !changed
	out.Same, out.Millis = len(edit.Rows)-out.Set-out.Removed, time.Since(start).Milliseconds()
	return out, numberError(err)
}

// numberError says in the API's words why numbers were not changed.
func numberError(err error) error {
	if edition, ok := errors.AsType[*fsm.EditionError](err); ok {
		return as(admin.ErrRefused, fmt.Errorf("edition %d of the numbers was expected and %d is in force; look at what changed, and try again",
			edition.Expected, edition.Have.Revision))
	}
	return adminError(err)
}

// NumberHistory implements admin.Numbers.
func (d *desk) NumberHistory(context.Context) (admin.NumberHistory, error) {
	h := admin.NumberHistory{Changes: []admin.NumberRecord{}}
	for _, r := range d.app.node.NumbersHistory() {
		h.Changes = append(h.Changes, admin.NumberRecord{
			Generation: r.Version.Generation, Edition: r.Version.Revision, Author: r.Author, Reason: r.Reason, At: r.At,
			Import: r.Import != "", Set: r.Set, Removed: r.Removed, Numbers: r.Len,
		})
	}
	return h, nil
}
