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
