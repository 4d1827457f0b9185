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

// cut removes the smallest thing around each fault.
func (r *Result) cut(faults trunkgroup.Faults) error {
	members, groups, plans := map[[2]int]bool{}, map[int]bool{}, map[int]bool{}
	for _, f := range faults {
		list, i, rest := step(f.Path)
		inner, j, _ := step(rest)
		switch {
		case list == "trunk_groups" && inner == "members" && j >= 0:
			members[[2]int{i, j}] = true
			m := &r.Document.TrunkGroups[i].Members[j]
			r.refused(f, r.Document.TrunkGroups[i].Name+"/"+m.ID)
		case list == "trunk_groups" && i >= 0:
			groups[i] = true
			r.refused(f, r.Document.TrunkGroups[i].Name)
		case list == "route_plans" && i >= 0:
			plans[i] = true
			r.refused(f, r.Document.RoutePlans[i].Name)
		default:
			return fmt.Errorf("the imported document: %w", trunkgroup.Faults{f})
		}
	}
	for i := range r.Document.TrunkGroups {
		g := &r.Document.TrunkGroups[i]
		j := -1
		g.Members = slices.DeleteFunc(g.Members, func(trunkgroup.MemberSpec) bool { j++; return members[[2]int{i, j}] })
	}
	i := -1
	r.Document.TrunkGroups = slices.DeleteFunc(r.Document.TrunkGroups, func(trunkgroup.GroupSpec) bool { i++; return groups[i] })
	i = -1
	r.Document.RoutePlans = slices.DeleteFunc(r.Document.RoutePlans, func(trunkgroup.RoutePlanSpec) bool { i++; return plans[i] })
	return nil
}

// refused reports what cannot stand in the document.
func (r *Result) refused(f trunkgroup.Fault, key string) {
	r.Report.lost(r.from[key], key, "left out: "+f.Problem, f.Remedy)
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
