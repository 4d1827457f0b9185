package cdr

import "testing"

// RFC 3398 section 8.2.6.1: "SIP Status Code -> ISUP Cause Value".
func TestRFC3398_CauseOf(t *testing.T) {
	for code, want := range map[int]int{
		400: 41, 401: 21, 402: 21, 403: 21, 404: 1, 405: 63, 406: 79, 407: 21, 408: 102, 410: 22,
		413: 127, 414: 127, 415: 79, 416: 127, 420: 127, 421: 127, 423: 127, 480: 18, 481: 41, 482: 25,
		483: 25, 484: 28, 485: 1, 486: 17, 500: 41, 501: 79, 502: 38, 503: 41, 504: 102, 505: 127,
		513: 127, 600: 17, 603: 21, 604: 1,
		200: 16, 302: 23, 499: 127, 599: 41, 699: 21, // classes
	} {
		if got := CauseOf(code); got.Q850 != want || got.Name != Name(want) {
			t.Errorf("%d is %+v, want %d %s", code, got, want, Name(want))
		}
	}
	if got := CauseOf(487); got.Name != "ORIGINATOR_CANCEL" || got.Q850 != 16 {
		t.Errorf("487 is %+v", got)
	}
}

func TestName(t *testing.T) {
	for q850, want := range map[int]string{0: "NONE", 16: "NORMAL_CLEARING", 17: "USER_BUSY", 127: "INTERWORKING", 999: "NORMAL_UNSPECIFIED"} {
		if got := Name(q850); got != want {
			t.Errorf("cause %d is %s, want %s", q850, got, want)
		}
	}
}
