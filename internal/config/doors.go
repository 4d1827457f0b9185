package config

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Doors say from whom this node takes anything at all.
type Doors struct {
	// Allow lists who is trusted beside the far ends of the trunk groups.
	Allow []netip.Prefix
	// Strangers, Known and Trusted are the token buckets of sources: of strangers, of live registrations
	// and digest users, of trunks and the allow list.
	Strangers, Known, Trusted Bucket
	// Sources is about how many sources of each kind have a bucket at one time.
	Sources int
	// Scanners are words by which unwanted tools name themselves; nil = the built-in ones.
	Scanners []string
	Ban      Ban
	// NFTables mirrors bans into the kernel; the zero value does not.
	NFTables NFTables
}

// Bucket is a token bucket: so many messages per second on average, so many at once. A Rate of 0 is none.
type Bucket struct {
	Rate, Burst int
}

// Ban says when strangers are shut out and for how long.
type Ban struct {
	// Weight of offences Within a time is a ban; 0 bans nobody by itself.
	Weight int
	Within time.Duration
	// First is how long the first one lasts, Longest the longest.
	First, Longest time.Duration
	// Entries bounds the bans in force.
	Entries int
}

// NFTables names the sets of the kernel's packet filter that bans are written to.
type NFTables struct {
	// Table is of the family inet; empty = no offload.
	Table string
	// Set4 and Set6 hold IPv4 and IPv6 networks, with flags interval and timeout.
	Set4, Set6 string
}

type fileDoors struct {
	Allow     []string     `mapstructure:"allow"`
	Strangers fileBucket   `mapstructure:"strangers"`
	Known     fileBucket   `mapstructure:"known"`
	Trusted   fileBucket   `mapstructure:"trusted"`
	Sources   int          `mapstructure:"sources"`
	Scanners  []string     `mapstructure:"scanners"`
	Ban       fileBan      `mapstructure:"ban"`
	NFTables  fileNFTables `mapstructure:"nftables"`
}

type fileBucket struct {
	Rate  int `mapstructure:"rate"`
	Burst int `mapstructure:"burst"`
}

type fileBan struct {
	Weight  int    `mapstructure:"weight"`
	Within  string `mapstructure:"within"`
	First   string `mapstructure:"first"`
	Longest string `mapstructure:"longest"`
	Entries int    `mapstructure:"entries"`
}

type fileNFTables struct {
	Table string `mapstructure:"table"`
	Set4  string `mapstructure:"set4"`
	Set6  string `mapstructure:"set6"`
}

// defaultDoors is what an empty section stands for.
func defaultDoors() fileDoors {
	return fileDoors{
		Strangers: fileBucket{Rate: 100, Burst: 300}, Known: fileBucket{Rate: 1000, Burst: 4000}, Sources: 65_536,
		Ban: fileBan{Weight: 10, Within: "60s", First: "10m", Longest: "24h", Entries: 10_000},
	}
}

func (c *checker) doors(f *fileDoors) Doors {
	d := Doors{
		Allow:     c.networks("doors.allow", f.Allow),
		Strangers: c.bucket("doors.strangers", f.Strangers),
		Known:     c.bucket("doors.known", f.Known),
		Trusted:   c.bucket("doors.trusted", f.Trusted),
		Sources:   c.number("doors.sources", f.Sources, 1024, 1<<24),
		Scanners:  c.scanners(f.Scanners),
		Ban: Ban{
			Weight:  c.number("doors.ban.weight", f.Ban.Weight, 0, 1000),
			Within:  c.duration("doors.ban.within", f.Ban.Within, time.Second, time.Hour),
			First:   c.duration("doors.ban.first", f.Ban.First, time.Second, 24*time.Hour),
			Longest: c.duration("doors.ban.longest", f.Ban.Longest, time.Second, 24*time.Hour),
			Entries: c.number("doors.ban.entries", f.Ban.Entries, 100, 1_000_000),
		},
		NFTables: NFTables(f.NFTables),
	}
	if d.Ban.Longest < d.Ban.First {
		c.add("doors.ban.longest", "first is the shortest ban and longest the longest", "shorter than first")
	}
	if n := d.NFTables; n != (NFTables{}) && (n.Table == "" || n.Set4 == "" && n.Set6 == "") {
		c.add("doors.nftables", "name the table and at least one of set4 and set6, or nothing", "incomplete")
	}
	return d
}

func (c *checker) bucket(key string, f fileBucket) Bucket {
	b := Bucket{Rate: c.number(join(key, "rate"), f.Rate, 0, 50_000), Burst: c.number(join(key, "burst"), f.Burst, 0, 1_000_000)}
	if b.Rate > 0 && b.Burst < b.Rate/10 {
		c.add(join(key, "burst"), "write at least a tenth of the rate, or rate: 0 for no bucket", "%d at once is too little for %d per second", b.Burst, b.Rate)
	}
	return b
}

// scanners reads the words of scanners; "-" alone stands for none.
func (c *checker) scanners(list []string) []string {
	if len(list) == 1 && list[0] == "-" {
		return []string{}
	}
	for i, w := range list {
		if len(strings.TrimSpace(w)) < 3 || len(w) > 64 {
			c.add(index("doors.scanners", i), "write a word of 3 to 64 characters, or - alone for none", "%q would be found in too much", w)
		}
	}
	return list
}

// networks reads a list of addresses and CIDRs.
func (c *checker) networks(key string, list []string) []netip.Prefix {
	var out []netip.Prefix
	for i, text := range list {
		p, err := netip.ParsePrefix(text)
		if a, addrErr := netip.ParseAddr(text); addrErr == nil {
			a = a.Unmap().WithZone("")
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil || p.Masked() != p || p.Addr().Is4In6() {
			c.add(index(key, i), "write an address like 198.51.100.10 or a network like 198.51.100.0/28, without host bits", "%q is not a network", text)
			continue
		}
		out = append(out, p)
	}
	return out
}

// access reads the access list of a listener.
func (c *checker) access(key string, allow, deny []string) (in, out []netip.Prefix) {
	in, out = c.networks(join(key, "allow"), allow), c.networks(join(key, "deny"), deny)
	for _, p := range out {
		if slices.Contains(in, p) {
			c.add(join(key, "deny"), "take it out of one of the two lists", "%s is allowed as well", p)
		}
	}
	return in, out
}
