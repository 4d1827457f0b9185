package monitor

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// DEC-25: an operator's word holds while the disk takes nothing, the node says so once, and writes it as soon as it can.
func TestDEC25_KnobOnADiskThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "gone")
		file := filepath.Join(dir, "knobs.json")
		var told []error
		table := tableOf(t, 2, 2, nil)
		c := newCluster(t, table, "dallas-1")
		n := c.newNode("dallas-2", func(cfg *Config) {
			cfg.KnobFile, cfg.OnKnobsKept = file, func(err error) { told = append(told, err) }
		})
		c.nodes = append(c.nodes, n)
		c.setLive("dallas-1", "dallas-2")
		n.Start()
		defer n.Stop()
		n.SetTable(table)
		wait(5 * time.Second)
		if _, err := n.SetState("g1/dallas-0", trunkgroup.AdminDisabled, "bob", "noise"); err != nil {
			t.Fatal(err)
		}
		wait(5 * time.Second)
		if len(told) != 1 || told[0] == nil || len(n.Knobs()) != 1 {
			t.Fatalf("told %v, in force %v", told, n.Knobs())
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		wait(5 * time.Second)
		if _, err := os.Stat(file); len(told) != 2 || told[1] != nil || err != nil {
			t.Errorf("told %v, %v", told, err)
		}
	})
}
