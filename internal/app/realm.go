package app

import "github.com/tandem-sbc/tandem/trunkgroup"

// realmOf is the realm that a call to an address of record is challenged for;
// empty stands for the node's own.
func realmOf(t *trunkgroup.Table, called string) string {
	_, _, host, err := trunkgroup.ParseAOR(called)
	if err != nil {
		return ""
	}
	return t.RealmOf(host)
}

// realmsOf are the realms of digest users by name, for what knows of a user no
// more than that: the realm of the node where it has the user, else the first one
// of the document.
func realmsOf(t *trunkgroup.Table, own string) map[string]string {
	realms := make(map[string]string)
	if t == nil {
		return realms
	}
	for _, g := range t.Groups() {
		for i := range g.Credentials {
			c := &g.Credentials[i]
			if _, known := realms[c.Username]; !known || c.Realm == own {
				realms[c.Username] = c.Realm
			}
		}
	}
	return realms
}
