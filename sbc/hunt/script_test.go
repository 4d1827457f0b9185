package hunt

import (
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs the scripts of testdata. Each is named after the rule or vector that it plays and
// begins with the rule's words. Every command prints all actions that it caused, with the time since
// the caller's INVITE, and the list of failed attempts (S-047) once the caller has a final response.
//
// With -rewrite the outputs are written anew. Only commit such a change when you understand what
// caused it, and then read the rule again.
//
//	config [ring=] [max_pdd=] [reserve=] [handoff] [handoff_on=()] [max_attempts=] [exhausted=]
//	  input: one target per line: NAME [down[=cause]] [b_timer=] [progress=] [reroute] [advance_on=()]
//	    [alternate] [tier=]; before them, for targets of a group, its rules: @NAME [max_attempts=]
//	    [setup=] [parallel] [advance_on=()] [never_advance=()] [within=NAME]
//	start                        the sequence begins; the caller's INVITE came at 0
//	recv NAME code               a response of the target's latest attempt
//	error NAME [cause]           its INVITE was refused by the transport
//	undialable NAME cause        its INVITE never left
//	advance d                    time goes on, stopping at each deadline
//	late d                       time goes on and nobody looks at the clock
//	expire                       somebody looks at the clock now
//	cancel                       the caller gives up
//	handoff code                 a provisional of the hand-off
//	handoff answered|refused|lost [code=] [definitive]
//	  input: the peer's attempts: NAME code [down|silent|rang|refused] [fork]
//	attempts                     everything that was tried, with how it ended
//	deadline                     when the clock is to be looked at next
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		var s script
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return s.run(t, d)
		})
		s.check(t)
	})
}
