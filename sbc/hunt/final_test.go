package hunt

import (
	"testing"
)

// The far ends of table 1.2.l, as attempts.
func said(code int) Attempt { return Attempt{Code: code, Dialed: true, Final: true} }

func rangThenSaid(code int) Attempt {
	return Attempt{Code: code, Dialed: true, Progress: true, Final: true}
}

func silent() Attempt { return Attempt{Code: 408, Dialed: true, Cause: CauseNoResponse} }

func rang() Attempt                      { return Attempt{Code: 408, Dialed: true, Progress: true, Cause: CauseRingTimeout} }
func down() Attempt                      { return Attempt{Code: 503, Cause: "down"} }
func refused() Attempt                   { return Attempt{Code: 503, Dialed: true, Cause: CauseTransport} }
func list(attempts ...Attempt) []Attempt { return attempts }

// TestDEC06_FinalResponse is the one function over the attempts of both sites: the vectors that end in a
// failure, and what follows from S-038 to S-042, DEC-06 and DEC-23.
func TestDEC06_FinalResponse(t *testing.T) {
	const ours = -1
	for _, tt := range []struct {
		rule       string
		attempts   []Attempt
		definitive bool
		exhausted  int
		want       Response
	}{
		{"V2", list(said(486)), true, 0, Response{486, "", 0, true, true}},
		{"V3", list(said(603)), true, 0, Response{603, "", 0, true, true}},
		{"V4", list(said(503), said(503)), false, 0, Response{500, "VENDOR_503", 0, false, false}},
		{"V5", list(silent(), said(503)), false, 0, Response{408, CauseNoResponse, 0, false, false}},
		{"V6", list(said(503), silent()), false, 0, Response{503, CauseNoResponse, ours, false, false}},
		{"V7", list(said(503), rang()), false, 0, Response{408, CauseRingTimeout, 1, false, true}},
		{"V8", list(rang()), false, 0, Response{408, CauseRingTimeout, 0, false, true}},
		{"V12", list(said(500), down()), false, 0, Response{503, CauseUnreachable, ours, false, false}},
		{"V13", list(down(), said(503)), false, 0, Response{500, "VENDOR_503", 1, false, false}},
		{"V15", list(said(404)), true, 0, Response{404, "", 0, true, true}},
		{"V16", list(down(), down()), false, 0, Response{503, CauseUnreachable, ours, false, false}},
		{"V17", list(rang(), down()), false, 0, Response{503, CauseUnreachable, ours, false, false}},
		{"V21", list(down(), down(), down(), down()), false, 0, Response{503, CauseUnreachable, ours, false, false}},

		{"S-037 nothing tried", nil, false, 0, Response{503, CauseUnreachable, ours, false, false}},
		{"S-037 nothing failed", list(Attempt{Dialed: true}), false, 0, Response{503, CauseUnreachable, ours, false, false}},
		{"S-038 6xx in a list wins", list(said(404), said(603), said(503)), false, 0, Response{603, "VENDOR_603", 1, false, false}},
		{"S-038 lowest class", list(said(502), said(404)), false, 0, Response{404, "VENDOR_404", 1, false, false}},
		{"S-038 415 before 404", list(said(404), said(415)), false, 0, Response{415, "VENDOR_415", 1, false, false}},
		{"S-038 484 before 480", list(said(480), said(484)), false, 0, Response{484, "VENDOR_484", 1, false, false}},
		{"S-038 earliest wins a tie", list(said(480), said(404)), false, 0, Response{480, "VENDOR_480", 0, false, false}},
		{"S-038 503 last in 5xx", list(said(503), said(504)), false, 0, Response{504, "VENDOR_504", 1, false, false}},
		{"S-038 503 is sent as 500", list(said(503)), false, 0, Response{500, "VENDOR_503", 0, false, false}},
		{"S-034 a definitive 503 stands", list(said(503)), true, 0, Response{503, "", 0, true, true}},
		{"S-039", list(silent(), said(503), said(500)), false, 0, Response{408, CauseNoResponse, 0, false, false}},
		{"S-040 all silent", list(silent(), silent()), false, 0, Response{503, CauseNoResponse, ours, false, false}},
		{"S-041 after a 404", list(said(404), down()), false, 0, Response{503, CauseUnreachable, ours, false, false}},
		{"S-042 not dialled has no say", list(down(), said(404)), false, 0, Response{404, "VENDOR_404", 1, false, false}},
		{"S-064 rang, then failed", list(rangThenSaid(503)), false, 0, Response{500, "VENDOR_503", 0, false, false}},
		{"P-04 refused at the end", list(said(503), refused()), false, 0, Response{503, CauseTransport, ours, false, false}},
		{"refused before a 503", list(refused(), said(503)), false, 0, Response{500, CauseTransport, 0, false, false}},
		{"refused before a 500", list(refused(), said(500)), false, 0, Response{500, "VENDOR_500", 1, false, false}},

		{"DEC-05 max_pdd with progress", list(Attempt{Code: 408, Dialed: true, Progress: true, Cause: CausePDD}), false, 0, Response{503, CausePDD, ours, false, false}},

		{"DEC-06 exhausted 503", list(said(503), said(503)), false, 503, Response{503, CauseExhausted, 0, false, false}},
		{"DEC-06 exhausted 480", list(down()), false, 480, Response{480, CauseExhausted, ours, false, false}},
		{"DEC-06 exhausted over 404", list(said(404), silent()), false, 480, Response{480, CauseExhausted, ours, false, false}},
		{"DEC-06 not a definitive one", list(silent(), said(486)), true, 480, Response{486, "", 1, true, true}},
		{"DEC-06 not a callee who rang", list(silent(), rang()), false, 480, Response{408, CauseRingTimeout, 1, false, true}},

		{"DEC-23 401", list(said(401)), true, 0, Response{500, "VENDOR_401", 0, false, true}},
		{"DEC-23 407", list(said(407)), true, 0, Response{500, "VENDOR_407", 0, false, true}},
		{"DEC-23 420", list(said(420)), true, 0, Response{500, "VENDOR_420", 0, false, true}},
		{"DEC-23 421", list(said(421)), true, 0, Response{500, "VENDOR_421", 0, false, true}},
		{"DEC-23 494", list(said(494)), true, 0, Response{500, "VENDOR_494", 0, false, true}},
		{"DEC-23 3xx", list(said(302)), true, 0, Response{480, "VENDOR_302", 0, false, true}},
		{"DEC-23 3xx as the best", list(said(302), said(503)), false, 0, Response{480, "VENDOR_302", 0, false, false}},
		{"DEC-23 401 as the best", list(said(401), said(404)), false, 0, Response{500, "VENDOR_401", 0, false, false}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if got := FinalResponse(tt.attempts, tt.definitive, tt.exhausted); got != tt.want {
				t.Errorf("got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// TestDEC23_CallerCode goes over all finals: what must not cross does not, the rest is untouched.
func TestDEC23_CallerCode(t *testing.T) {
	for code := 300; code < 700; code++ {
		want := code
		switch {
		case code < 400:
			want = 480
		case code == 401, code == 407, code == 420, code == 421, code == 494:
			want = 500
		}
		if got := CallerCode(code); got != want {
			t.Errorf("CallerCode(%d) = %d, want %d", code, got, want)
		}
	}
}
