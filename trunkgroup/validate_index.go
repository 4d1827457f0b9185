package trunkgroup

// lookups finds things of a document by name, so that the work of Validate grows with
// the document and not with its square: one customer may have 20,000 groups.
type lookups struct {
	groups      map[string]int             // the first group of a name
	places      map[string][]string        // by group: paths of the members that it stands in
	users       map[string]map[string]bool // digest users by customer
	terminating map[string]bool            // customers whose calls come in
	compared    int                        // names that suggestions were looked for among
}

func lookupsOf(d *Document) lookups {
	l := lookups{
		groups: make(map[string]int, len(d.TrunkGroups)), places: make(map[string][]string),
		users: make(map[string]map[string]bool), terminating: make(map[string]bool),
	}
	for i := range d.TrunkGroups {
		g := &d.TrunkGroups[i]
		if _, ok := l.groups[g.Name]; !ok {
			l.groups[g.Name] = i
		}
		if g.Role == TerminationCustomer {
			l.terminating[g.Customer] = true
		}
		for j := range g.Members {
			if in := g.Members[j].Group; in != "" {
				l.places[in] = append(l.places[in], index(index("trunk_groups", i)+".members", j))
			}
		}
		if g.Customer == "" || len(g.Credentials) == 0 {
			continue
		}
		if l.users[g.Customer] == nil {
			l.users[g.Customer] = make(map[string]bool)
		}
		for j := range g.Credentials {
			l.users[g.Customer][g.Credentials[j].Username] = true
		}
	}
	return l
}

// isUser tells whether a digest user may stand for members of a group.
func (l *lookups) isUser(g *GroupSpec, user string) bool {
	for i := range g.Credentials {
		if g.Credentials[i].Username == user {
			return true
		}
	}
	return g.Customer != "" && l.users[g.Customer][user]
}

// usersOf lists the digest users that may stand for members of a group.
func (l *lookups) usersOf(g *GroupSpec) []string {
	var names []string
	for name := range l.users[g.Customer] {
		names = append(names, name)
	}
	if g.Customer == "" {
		for i := range g.Credentials {
			names = append(names, g.Credentials[i].Username)
		}
	}
	return names
}

// maxCompared bounds how many names one Validate compares for its suggestions. A
// document in which everything is misspelt gets them for its first faults.
const maxCompared = 1 << 20

// suggest is Suggest among names that are listed only while the bound is not reached.
func (l *lookups) suggest(word string, known func() []string, otherwise string) string {
	if l.compared >= maxCompared {
		return otherwise
	}
	names := known()
	l.compared += len(names)
	if s := Suggest(word, names); s != "" {
		return s
	}
	return otherwise
}
