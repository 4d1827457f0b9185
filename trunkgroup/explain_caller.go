package trunkgroup

// mayOriginate says of a call that has somewhere to go whether the caller that it
// shows is one that nobody may. Emergency calls are not asked (DEC-17).
func (e *explainer) mayOriginate(d *Decision) bool {
	if d.Groups == nil && d.Plan == nil || len(e.q.Caller)+len(e.shown) == 0 || EmergencyNumber([]byte(d.Called)) {
		return true
	}
	shown := e.shown
	switch {
	case len(shown) > 0 && len(e.q.Caller) > 0:
		e.say("caller", "the user is shown as %s, whatever he says (ani_override)", shown)
	case len(shown) == 0:
		var err error
		if shown, err = e.q.read(d.Ingress, e.q.Caller); err != nil {
			e.say("caller", "%q as group %s writes numbers: %v; it is shown as it is", e.q.Caller, d.Ingress.Name, err)
			return true
		}
		e.say("caller", "%q as group %s writes numbers is %s", e.q.Caller, d.Ingress.Name, shown)
	}
	if e.t.MayOriginate(shown) && (e.q.MayShow == nil || e.q.MayShow(shown)) {
		return true
	}
	e.say("caller", "%s is on a do-not-originate list: 603", shown)
	e.out.Code = 603
	return false
}
