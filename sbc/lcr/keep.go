package lcr

import "time"

// MaxTTL bounds how long an answer is kept.
const MaxTTL = 24 * time.Hour

// Keep returns how long the answer is good when the plan keeps answers that do not say
// for def; 0 is not at all (C6). What refuses a call is kept only when the server says
// so: by itself it may be about this call alone.
func (a *Answer) Keep(def time.Duration) time.Duration {
	switch {
	case a.Says:
		return min(a.TTL, MaxTTL)
	case a.Set.Reject.Code != 0:
		return 0
	}
	return min(def, MaxTTL)
}
