//go:build linux

package main

import (
	"errors"
	"fmt"

	"github.com/tandem-sbc/tandem/lab/dispatcher"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// firstPort is the port of member 0; the others follow.
const firstPort = 6001

// callIDs makes keys that look like Call-IDs of many callers.
func callIDs(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%08x-%d@pbx-%d.example.net", uint32(i)*2654435761, i, i%97)
	}
	return list
}

// group is a group of Tandem's, whose try-orders are asked as calls ask for them.
type group struct {
	method string
	// key and userOnly are of hash-mod; now are the members by their numbers.
	key      string
	userOnly bool
	now      []int
	g        *trunkgroup.Group
	view     *trunkgroup.View
	dst      []trunkgroup.Candidate
	err      error
}

func newGroup(method string, n int) *group {
	x := &group{method: method, key: "call-id"}
	x.err = x.members(upTo(n))
	return x
}

func (x *group) name() string {
	if x.method == trunkgroup.HashMod.String() {
		return "Tandem, `hash-mod`"
	}
	return fmt.Sprintf("Tandem, `%s`", x.method)
}

func (x *group) members(numbers []int) error {
	g := trunkgroup.GroupSpec{Name: "set-1", Role: trunkgroup.PSTNProvider}
	if err := g.Distribution.Method.UnmarshalText([]byte(x.method)); err != nil {
		return err
	}
	if g.Distribution.Method == trunkgroup.HashMod {
		g.Distribution.Key, g.Distribution.UserOnly = x.key, x.userOnly
	}
	x.now = numbers
	for _, i := range numbers {
		g.Members = append(g.Members, trunkgroup.MemberSpec{
			ID: fmt.Sprintf("m%d", i), Site: "dallas", Address: fmt.Sprintf("127.0.0.1:%d", firstPort+i),
		})
	}
	table, err := trunkgroup.Compile(&trunkgroup.Document{
		Cluster: "spread", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}}, TrunkGroups: []trunkgroup.GroupSpec{g},
	}, trunkgroup.Version{Generation: 1, Revision: 1})
	if err != nil {
		return err
	}
	x.g, x.view = table.Groups()[0], trunkgroup.NewView(table)
	return nil
}

// rekey lets the group hash something else.
func (x *group) rekey(key string) error {
	x.key = key
	return x.members(x.now)
}

func (x *group) down(member int, yes bool) error {
	for _, m := range x.g.Members {
		if int(m.Addr.Port()) == firstPort+member {
			x.view.States[m.Index] = trunkgroup.Active
			if yes {
				// An operator's word: a group that nobody probes has no other.
				x.view.States[m.Index] = trunkgroup.Draining
			}
			return nil
		}
	}
	return fmt.Errorf("no member %d", member)
}

func (x *group) place(keys []string) ([]int, error) {
	if x.err != nil {
		return nil, x.err
	}
	list := make([]int, len(keys))
	for i, k := range keys {
		n, err := x.firstOf(trunkgroup.Traits{CallID: []byte(k)})
		if err != nil {
			return nil, err
		}
		list[i] = n
	}
	return list, nil
}

// firstOf is the member that a call is offered to first.
func (x *group) firstOf(traits trunkgroup.Traits) (int, error) {
	x.dst = trunkgroup.Plan(x.dst[:0], x.g, "dallas", x.view, trunkgroup.Draw{Traits: &traits})
	for i := range x.dst {
		if x.dst[i].Dialable {
			return int(x.dst[i].Addr.Port()) - firstPort, nil
		}
	}
	return 0, errors.New("nobody takes calls")
}

// kamailio is the real one.
type kamailio struct{ *dispatcher.Kamailio }

func startKamailio(dir string, n int, userOnly bool) (*kamailio, error) {
	k, err := dispatcher.Start(dispatcher.Settings{Dir: dir, Addr: kamailioAddr, Members: destinations(upTo(n)), UserOnly: userOnly})
	if err != nil {
		return nil, err
	}
	return &kamailio{k}, nil
}

func destinations(numbers []int) []dispatcher.Member {
	list := make([]dispatcher.Member, len(numbers))
	for i, n := range numbers {
		list[i].Port = firstPort + n
	}
	return list
}

func (*kamailio) name() string { return "Kamailio, algorithm 0" }

func (k *kamailio) members(numbers []int) error { return k.Load(destinations(numbers)) }

func (k *kamailio) down(member int, yes bool) error {
	state := "a"
	if yes {
		state = "i"
	}
	return k.SetState(state, dispatcher.Member{Port: firstPort + member})
}

func (k *kamailio) place(keys []string) ([]int, error) {
	ports, err := k.Place(dispatcher.ByCallID, keys)
	for i := range ports {
		if ports[i] == dispatcher.None {
			return nil, fmt.Errorf("it has no member for %s", keys[i])
		}
		ports[i] -= firstPort
	}
	return ports, err
}
