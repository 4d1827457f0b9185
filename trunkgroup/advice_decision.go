package trunkgroup

import "fmt"

// causeAdvice names causes of a plan that never try another route, whoever lists them:
// a 6xx speaks for all places (S-033, C7).
func (p *RoutePlanSpec) causeAdvice(path string) (list []Fault) {
	for i, code := range p.RerouteCauses {
		if code >= 600 {
			list = append(list, Fault{
				Path:    index(path+".reroute_causes", i),
				Problem: fmt.Sprintf("%d ends the call all the same: a 6xx speaks for all places", code),
				Remedy:  "take it out",
			})
		}
	}
	return list
}
