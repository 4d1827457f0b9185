package sip

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpusDir returns the directory of the torture corpus, which lies beside the repository and not in it. Tests that need it skip
// where it is absent.
func corpusDir(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
	corpus := filepath.Join(dir, "..", "shared", "corpus")
	if _, err := os.Stat(corpus); err != nil {
		t.Skipf("torture corpus absent: %s", corpus)
	}
	return corpus
}

// corpusFiles returns the messages of some directories of the corpus by name.
func corpusFiles(t testing.TB, dirs ...string) map[string][]byte {
	t.Helper()
	corpus := corpusDir(t)
	files := map[string][]byte{}
	for _, dir := range dirs {
		paths, err := filepath.Glob(filepath.Join(corpus, dir, "*.dat"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("corpus directory %s: %v, %d files", dir, err, len(paths))
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files[strings.TrimSuffix(filepath.Base(path), ".dat")] = b
		}
	}
	return files
}

// corpusTable returns the rows of a .tsv file of the corpus: name to wanted result.
func corpusTable(t *testing.T, name string, column int) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpusDir(t), name))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for i, line := range strings.Split(string(b), "\n") {
		if fields := strings.Split(line, "\t"); i > 0 && len(fields) > column {
			want[fields[0]] = fields[column]
		}
	}
	return want
}

// laterVerdicts are wanted results that something behind the parser gives to a well-formed message.
var laterVerdicts = map[string]bool{
	"OK": true, "OKRESP": true, "200": true, "202": true, "401": true, "405": true, "406": true, "415": true, "420": true, "483": true,
}

// TestRFC4475Verdicts holds every message of RFC 4475 and RFC 5118 against the wanted result: what the gate must refuse it refuses
// with that very code, all else parses.
func TestRFC4475Verdicts(t *testing.T) {
	files := corpusFiles(t, "rfc4475", "rfc5118", "rfc5118/fixed")
	for name, want := range corpusTable(t, "oracle.tsv", 3) {
		raw, ok := files[name]
		if !ok {
			t.Errorf("%s: no such file", name)
			continue
		}
		t.Run(name, func(t *testing.T) { checkVerdict(t, raw, want) })
	}
}

func checkVerdict(t *testing.T, raw []byte, want string) {
	accepted := map[string]bool{}
	parses, closes := false, false
	for _, w := range strings.FieldsFunc(want, func(r rune) bool { return r == '|' || r == ' ' }) {
		closes = closes || w == "C"
		parses = parses || laterVerdicts[w]
		accepted[w] = true
	}
	m, fault := Parse(bytes.Clone(raw))
	switch {
	case fault == nil && !parses:
		t.Fatalf("parses, want %s", want)
	case fault == nil:
		if m == nil || len(m.CallID()) == 0 || m.CSeqMethod() == "" {
			t.Fatal("a parsed message lacks its facts")
		}
		return
	case fault.Code == 0 && !accepted["D"], fault.Code == 400 && !accepted["400"], fault.Code == 501 && !accepted["501"],
		fault.Code == 505 && !accepted["505"], fault.Code == 416 && !accepted["416"]:
		t.Fatalf("verdict %d %s, want %s", fault.Code, fault.Reason, want)
	case closes && !fault.Close:
		t.Fatalf("%d %s must close the stream", fault.Code, fault.Reason)
	case fault.Code != 0 && fault.Message == nil:
		t.Fatal("an answer needs the partial message")
	}
}

// TestAbuseVerdicts holds the hostile messages against what the parser can decide; the rest must parse.
func TestAbuseVerdicts(t *testing.T) {
	gate := map[string]Fault{
		"a01-missing-to":         {Code: 400, Reason: "Missing To"},
		"a03-missing-callid":     {Code: 400, Reason: "Missing Call-ID"},
		"a05-missing-via":        {Code: 0, Reason: "Missing Via"},
		"a07-two-content-length": {Code: 400, Reason: "Repeated Content-Length", Close: true},
		"a09-cl-overflow":        {Code: 400, Reason: "Bad Content-Length", Close: true},
		"a11-bare-lf-injection":  {Code: 400, Reason: "Bare CR Or LF In Header", Close: true},
		"a13-nul-in-header":      {Code: 400, Reason: "Control Character In Header"},
		"a17-compact-dup-from":   {Code: 400, Reason: "Repeated From"},
		"a23-header-64k":         {Code: 513, Reason: "Message Too Large", Close: true},
		"a25-uri-nest":           {Code: 400, Reason: "Bad From"},
		"a27-cseq-method":        {Code: 400, Reason: "CSeq Method Mismatch"},
		"a29-maxfwd-256":         {Code: 400, Reason: "Bad Max-Forwards"},
		"a35-register-star-exp":  {Code: 400, Reason: "Bad Contact"},
		"a49-log-injection":      {Code: 400, Reason: "Control Character In Header"},
	}
	for name, raw := range corpusFiles(t, "abuse") {
		t.Run(name, func(t *testing.T) {
			_, fault := Parse(bytes.Clone(raw))
			want, refused := gate[name]
			switch {
			case !refused && fault != nil:
				t.Fatalf("refused: %d %s", fault.Code, fault.Reason)
			case refused && fault == nil:
				t.Fatalf("parses, want %d %s", want.Code, want.Reason)
			case refused && (fault.Code != want.Code || fault.Reason != want.Reason || fault.Close != want.Close):
				t.Fatalf("verdict %d %s close=%v, want %d %s close=%v",
					fault.Code, fault.Reason, fault.Close, want.Code, want.Reason, want.Close)
			}
		})
	}
}
