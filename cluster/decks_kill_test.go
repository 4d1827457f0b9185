package cluster

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// snapshotNow has raft take a snapshot.
func snapshotNow(r *raft.Raft) raft.Future { return r.Snapshot() }

// deckVictimEnv names data directory and address for a child process that is to be killed.
const deckVictimEnv = "TANDEM_TEST_DECKS_VICTIM"

// TestDecksVictim is the child of TestDEC14_DecksKilledBetweenPieces: a node that imports one deck of
// several pieces after the other, and says which one it runs, until it is killed.
func TestDecksVictim(t *testing.T) {
	dir, address, ok := strings.Cut(os.Getenv(deckVictimEnv), " ")
	if !ok {
		t.Skip("runs as a child of another test")
	}
	l := newLab(t, "dal-1")
	l.ports["dal-1"] = [2]string{address + ":7950", address + ":7946"}
	m := l.start(l.config("dal-1", dir))
	next := uint64(2)
	if list := m.Decks().List; len(list) > 0 {
		next = list[0].Rows + 2
	}
	for n := next; ; n += 2 {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		_, _, err := m.ImportDeck(ctx, DeckImport{Name: "cost", Data: deckOctets("cost", n), Rows: int(n), Author: "test", Reason: "because"})
		cancel()
		must(t, err)
		fmt.Printf("runs %d\n", n)
	}
}

// However often a node is killed between the pieces of a deck: the deck that it said it ran is
// there at the next start, or a later one, and whole (DEC-14).
func TestDEC14_DecksKilledBetweenPieces(t *testing.T) {
	dir := t.TempDir()
	l := newLab(t, "dal-1")
	address, _, _ := strings.Cut(l.ports["dal-1"][0], ":")
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	random := rand.New(rand.NewPCG(7, 7))
	last, killed := uint64(0), 0
	for range rounds {
		child := exec.Command(os.Args[0], "-test.run", "^TestDecksVictim$")
		child.Env = append(os.Environ(), deckVictimEnv+"="+dir+" "+address)
		out, err := child.StdoutPipe()
		must(t, err)
		must(t, child.Start())
		lines := bufio.NewScanner(out)
		told := last
		for lines.Scan() {
			text, ok := strings.CutPrefix(lines.Text(), "runs ")
			n, err := strconv.ParseUint(text, 10, 64)
			if !ok || err != nil {
				t.Log(lines.Text())
				continue
			}
			if told == last {
				time.AfterFunc(time.Duration(random.IntN(300))*time.Millisecond, func() { _ = child.Process.Kill() })
				killed++
			}
			told = n
		}
		_ = child.Wait() // it was killed
		list, v, err := newDeckDisk(dir, vaultOf(t, dir)).load()
		if err != nil || len(list) != 1 || list[0].Rows < told || decksOf(Decks{List: list}) != fmt.Sprintf(" cost=%d", list[0].Rows) {
			t.Fatalf("edition %v has%s, and %d was run: %v", v, decksOf(Decks{List: list}), told, err)
		}
		last = list[0].Rows
	}
	if killed != rounds {
		t.Errorf("%d of %d children were killed while they imported", killed, rounds)
	}
	t.Logf("killed %d times, at deck %d", killed, last)
}
