package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// ImportNumbers implements admin.Numbers: the list is read whole before anything is changed.
func (d *desk) ImportNumbers(ctx context.Context, list io.Reader, i admin.NumberImport) (admin.NumbersApplied, error) {
	start := time.Now()
	out := admin.NumbersApplied{DryRun: i.DryRun}
	if i.Replace != "" {
		if remedy, ok := d.numbered(i.Replace); !ok {
			return out, as(admin.ErrInvalid, fmt.Errorf("replace_group: no numbers can belong to %q; %s", i.Replace, remedy))
		}
	}
	l, err := d.readNumbers(ctx, list, i.Group)
	if err != nil {
		return out, err
	}
	if i.Replace != "" && l.table.Len() == 0 && len(l.remove) == 0 {
		return out, as(admin.ErrInvalid, fmt.Errorf("the list has no numbers, and all that %q has would be taken out; see what became of the list, or name what goes in lines like +12145550100,-", i.Replace))
	}
	r, err := d.app.node.ImportNumbers(ctx, cluster.NumbersImport{
		Rows: l.table, Remove: l.remove, Replace: i.Replace, Author: i.Author, Reason: i.Reason, Key: i.Key, DryRun: i.DryRun,
	})
	out.Generation, out.Edition = r.Version.Generation, r.Version.Revision
	out.Set, out.Removed, out.Same, out.Unchanged = r.Set, r.Removed, r.Same, !r.Changed
	out.Millis = time.Since(start).Milliseconds()
	if !i.DryRun {
		d.app.watch.meter.imported(err == nil)
	}
	return out, numberError(err)
}

// numbered tells whether numbers may belong to a group of the document in force, and if not what to
// do about it.
func (d *desk) numbered(group string) (remedy string, ok bool) {
	t := d.app.node.Table()
	if t == nil {
		return "wait until this node has a configuration", false
	}
	switch g := t.Group(group); {
	case g == nil:
		return "the document has no such group: " + cmp.Or(trunkgroup.Suggest(group, numberedGroups(t)), "add it first, or name another one"), false
	case g.Role != trunkgroup.OriginationCustomer:
		return "the group is no origination-customer: name one that is", false
	}
	return "", true
}

// numberedGroups names the groups that may have numbers.
func numberedGroups(t *trunkgroup.Table) (names []string) {
	for _, g := range t.Groups() {
		if g.Role == trunkgroup.OriginationCustomer {
			names = append(names, g.Name)
		}
	}
	return names
}

// numberList is a list of numbers that was read.
type numberList struct {
	table  *trunkgroup.NumberTable
	remove []trunkgroup.Pattern
	batch  []trunkgroup.NumberChange
}

// numberBatch is how many lines are put into a table at once.
const numberBatch = 1 << 16

func (d *desk) readNumbers(ctx context.Context, from io.Reader, group string) (*numberList, error) {
	l := &numberList{}
	_, err := trunkgroup.ReadNumberCSV(from, trunkgroup.NumberCSV{Group: group, Known: d.numbered}, func(_ int, c trunkgroup.NumberChange) error {
		if c.Group == "" {
			l.remove = append(l.remove, c.Pattern)
			return nil
		}
		if l.batch = append(l.batch, c); len(l.batch) < numberBatch {
			return nil
		}
		return l.flush(ctx)
	})
	if err == nil {
		err = l.flush(ctx)
	}
	return l, err
}

func (l *numberList) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	next, err := l.table.With(l.batch)
	if err != nil {
		return as(admin.ErrInvalid, err)
	}
	if next.Len() > fsm.MaxNumbers {
		return as(admin.ErrInvalid, fsm.ErrTooManyNumbers)
	}
	l.table, l.batch = next, l.batch[:0]
	return nil
}
