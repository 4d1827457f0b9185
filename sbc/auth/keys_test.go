package auth

import (
	"testing"
)

// A caller that was challenged under the old key is let in while it is held, and challenged again, as stale, when it is gone: a
// PBX repeats that by itself.
func TestDEC25_NoncesSurviveAKeyRotation(t *testing.T) {
	fresh := []byte("fedcba9876543210fedcba9876543210")
	v := newTestVerifier(t, Options{})
	challenge := challenges(v, testStart, false)[0]
	use := func(count int) Result {
		return ask(v, testStart, answer(t, challenge, "acme", "s3cret", "INVITE", testURI, count))
	}
	if err := v.SetKeys(testKey, fresh); err != nil {
		t.Fatal(err)
	}
	if r := use(1); r.Outcome != OK {
		t.Errorf("the new key is added: %v %s", r.Outcome, r.Reason)
	}
	if err := v.SetKeys(fresh, testKey); err != nil {
		t.Fatal(err)
	}
	if r := use(2); r.Outcome != OK {
		t.Errorf("the new key is used: %v %s", r.Outcome, r.Reason)
	}
	if r := use(2); r.Outcome != Stale || r.Reason != ReasonReplay {
		t.Errorf("a replay over the rotation: %v %s", r.Outcome, r.Reason)
	}
	if err := v.SetKeys(fresh); err != nil {
		t.Fatal(err)
	}
	if r := use(3); r.Outcome != Stale || r.Reason != ReasonNonce {
		t.Errorf("the old key is removed: %v %s", r.Outcome, r.Reason)
	}
	challenge = challenges(v, testStart, true)[0]
	if r := use(1); r.Outcome != OK {
		t.Errorf("the new challenge: %v %s", r.Outcome, r.Reason)
	}
	if err := v.SetKeys([]byte("short")); err == nil {
		t.Error("a short key was taken")
	}
}
