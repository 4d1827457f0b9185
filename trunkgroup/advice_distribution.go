package trunkgroup

import "fmt"

// distributionAdvice tells of a method that only some calls of a group go by (C11): no
// fault, since calls without the header need one too.
func (g *GroupSpec) distributionAdvice(path string) []Fault {
	d := &g.Distribution
	if d.SessionAffinityHeader == "" || d.Method == 0 || d.Method == LeastSessions {
		return nil
	}
	return []Fault{{
		Path:    path + ".distribution.method",
		Problem: fmt.Sprintf("only calls without %s go by %s: the first call with a value goes to whoever has the fewest calls", d.SessionAffinityHeader, d.Method),
		Remedy:  "leave it so if that is meant",
	}}
}
