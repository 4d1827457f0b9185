package config

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// checker converts single values and notes what is wrong with them. Its methods return the zero value
// after a fault, which nobody sees since Load then returns the faults alone.
type checker struct {
	*Faults
	dir string // relative paths start here
}

// name is a word that appears in metrics, logs and addresses of the admin API.
var name = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// IsName reports whether a word may name a node.
func IsName(s string) bool { return name.MatchString(s) }

func (c *checker) name(key, value, example string) string {
	switch {
	case value == "":
		c.add(key, "for example "+example, "missing")
	case !name.MatchString(value):
		c.add(key, "use a-z, 0-9 and '-', 63 at most, for example "+example, "%q is not a name", value)
	}
	return value
}

// addrPort reads ip:port. An empty value is a fault when it is required, else the zero value.
func (c *checker) addrPort(key, value, example string, required bool) netip.AddrPort {
	if value == "" {
		if required {
			c.add(key, "for example "+example, "missing")
		}
		return netip.AddrPort{}
	}
	a, err := netip.ParseAddrPort(value)
	if err != nil {
		c.add(key, "write ip:port, for example "+example, "%q is not an address with port", value)
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// endpoint reads an address with what is told to others in its place.
func (c *checker) endpoint(key string, address, advertise, example string) Endpoint {
	e := Endpoint{
		Address:   c.addrPort(join(key, "address"), address, example, true),
		Advertise: c.addrPort(join(key, "advertise"), advertise, example, false),
	}
	if advertise != "" || !e.Address.IsValid() {
		if e.Advertise.IsValid() && e.Advertise.Addr().IsUnspecified() {
			c.add(join(key, "advertise"), "write the address that others can reach", "nobody can reach %s", advertise)
		}
		return e
	}
	if e.Address.Addr().IsUnspecified() {
		c.add(join(key, "advertise"), "add the address that others can reach, since "+address+" is every address of this node", "missing")
	}
	e.Advertise = e.Address
	return e
}

// hostPort checks host:port, where host may be a name.
func (c *checker) hostPort(key, value, example string) string {
	if value == "" {
		c.add(key, "for example "+example, "missing")
		return ""
	}
	host, port, err := net.SplitHostPort(value)
	n, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || host == "" || portErr != nil || n == 0 {
		c.add(key, "write host:port, for example "+example, "%q is not an address with port", value)
	}
	return value
}

func (c *checker) duration(key, value string, least, most time.Duration) time.Duration {
	d, err := time.ParseDuration(value)
	if err != nil || d < least || d > most {
		c.add(key, "write a number with unit between "+least.String()+" and "+most.String(), "%q is not such a duration", value)
	}
	return d
}

// number checks the bounds of a count.
func (c *checker) number(key string, value, least, most int) int {
	if value < least || value > most {
		c.add(key, "write a number between "+strconv.Itoa(least)+" and "+strconv.Itoa(most), "%d is out of bounds", value)
	}
	return value
}

// units are the binary units of sizes.
var units = map[string]int64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// size reads a number of bytes such as 256MiB.
func (c *checker) size(key, value string, least, most int64) int64 {
	digits := strings.TrimRight(value, "BGKMi ")
	unit, known := units[strings.TrimSpace(value[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 40)
	if err != nil || !known || n*unit < least || n*unit > most {
		c.add(key, "write bytes with B, KiB, MiB or GiB, "+strconv.FormatInt(least, 10)+" to "+strconv.FormatInt(most, 10)+" bytes", "%q is not such a size", value)
		return 0
	}
	return n * unit
}

// path makes a path complete. An empty one stays empty.
func (c *checker) path(value string) string {
	if value == "" || filepath.IsAbs(value) {
		return value
	}
	return filepath.Join(c.dir, value)
}

// file is a path that must name a readable file.
func (c *checker) file(key, value string) string {
	if value == "" {
		return ""
	}
	p := c.path(value)
	f, err := os.Open(p)
	if err != nil {
		c.add(key, "name a file that this user may read", "%v", err)
		return ""
	}
	if err := f.Close(); err != nil {
		c.add(key, "name a file that this user may read", "%v", err)
	}
	return p
}

// unique notes names that an earlier entry of the same list bears.
func (c *checker) unique(seen map[string]string, key, value string) {
	if value == "" {
		return
	}
	if other, twice := seen[value]; twice {
		c.add(key, "give each its own", "%q is also at %s", value, other)
		return
	}
	seen[value] = key
}
