package cluster

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// numbersVictimEnv names the data directory for a child process that is to be killed.
const numbersVictimEnv = "TANDEM_TEST_NUMBERS_VICTIM"

// victimRows are what edition e changes: so what is on disk is known from the edition alone.
func victimRows(e uint64) []trunkgroup.NumberChange {
	return numberRows(fmt.Sprintf("+1%d g%d", e%97, e), fmt.Sprintf("+2%d -", e%7), fmt.Sprintf("+2%d g", (e+3)%7))
}

// TestNumbersVictim is the child of TestNumbersKilledAtAnyTime: it changes numbers as fast as it can and
// says which edition is on disk, until it is killed.
func TestNumbersVictim(t *testing.T) {
	dir := os.Getenv(numbersVictimEnv)
	if dir == "" {
		t.Skip("runs as a child of another test")
	}
	d := newNumberDisk(dir, "test", vaultOf(t, dir))
	table, v, err := d.load()
	must(t, err)
	if v.Revision == 0 {
		v = trunkgroup.Version{Cluster: "test", Generation: 1}
	}
	for {
		o := numbersOffer{before: v, version: v, rows: victimRows(v.Revision + 1), record: &fsm.NumbersRecord{}}
		o.version.Revision++
		o.table, err = table.With(o.rows)
		must(t, err)
		switch {
		case o.version.Revision%50 == 0:
			d.journalOctets = compactOctets
		case o.version.Revision%41 == 0:
			o.record.Import = "i" // the table comes as a whole
		}
		must(t, d.keep([]numbersOffer{o}, o.table, o.version))
		table, v = o.table, o.version
		fmt.Printf("kept %d\n", v.Revision)
	}
}

// However often a node is killed: the edition that calls were routed by is there at the next start,
// and it is whole (DEC-14).
func TestDEC14_NumbersKilledAtAnyTime(t *testing.T) {
	dir := t.TempDir()
	_ = vaultOf(t, dir) // the data key
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	random := rand.New(rand.NewPCG(3, 3))
	for range rounds {
		child := exec.Command(os.Args[0], "-test.run", "^TestNumbersVictim$")
		child.Env = append(os.Environ(), numbersVictimEnv+"="+dir)
		out, err := child.StdoutPipe()
		must(t, err)
		must(t, child.Start())
		time.AfterFunc(time.Duration(50+random.IntN(400))*time.Millisecond, func() { _ = child.Process.Kill() })
		told := uint64(0)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if n, err := strconv.ParseUint(lines.Text()[min(5, len(lines.Text())):], 10, 64); err == nil {
				told = n
			}
		}
		_ = child.Wait() // it was killed
		got, v, err := newNumberDisk(dir, "test", vaultOf(t, dir)).load()
		if err != nil || v.Revision < told {
			t.Fatalf("edition %v is there, and %d was kept: %v", v, told, err)
		}
		var want *trunkgroup.NumberTable
		for e := uint64(1); e <= v.Revision; e++ {
			want, err = want.With(victimRows(e))
			must(t, err)
		}
		if got.Checksum() != want.Checksum() {
			t.Fatalf("edition %v is another one", v)
		}
	}
	_, v, err := newNumberDisk(dir, "test", vaultOf(t, dir)).load()
	must(t, err)
	t.Logf("killed %d times, at edition %d", rounds, v.Revision)
}
