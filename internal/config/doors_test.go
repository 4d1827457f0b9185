package config

import (
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestDoors(t *testing.T) {
	faults := &Faults{}
	c := &checker{Faults: faults}
	f := defaultDoors()
	f.Allow = []string{"198.51.100.7", "2001:db8::/32", "::ffff:192.0.2.1"}
	d := c.doors(&f)
	if len(faults.List) > 0 {
		t.Fatal(faults)
	}
	want := []netip.Prefix{netip.MustParsePrefix("198.51.100.7/32"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("192.0.2.1/32")}
	for i := range want {
		if d.Allow[i] != want[i] {
			t.Errorf("allow[%d] = %s, want %s", i, d.Allow[i], want[i])
		}
	}
	if d.Strangers != (Bucket{100, 300}) || d.Trusted != (Bucket{}) || d.Ban.First != 10*time.Minute || d.Scanners != nil {
		t.Errorf("defaults: %+v", d)
	}
	f.Scanners = []string{"-"}
	if d = c.doors(&f); d.Scanners == nil || len(d.Scanners) > 0 {
		t.Errorf("no scanners: %v", d.Scanners)
	}
}

func TestDoorsFaults(t *testing.T) {
	for _, tc := range []struct {
		change func(*fileDoors)
		want   string
	}{
		{func(f *fileDoors) { f.Allow = []string{"10.0.0.1/8"} }, "doors.allow[0]"},
		{func(f *fileDoors) { f.Strangers.Rate = -1 }, "doors.strangers.rate"},
		{func(f *fileDoors) { f.Strangers = fileBucket{Rate: 1000, Burst: 1} }, "doors.strangers.burst"},
		{func(f *fileDoors) { f.Sources = 1 }, "doors.sources"},
		{func(f *fileDoors) { f.Scanners = []string{"x"} }, "doors.scanners[0]"},
		{func(f *fileDoors) { f.Ban.Longest = "1m" }, "doors.ban.longest"},
		{func(f *fileDoors) { f.NFTables.Table = "filter" }, "doors.nftables"},
		{func(f *fileDoors) { f.NFTables.Set4 = "banned" }, "doors.nftables"},
	} {
		faults := &Faults{}
		f := defaultDoors()
		tc.change(&f)
		(&checker{Faults: faults}).doors(&f)
		if len(faults.List) != 1 || !strings.Contains(faults.Error(), tc.want) {
			t.Errorf("%s: %v", tc.want, faults)
		}
	}
	faults := &Faults{}
	(&checker{Faults: faults}).access("listeners[0]", []string{"10.0.0.0/8"}, []string{"10.0.0.0/8"})
	if len(faults.List) != 1 {
		t.Errorf("allowed and denied: %v", faults)
	}
}
