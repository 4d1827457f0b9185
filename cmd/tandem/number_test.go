package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// bulk is the numbers of a node with fixed answers. It keeps what it was asked.
type bulk struct {
	change admin.NumberChange
	imp    admin.NumberImport
	list   string
}

func (b *bulk) Numbers(context.Context) (admin.NumberSummary, error) {
	return admin.NumberSummary{
		Generation: 1, Edition: 7, Numbers: 3, Checksum: "00ff", Source: "raft", Since: &noon, Groups: map[string]int{"acme-in": 2, "gone": 1},
		Orphans: map[string]int{"gone": 1}, Imports: []admin.OpenImport{{Author: "bob", Reason: "port-in", Since: noon, Set: 5}},
	}, nil
}

func (b *bulk) Owner(_ context.Context, number string) (admin.NumberOwner, error) {
	if number != "+12145550100" {
		return admin.NumberOwner{Number: number}, nil
	}
	return admin.NumberOwner{
		Number: number, Group: "acme-in", By: number, InTable: true, Others: []admin.NumberRow{{Pattern: "+1214*", Group: "globex-in"}},
	}, nil
}

func (b *bulk) ListNumbers(_ context.Context, group, after string, limit int) (admin.NumberPage, error) {
	return admin.NumberPage{Numbers: []admin.NumberRow{{Pattern: group + after, Group: fmt.Sprint(limit)}}, Next: "+1"}, nil
}

func (b *bulk) ExportNumbers(_ context.Context, w io.Writer, group string) error {
	if _, err := io.WriteString(w, "number,group\n+1,"+group+"\n"); err != nil {
		return err
	}
	if group == "torn" {
		return errors.New("the disk is gone")
	}
	return nil
}

func (b *bulk) ChangeNumbers(_ context.Context, c admin.NumberChange) (admin.NumbersApplied, error) {
	b.change = c
	if c.Rows[0].Group == "nobody" {
		return admin.NumbersApplied{}, trunkgroup.Faults{{Path: "number table", Problem: `there is no group "nobody"`, Remedy: "add it first"}}
	}
	return admin.NumbersApplied{Generation: 1, Edition: 8, Set: 1, Millis: 3}, nil
}

func (b *bulk) ImportNumbers(_ context.Context, list io.Reader, i admin.NumberImport) (admin.NumbersApplied, error) {
	text, err := io.ReadAll(list)
	if b.list, b.imp = string(text), i; err != nil {
		return admin.NumbersApplied{}, err
	}
	if strings.Contains(b.list, "x") {
		return admin.NumbersApplied{}, trunkgroup.Faults{{Path: "list", Line: 2, Problem: `"+12x" is not + and digits`, Remedy: "write +12145550100"}}
	}
	return admin.NumbersApplied{Generation: 1, Edition: 9, Set: 2, Removed: 1, Same: 4, DryRun: i.DryRun, Millis: 12}, nil
}

func (b *bulk) NumberHistory(context.Context) (admin.NumberHistory, error) {
	return admin.NumberHistory{Changes: []admin.NumberRecord{
		{Generation: 1, Edition: 7, Author: "ann", Reason: "port-in", At: noon, Import: true, Set: 2, Numbers: 3},
	}}, nil
}

func TestNumber(t *testing.T) {
	b := &bulk{}
	address := serveBackend(t, "", admin.Backend{Numbers: b})
	dir := t.TempDir()
	for name, text := range map[string]string{"good": "+1,a\n", "bad": "+1,a\n+12x,a\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	for _, c := range []struct {
		args      string
		code      int
		out, errs string
	}{
		{"number show +12145550100", exitOK, "NUMBER        GROUP      BY            WHERE         DECIDES\n" +
			"+12145550100  acme-in    +12145550100  number table  yes\n+12145550100  globex-in  +1214*        -             no\n", ""},
		{"number show +1", exitNotFound, "NUMBER  GROUP  BY  WHERE  DECIDES\n", "nobody owns +1"},
		{"number list --group g --after +9 --limit 5", exitOK, "NUMBER  GROUP\ng+9     5\n", "--after '+1'"},
		{"number list --limit 20000", exitFailed, "", "10000"},
		{"number add +1 acme-in --author ann --reason order", exitOK, "edition 1.8 is in force after 3 ms: 1 set, 0 removed, 0 as before\n", ""},
		{"number add +1 nobody --reason order", exitFailed, "", "there is no group"},
		{"number add +1 acme-in", exitUsage, "", "--reason"},
		{"number remove +1 --reason order --key k", exitOK, "edition 1.8 is in force after 3 ms: 1 set, 0 removed, 0 as before\n", ""},
		{"number import " + good + " --dry-run --group a", exitOK, "nothing was changed (--dry-run): 2 set, 1 removed, 4 as before\n", ""},
		{"number import " + good, exitUsage, "", "--reason"},
		{"number import " + good + " --replace-group a --reason bulk --author ann --key k", exitOK, "edition 1.9 is in force after 12 ms: 2 set, 1 removed, 4 as before\n", ""},
		{"number import " + bad + " --reason bulk", exitFailed, "", `"+12x" is not + and digits`},
		{"number import nowhere --reason bulk", exitNotFound, "", "nowhere"},
		{"number export --group acme-in", exitOK, "number,group\n+1,acme-in\n", ""},
		{"number history", exitOK, "EDITION  AT                    AUTHOR  WHAT    SET  REMOVED  NUMBERS  REASON\n" +
			"1.7      2026-11-30T12:00:00Z  ann     import  2    0        3        port-in\n", ""},
	} {
		code, out, errs := tandem(t, append(strings.Fields(c.args), "--address", address)...)
		if code != c.code || out != c.out || !strings.Contains(errs, c.errs) {
			t.Errorf("tandem %s: exit code %d\n%s%s", c.args, code, out, errs)
		}
		switch {
		case strings.Contains(c.args, "remove") && (b.change.Key != "k" || b.change.Rows[0] != admin.NumberRow{Pattern: "+1"}):
			t.Errorf("remove asked for %+v", b.change)
		case strings.Contains(c.args, "--replace-group") && (b.imp != admin.NumberImport{Replace: "a", Author: "ann", Reason: "bulk", Key: "k"} || b.list != "+1,a\n"):
			t.Errorf("import asked for %+v", b.imp)
		}
	}
	code, out, _ := tandem(t, "number", "status", "--address", address)
	if code != exitOK || !strings.Contains(out, "1.7, from raft") || !strings.Contains(out, "1, own nothing") || !strings.Contains(out, "import of bob") {
		t.Errorf("status: %d\n%s", code, out)
	}
	if code, _, errs := tandem(t, "number", "export", "--group", "torn", "--address", address); code == exitOK || !strings.Contains(errs, "cut off") && !strings.Contains(errs, "no answer") {
		t.Errorf("a torn export: %d, %s", code, errs)
	}
}
