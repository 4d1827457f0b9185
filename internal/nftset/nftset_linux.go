package nftset

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"
)

// ErrOverlap is returned for a network that overlaps another one of the set.
var ErrOverlap = errors.New("nftables: the set has an overlapping network")

// Sets are two sets of one table. They may be used by one goroutine at a time.
type Sets struct {
	table      *nftables.Table
	set4, set6 string
}

// New names a table of the family inet and its sets for IPv4 and IPv6; an empty name
// takes no networks of that family.
func New(table, set4, set6 string) *Sets {
	return &Sets{table: &nftables.Table{Name: table, Family: nftables.TableFamilyINet}, set4: set4, set6: set6}
}

// Check tells what is wrong with the sets as they are now, and what to do.
func (s *Sets) Check() error {
	for _, name := range []string{s.set4, s.set6} {
		if name == "" {
			continue
		}
		set, err := s.find(name)
		if err != nil {
			return err
		}
		if !set.Interval || !set.HasTimeout {
			return fmt.Errorf("nftables: set %s needs flags interval, timeout", name)
		}
	}
	return nil
}

func (s *Sets) find(name string) (*nftables.Set, error) {
	set, err := (&nftables.Conn{}).GetSetByName(s.table, name)
	switch {
	case errors.Is(err, unix.EPERM):
		return nil, fmt.Errorf("nftables: the process needs CAP_NET_ADMIN: %w", err)
	case err != nil:
		return nil, fmt.Errorf("nftables: table inet %s has no set %s that can be read; create both first: %w", s.table.Name, name, err)
	}
	set.Table = s.table // the library leaves the family out
	return set, nil
}

// Add puts a network into its set for a time, in place of an earlier entry of the same
// network.
func (s *Sets) Add(p netip.Prefix, d time.Duration) error {
	set, err := s.of(p)
	if set == nil {
		return err
	}
	_ = change(set, p, 0, false) // an entry keeps its time when it is added once more
	err = change(set, p, d, true)
	if errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("%s: %w", p, ErrOverlap)
	}
	return err
}

// Remove takes a network out of its set; one that is not there is no error.
func (s *Sets) Remove(p netip.Prefix) error {
	set, err := s.of(p)
	if set == nil {
		return err
	}
	if err := change(set, p, 0, false); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

// Has lists which networks begin at an address that an entry of its set begins at.
func (s *Sets) Has(list []netip.Prefix) (map[netip.Prefix]bool, error) {
	have := map[netip.Addr]bool{}
	for _, name := range []string{s.set4, s.set6} {
		if name == "" {
			continue
		}
		set, err := s.find(name)
		if err != nil {
			return nil, err
		}
		elements, err := (&nftables.Conn{}).GetSetElements(set)
		if err != nil {
			return nil, fmt.Errorf("nftables: read set %s: %w", name, err)
		}
		for i := range elements {
			if a, ok := netip.AddrFromSlice(elements[i].Key); ok && !elements[i].IntervalEnd {
				have[a] = true
			}
		}
	}
	out := make(map[netip.Prefix]bool, len(list))
	for _, p := range list {
		out[p] = have[p.Addr()]
	}
	return out, nil
}

// of returns the set of a network's family, or nil when there is none.
func (s *Sets) of(p netip.Prefix) (*nftables.Set, error) {
	name := s.set6
	if p.Addr().Is4() {
		name = s.set4
	}
	if name == "" {
		return nil, nil
	}
	return s.find(name)
}

// change adds or deletes one network in one transaction.
func change(set *nftables.Set, p netip.Prefix, d time.Duration, add bool) error {
	c := &nftables.Conn{}
	elements := []nftables.SetElement{{Key: p.Addr().AsSlice(), Timeout: d}}
	if end := after(p); end.IsValid() { // the last network of all has no end
		elements = append(elements, nftables.SetElement{Key: end.AsSlice(), IntervalEnd: true})
	}
	put := c.SetDeleteElements
	if add {
		put = c.SetAddElements
	}
	if err := put(set, elements); err != nil {
		return fmt.Errorf("nftables: %s: %w", p, err)
	}
	if err := c.Flush(); err != nil {
		return fmt.Errorf("nftables: %s in set %s: %w", p, set.Name, err)
	}
	return nil
}

// after is the first address behind a network.
func after(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	last, _ := netip.AddrFromSlice(b)
	return last.Next()
}
