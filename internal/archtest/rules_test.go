package archtest

import (
	"fmt"
	"go/ast"
	"regexp"
	"strconv"
	"testing"
)

// ruleInName finds rule ids in the name of a test: TestK06_..., TestR06_R07_..., TestS003_..., but
// not the C01 in TestDEC01. Zeros in front count for nothing, and of a range each end is one id.
var ruleInName = regexp.MustCompile(`(?:Test|_)([KRPCDSGV])(\d+)`)

// covered lists the behaviour rules of distribution (K, R, P, C, D), and of least-cost routing (S),
// its gateways (G) and its sequences (V). Each of them names a test.
func covered() []string {
	var ids []string
	add := func(letter string, from, to int, but ...int) {
	next:
		for n := from; n <= to; n++ {
			for _, b := range but {
				if n == b {
					continue next
				}
			}
			ids = append(ids, letter+strconv.Itoa(n))
		}
	}
	add("K", 1, 29, 19)
	add("R", 1, 27, 17, 18, 19)
	add("P", 30, 32)
	add("C", 1, 5)
	add("S", 1, 6)
	add("S", 10, 15)
	add("S", 20, 21)
	add("S", 30, 55, 51) // S-051 is a function of scripts, which there are none of
	add("S", 60, 67)
	add("S", 70, 73)
	add("S", 80, 87)
	add("S", 90, 94)
	add("S", 100, 102)
	add("G", 1, 7, 2) // G-02 selects members by attributes, which they have none of (docs/lcr.md)
	add("V", 1, 21)
	return append(ids, "C6", "C7", "C8", "C12", "C11", "D1", "D2", "D7", "D10", "D14")
}

// TestRulesNameTests holds that each of these rules stands in the name of a test.
func TestRulesNameTests(t *testing.T) {
	named := map[string]bool{}
	for _, f := range source(t).files {
		if !f.Test {
			continue
		}
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			for _, m := range ruleInName.FindAllStringSubmatch(fn.Name.Name, -1) {
				n, err := strconv.Atoi(m[2])
				if err != nil {
					t.Fatal(err)
				}
				named[fmt.Sprint(m[1], n)] = true
			}
		}
	}
	for _, id := range covered() {
		if !named[id] {
			t.Errorf("rule %s names no test: a test's name begins with Test%s_ or has _%s", id, id, id)
		}
	}
}
