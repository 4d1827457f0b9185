package atrest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/cluster/keyring"
)

func ringOf(t testing.TB, secrets ...string) *keyring.Keyring {
	t.Helper()
	var list [][]byte
	for _, s := range secrets {
		list = append(list, []byte(strings.Repeat(s, 16)))
	}
	ring, err := keyring.New(list...)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func newKey(t testing.TB) *Key {
	t.Helper()
	k, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// What is sealed opens under its key and label only, and no octet of it may change.
func TestSeal(t *testing.T) {
	k, other := newKey(t), newKey(t)
	plain := []byte("ha1_md5: 939e7578ed9e3c518a452acee763bce9")
	sealed := k.Seal("log 1 2", plain)
	if bytes.Contains(sealed, plain[9:]) || len(sealed) != len(plain)+Overhead || !Sealed(sealed) || Sealed(plain) {
		t.Fatalf("sealed: %q", sealed)
	}
	if again := k.Seal("log 1 2", plain); bytes.Equal(again, sealed) {
		t.Error("two sealings are alike")
	}
	if got, err := k.Open("log 1 2", sealed); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("opened: %q, %v", got, err)
	}
	if _, err := k.Open("log 1 3", sealed); !errors.Is(err, ErrSealed) {
		t.Errorf("at another place: %v", err)
	}
	if _, err := other.Open("log 1 2", sealed); !errors.Is(err, ErrSealed) || !strings.Contains(err.Error(), k.ID().String()) {
		t.Errorf("under another key: %v", err)
	}
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		if _, err := k.Open("log 1 2", bad); !errors.Is(err, ErrSealed) {
			t.Fatalf("octet %d changed: %v", i, err)
		}
		if _, err := k.Open("log 1 2", sealed[:i]); !errors.Is(err, ErrSealed) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	if text := fmt.Sprintf("%v %+v %#v %s", k, k, k, k); strings.Contains(text, strings.Trim(fmt.Sprint(k.secret), "[]")) {
		t.Errorf("printed: %s", text)
	}
}

// Every secret of the ring opens the envelope, and none that is not in it.
func TestEnvelope(t *testing.T) {
	k := newKey(t)
	b, err := k.Wrap(ringOf(t, "new", "old"))
	if err != nil || len(b) > maxEnvelope {
		t.Fatalf("%d octets, %v", len(b), err)
	}
	for _, secrets := range [][]string{{"old"}, {"new"}, {"other", "old"}, {"newer", "new", "old"}} {
		got, ids, err := Unwrap(b, ringOf(t, secrets...))
		if err != nil || got.ID() != k.ID() || got.secret != k.secret || len(ids) != 2 {
			t.Errorf("%v: %v, %v, %v", secrets, got, ids, err)
		}
	}
	ring := ringOf(t, "foreign")
	var foreign *ForeignError
	if _, _, err := Unwrap(b, ring); !errors.As(err, &foreign) || len(foreign.Wrapped) != 2 || !strings.Contains(err.Error(), ring.Primary().String()) {
		t.Errorf("a ring that has none: %v", err)
	}
}

func TestEnvelopeIsChecked(t *testing.T) {
	k, ring := newKey(t), ringOf(t, "secret")
	good, err := k.Wrap(ring)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"empty": "", "other": "{}", "format": strings.Replace(string(good), `"tandem_data_key": 1`, `"tandem_data_key": 2`, 1),
		"id":      strings.Replace(string(good), k.ID().String(), "00000000", 1),
		"unknown": strings.Replace(string(good), `"id"`, `"it"`, 1),
		"sealed":  strings.Replace(string(good), `"sealed": "`, `"sealed": "AAAA`, 1),
		"twice":   strings.Replace(string(good), `"wrapped_under": [`, `"wrapped_under": [`+good2(string(good))+`,`, 1),
		"none":    `{"tandem_data_key":1,"id":"00000000","wrapped_under":[]}`,
		"huge":    string(good) + strings.Repeat(" ", maxEnvelope),
	} {
		if _, _, err := Unwrap([]byte(bad), ring); !errors.Is(err, ErrEnvelope) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// good2 cuts the wrapped key out of an envelope.
func good2(text string) string {
	_, text, _ = strings.Cut(text, "[")
	text, _, _ = strings.Cut(text, "]")
	return text
}

func FuzzEnvelope(f *testing.F) {
	ring := ringOf(f, "secret")
	k := newKey(f)
	good, err := k.Wrap(ring)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"tandem_data_key":1,"wrapped_under":[{"cluster_key":"0011223344556677","sealed":"AAAA"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ids, err := Unwrap(b, ring)
		if err == nil && (len(ids) == 0 || !bytes.Contains(b, []byte(got.ID().String()))) {
			t.Fatal("an envelope was opened that names another key")
		}
	})
}

func FuzzOpen(f *testing.F) {
	k := newKey(f)
	f.Add(k.Seal("x", []byte("text")))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := k.Open("y", b); err == nil {
			t.Fatal("what was sealed elsewhere was opened")
		}
	})
}

// The cost of a change of the configuration: 1 MiB is a large document.
func BenchmarkSeal(b *testing.B) {
	k := newKey(b)
	plain := make([]byte, 1<<20)
	b.SetBytes(int64(len(plain)))
	b.ReportAllocs()
	for b.Loop() {
		sealed := k.Seal("log 1 2", plain)
		if _, err := k.Open("log 1 2", sealed); err != nil {
			b.Fatal(err)
		}
	}
}
