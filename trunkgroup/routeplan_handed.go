package trunkgroup

import "time"

// HandedPlan is what remains of a route plan for a call that another site passes on with
// its routes (DEC-07): how they are tried, and nobody who is asked.
func HandedPlan(name string, ring time.Duration, causes CauseSet, maxMembers int) *RoutePlan {
	return &RoutePlan{Name: name, RerouteCauses: causes, Ring: ring, MaxMembers: max(maxMembers, 1), spec: &RoutePlanSpec{}, fallback: -1}
}
