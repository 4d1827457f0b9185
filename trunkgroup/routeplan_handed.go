package trunkgroup

import "time"

// HandedPlan is what remains of a route plan for a call that another site passes on with
// its routes (DEC-07): how they are tried, and nobody who is asked.
func HandedPlan(ring time.Duration, causes CauseSet, maxMembers int) *RoutePlan {
	return &RoutePlan{RerouteCauses: causes, Ring: ring, MaxMembers: max(maxMembers, 1), spec: &RoutePlanSpec{}, fallback: -1}
}
