package config

import (
	"testing"
	"time"
)

func TestDEC19_DrainKeys(t *testing.T) {
	d := defaults().Drain
	c := &checker{Faults: &Faults{}}
	want := Drain{Announce: 2 * time.Minute, Quiet: 10 * time.Second, Timeout: 10 * time.Minute}
	if got := c.drain(&d); got != want || len(c.List) != 0 {
		t.Errorf("default %+v, %v", got, c.Faults)
	}
	if got := c.drain(&fileDrain{"0s", "0s", "0s"}); got != (Drain{}) || len(c.List) != 0 {
		t.Errorf("none %+v, %v", got, c.Faults)
	}
	c.drain(&fileDrain{"2h", "ten", "-1s"})
	if len(c.List) != 3 {
		t.Errorf("faults %v", c.Faults)
	}
}
