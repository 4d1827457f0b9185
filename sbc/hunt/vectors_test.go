package hunt

import (
	"testing"

	"github.com/cockroachdb/datadriven"
)

// The vectors of the sequence engine, each the script of its name. TestScripts runs them with all others;
// here a rule finds its test by its id.

func TestV01_NextCarrierAfter503(t *testing.T)         { playScript(t, "v01") }
func TestV02_BusyIsForwarded(t *testing.T)             { playScript(t, "v02") }
func TestV03_DeclineStops(t *testing.T)                { playScript(t, "v03") }
func TestV04_Two503GiveA500(t *testing.T)              { playScript(t, "v04") }
func TestV05_RingOutThen503GivesThe408(t *testing.T)   { playScript(t, "v05") }
func TestV06_LastRangOutInSilence(t *testing.T)        { playScript(t, "v06") }
func TestV07_LastRangPastItsBound(t *testing.T)        { playScript(t, "v07") }
func TestV08_RingingKeepsTheCall(t *testing.T)         { playScript(t, "v08") }
func TestV09_FinalAfterProgressFailsOver(t *testing.T) { playScript(t, "v09") }
func TestV10_ProgressThatIsNotBelieved(t *testing.T)   { playScript(t, "v10") }
func TestV11_DownIsSkippedAtOnce(t *testing.T)         { playScript(t, "v11") }
func TestV12_LastIsDown(t *testing.T)                  { playScript(t, "v12") }
func TestV13_DownBeforeDoesNotCount(t *testing.T)      { playScript(t, "v13") }
func TestV14_CausesOfTheRoute(t *testing.T)            { playScript(t, "v14") }
func TestV15_NotFoundByDefault(t *testing.T)           { playScript(t, "v15") }
func TestV16_AllDown(t *testing.T)                     { playScript(t, "v16") }
func TestV17_RangOutThenUndialable(t *testing.T)       { playScript(t, "v17") }
func TestV18_CallerCancels(t *testing.T)               { playScript(t, "v18") }
func TestV19_AnswerCrossesOurCancel(t *testing.T)      { playScript(t, "v19") }
func TestV21_BothSitesDown(t *testing.T)               { playScript(t, "v21") }

func playScript(t *testing.T, name string) {
	t.Helper()
	var s script
	datadriven.RunTest(t, "testdata/scripts/"+name+".txt", func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	s.check(t)
}
