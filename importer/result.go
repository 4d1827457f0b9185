package importer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

// Input is one text to import, and the name that the report calls it by.
type Input struct {
	Name string
	Text []byte
}

// MaxInput bounds one Input, in octets.
const MaxInput = 64 << 20

// Target is what the new document says of itself, whatever it is made from.
type Target struct {
	Cluster string // name of the cluster; default "imported"
	Site    string // where all members stand; default "main"
	// Hash makes the credential of a user from its password. Nil: passwords cannot
	// be taken over, and the report says so.
	Hash func(username, realm, password string) trunkgroup.CredentialSpec
}

// Result is a document without faults, and the way to it.
type Result struct {
	Document *trunkgroup.Document
	Report   Report
	comments map[string]string // by "group" or "group/member"
	from     map[string]place  // the same keys: where it was read
	known    map[string]bool   // addresses that identify a carrier already
	hash     func(username, realm, password string) trunkgroup.CredentialSpec
}

// ErrNothing means that the input holds nothing that routes a call.
var ErrNothing = errors.New("there is nothing to import")

func newResult(t Target) *Result {
	if t.Cluster == "" {
		t.Cluster = "imported"
	}
	if t.Site == "" {
		t.Site = "main"
	}
	return &Result{
		Document: &trunkgroup.Document{Cluster: t.Cluster, Sites: []trunkgroup.SiteSpec{{Name: t.Site}}},
		Report:   Report{Items: []Item{}},
		comments: make(map[string]string),
		from:     make(map[string]place),
		known:    make(map[string]bool),
		hash:     t.Hash,
	}
}

// site is the one site of the document.
func (r *Result) site() string { return r.Document.Sites[0].Name }

// comment adds a line that stands above a group, or a member ("group/member").
func (r *Result) comment(key, text string) {
	text = mask(text)
	if old := r.comments[key]; old != "" {
		text = old + "\n" + text
	}
	r.comments[key] = text
}

// YAML writes the document as "config apply" reads it, with comments.
func (r *Result) YAML() ([]byte, error) {
	comments := make(map[string]string)
	for i := range r.Document.TrunkGroups {
		g := &r.Document.TrunkGroups[i]
		at := "trunk_groups[" + strconv.Itoa(i) + "]"
		comments[at] = r.comments[g.Name]
		for j := range g.Members {
			comments[at+".members["+strconv.Itoa(j)+"]"] = r.comments[g.Name+"/"+g.Members[j].ID]
		}
	}
	return yamldoc.Encode(r.Document, comments)
}

// maxRounds bounds how often settle looks again.
const maxRounds = 8

// settle takes out what the document would be refused for, and reports it. What
// is left has no fault.
func (r *Result) settle() error {
	for range maxRounds {
		if len(r.Document.TrunkGroups) == 0 {
			return ErrNothing
		}
		faults := r.Document.Validate()
		if len(faults) == 0 {
			return nil
		}
		if err := r.cut(faults); err != nil {
			return err
		}
	}
	return fmt.Errorf("the document does not become whole: %w", r.Document.Validate().Err())
}

// item is one entry of a list of a group: its group, the list, and its index.
type item struct {
	group int
	list  string
	index int
}

// cut removes the smallest thing around each fault: an entry of a group, or else
// the group or the route plan.
func (r *Result) cut(faults trunkgroup.Faults) error {
	items, groups, plans := map[item]bool{}, map[int]bool{}, map[int]bool{}
	for _, f := range faults {
		list, i, rest := step(f.Path)
		inner, j, _ := step(rest)
		switch {
		case list == "trunk_groups" && i >= 0 && j >= 0 && (inner == "members" || inner == "credentials" || inner == "sources" || inner == "numbers"):
			items[item{i, inner, j}] = true
			g := &r.Document.TrunkGroups[i]
			if inner == "members" {
				r.refused(f, g.Name+"/"+g.Members[j].ID, g.Name)
			} else {
				r.refused(f, g.Name+" "+rest, g.Name)
			}
		case list == "trunk_groups" && i >= 0:
			groups[i] = true
			r.refused(f, r.Document.TrunkGroups[i].Name, "")
		case list == "route_plans" && i >= 0:
			plans[i] = true
			r.refused(f, r.Document.RoutePlans[i].Name, "")
		default:
			return fmt.Errorf("the imported document: %w", trunkgroup.Faults{f})
		}
	}
	for i := range r.Document.TrunkGroups {
		g := &r.Document.TrunkGroups[i]
		g.Members = without(g.Members, func(j int) bool { return items[item{i, "members", j}] })
		g.Credentials = without(g.Credentials, func(j int) bool { return items[item{i, "credentials", j}] })
		g.Sources = without(g.Sources, func(j int) bool { return items[item{i, "sources", j}] })
		g.Numbers = without(g.Numbers, func(j int) bool { return items[item{i, "numbers", j}] })
	}
	r.Document.TrunkGroups = without(r.Document.TrunkGroups, func(i int) bool { return groups[i] })
	r.Document.RoutePlans = without(r.Document.RoutePlans, func(i int) bool { return plans[i] })
	return nil
}

// without returns a list without the entries at some indexes, and nil in place of
// an empty one.
func without[T any](list []T, gone func(i int) bool) []T {
	i := -1
	list = slices.DeleteFunc(list, func(T) bool { i++; return gone(i) })
	if len(list) == 0 {
		return nil
	}
	return list
}

// refused reports what cannot stand in the document, at its place or around it.
func (r *Result) refused(f trunkgroup.Fault, key, around string) {
	at, ok := r.from[key]
	if !ok {
		at = r.from[around]
	}
	r.Report.lost(at, key, "left out: "+f.Problem, f.Remedy)
}

// step takes "name[i].rest" apart; i is -1 where there is no index.
func step(path string) (name string, i int, rest string) {
	head, rest, _ := strings.Cut(path, ".")
	name, number, ok := strings.Cut(head, "[")
	if !ok {
		return name, -1, rest
	}
	i, err := strconv.Atoi(strings.TrimSuffix(number, "]"))
	if err != nil {
		i = -1
	}
	return name, i, rest
}
