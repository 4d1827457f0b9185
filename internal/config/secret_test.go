package config

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecretShowsNothing(t *testing.T) {
	s := Secret{[]byte("hunter2-hunter2")}
	type holder struct{ Key Secret }
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", s, "holder", holder{s})
	out, err := json.Marshal(holder{s})
	if err != nil {
		t.Fatal(err)
	}
	shown := log.String() + string(out)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		shown += fmt.Sprintf(verb, s) + fmt.Sprintf(verb, holder{s}) + fmt.Sprintf(verb, &s)
	}
	for _, bad := range []string{"hunter2", hex.EncodeToString(s.b), strings.ToUpper(hex.EncodeToString(s.b)), "104 117", base64.StdEncoding.EncodeToString(s.b)} {
		if strings.Contains(shown, bad) {
			t.Errorf("the secret shows as %q in %s", bad, shown)
		}
	}
}

func TestParseKey(t *testing.T) {
	raw := bytes.Repeat([]byte{0xfb, 0xff}, KeySize/2)
	for _, text := range []string{
		hex.EncodeToString(raw), " " + strings.ToUpper(hex.EncodeToString(raw)) + "\n",
		base64.StdEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw),
		base64.URLEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
	} {
		if s, err := ParseKey(text); err != nil || !bytes.Equal(s.Bytes(), raw) {
			t.Errorf("ParseKey(%q) = %x, %v", text, s.Bytes(), err)
		}
	}
	for _, text := range []string{"", "secret", hex.EncodeToString(raw[1:]), base64.StdEncoding.EncodeToString(raw[:31])} {
		if _, err := ParseKey(text); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("ParseKey(%q) = %v", text, err)
		}
	}
}

func TestSecretFileOfEverybody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(goodKey), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := readSecret(path); err != nil || got != goodKey {
		t.Errorf("got %q, %v", got, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readSecret(path); err == nil || strings.Contains(err.Error(), goodKey) {
		t.Errorf("got %v, want a fault about the mode", err)
	}
}
