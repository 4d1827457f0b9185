package keyring

import (
	"bytes"
	"testing"
)

func TestKeyring(t *testing.T) {
	old, fresh := []byte("0123456789abcdef-old"), []byte("0123456789abcdef-new")
	before, err := New(old)
	if err != nil {
		t.Fatal(err)
	}
	after, err := New(fresh, old)
	if err != nil {
		t.Fatal(err)
	}
	if before.Primary() == after.Primary() {
		t.Error("two secrets have one id")
	}
	key, ok := after.DeriveFor(before.Primary(), "gossip")
	if !ok || !bytes.Equal(key, before.Derive("gossip")) {
		t.Error("a keyring with the new secret first does not know the old one")
	}
	if _, ok := before.DeriveFor(after.Primary(), "gossip"); ok {
		t.Error("a keyring knows a secret that it does not hold")
	}
	if bytes.Equal(before.Derive("gossip"), before.Derive("hello")) {
		t.Error("two labels give one key")
	}
	if n := len(after.DeriveAll("gossip")); n != 2 {
		t.Errorf("DeriveAll gives %d keys, want 2", n)
	}
}

func TestNewRefusesWeakSecrets(t *testing.T) {
	if _, err := New(); err == nil {
		t.Error("an empty keyring was made")
	}
	if _, err := New([]byte("short")); err == nil {
		t.Error("a short secret was taken")
	}
}
