package cluster

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// A recovery abandons a canary, also on a node that was restarted meanwhile and knows
// of it by its disk alone: nobody promoted it (DEC-14, DEC-25).
func TestDEC14_RecoveryAbandonsACanaryAfterARestart(t *testing.T) {
	for name, spoil := range map[string]func(*testing.T, string){
		"sound logs": func(*testing.T, string) {},
		"torn logs":  tearLog,
	} {
		t.Run(name, func(t *testing.T) { recoverCanary(t, spoil) })
	}
}

func recoverCanary(t *testing.T, spoil func(*testing.T, string)) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := v.run()
		time.Sleep(10 * time.Second)
		v.propose(nodes["dal-1"], "settled")
		time.Sleep(time.Second)
		if _, err := nodes["dal-1"].Stage(context.Background(), "dallas", Change{Document: []byte("tried"), Author: "ann"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		v.want(nodes, map[string]string{"dallas": "tried", "ashburn": "settled"}, "canary")
		for _, gone := range []string{"ash-1", "ash-2", "wit-1"} {
			v.stop(nodes[gone])
			delete(nodes, gone)
		}
		for _, here := range []string{"dal-1", "dal-2"} {
			v.stop(nodes[here])
			spoil(t, nodes[here].cfg.DataDir)
		}
		for _, here := range []string{"dal-1", "dal-2"} {
			nodes[here] = v.start(nodes[here].cfg)
		}
		time.Sleep(2 * time.Minute)
		if inForce(nodes["dal-1"]) != "tried" {
			t.Fatalf("after the restart dal-1 routes from %q", inForce(nodes["dal-1"]))
		}
		file, info, err := nodes["dal-1"].Backup()
		if err != nil || info.Revision != 1 {
			t.Fatalf("the backup holds %+v, %v", info, err)
		}
		b, err := nodes["dal-1"].OpenBackup(file)
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := b.Document(info.Revision); !ok || string(e.Document) != "settled" || len(b.History()) != 1 {
			t.Errorf("the backup holds %q and %d revisions", e.Document, len(b.History()))
		}
		if _, err := nodes["dal-1"].Recover(context.Background(), order()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		v.want(nodes, map[string]string{"dallas": "settled"}, "recovered")
		if _, ok := nodes["dal-1"].Canary(); ok {
			t.Error("the canary goes on")
		}
		v.end(nodes["dal-1"], nodes["dal-2"])
	})
}

func tearLog(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, raftDir, logFile), bytes.Repeat([]byte("torn"), 9999), 0o600); err != nil {
		t.Fatal(err)
	}
}
