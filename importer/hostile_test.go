package importer

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// everything is all that an import shows.
func everything(t *testing.T, r *Result) string {
	t.Helper()
	text, err := r.YAML()
	if err != nil {
		t.Fatal(err)
	}
	report, err := json.Marshal(r.Report)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + string(report)
}

func kamailioTexts(t *testing.T, texts ...string) *Result {
	t.Helper()
	var in []Input
	for i, text := range texts {
		in = append(in, Input{Name: string(rune('a' + i)), Text: []byte(text)})
	}
	r, err := Kamailio(in, KamailioOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestD14_SecretsAreNotShown: a password stands in attributes, in the user part of a
// URI, in a parameter, or in a row that is not understood, and in no report.
func TestD14_SecretsAreNotShown(t *testing.T) {
	for name, text := range map[string]string{
		"attributes": "1 sip:198.51.100.1 0 0 auth_pass=GEHEIM;password=\"GEHEIM\";ha1=GEHEIM;x_token=GEHEIM\n",
		"user":       "1 sip:bob:GEHEIM@198.51.100.1 0 0\n2 sip:198.51.100.2\n3 bob:GEHEIM@:1 0 0\n",
		"behind":     "1 sip:198.51.100.1 0 0 a=b c=d;secret=GEHEIM\n",
		"parameter":  "#!KAMAILIO\nmodparam(\"dispatcher\", \"ds_ping_from\", \"sip:me:GEHEIM@x\")\nmodparam(\"dispatcher\", \"db_url\", \"mysql://k:GEHEIM@h/k\")\nmodparam(\"dispatcher\", \"db_url2\", \"mysql://k:GEHEIM@h/k\")\n",
		"row":        "insert into dispatcher values (1,1,'sip:198.51.100.1','x',0,'pwd=GEHEIM',''),(2,1,'sip:a:GEHEIM@198.51.100.1',0,0,'pwd=\\'GEHEIM',''); insert into dispatcher (setid, destination, password) values (1, 'sip:198.51.100.9', 'GEHEIM');",
	} {
		if shown := everything(t, kamailioTexts(t, "9 sip:198.51.100.99\n", text)); strings.Contains(shown, "GEHEIM") {
			t.Errorf("%s: %s", name, shown)
		}
	}
}

// TestD14_DumpsOfDatabases: PostgreSQL's COPY, REPLACE, INSERT IGNORE, schemas before
// names, a table of another name, and other tables with whatever is in them.
func TestD14_DumpsOfDatabases(t *testing.T) {
	for name, texts := range map[string][]string{
		"copy":    {"-- PostgreSQL database dump\nCOPY public.acc (a) FROM stdin;\nit's ; not (closed\n\\.\nCOPY public.dispatcher (setid, destination, attrs) FROM stdin;\n1\tsip:198.51.100.1\t\\N\n2\tsip:198.51.100.2\tx=a\\tb\n\\.\nSELECT 1;\n"},
		"replace": {"REPLACE INTO dispatcher VALUES (1,1,'sip:198.51.100.1',0,0,'',''); insert ignore into `kamailio`.`dispatcher` values (1,2,'sip:198.51.100.2',0,0,_utf8mb4'x=a\\tb','');"},
		"schema":  {`INSERT INTO "public"."dispatcher" VALUES (1,1,'sip:198.51.100.1',0,0,'',''), (2,2,'sip:198.51.100.2',0,0,N'x=a` + "\t" + `b','');`},
		"renamed": {
			"insert into ds values (1,1,'sip:198.51.100.1',0,0,'',''),(1,2,'sip:198.51.100.2',0,0,'x=a\\tb','');insert into dispatcher values (1,3,'sip:198.51.100.3',0,0,'','');",
			"#!KAMAILIO\nmodparam(\"dispatcher\", \"table_name\", \"ds\")\n",
		},
		"semicolons": {"\xef\xbb\xbfid;setid;destination;flags;priority;attrs;description\r\n1;1;sip:198.51.100.1;0;0;;\r\n2;2;sip:198.51.100.2;0;0;\"x=a\tb;y=2\";\r\n"},
	} {
		r := kamailioTexts(t, texts...)
		if g := r.Document.TrunkGroups; len(g) != 2 || g[0].Members[0].Address != "198.51.100.1:5060" || g[1].Members[0].Address != "198.51.100.2:5060" {
			t.Errorf("%s: %+v", name, g)
		}
		if shown := everything(t, r); !strings.Contains(shown, `x=a\tb`) {
			t.Errorf("%s: the attribute is lost: %s", name, shown)
		}
	}
}

// TestD14_CommentsStayComments: a line end in an attribute begins no line of the document.
func TestD14_CommentsStayComments(t *testing.T) {
	r := kamailioTexts(t, "insert into dispatcher values (1,1,'sip:198.51.100.1',0,0,'x=a\\nevil: true\\r\\nworse: true','');")
	for line := range strings.Lines(everything(t, r)) {
		if s := strings.TrimSpace(line); strings.HasPrefix(s, "evil") || strings.HasPrefix(s, "worse") {
			t.Errorf("%q", line)
		}
	}
}

// TestD14_Includes: what the configuration goes on in is asked for, and #!substdef says
// what words stand for.
func TestD14_Includes(t *testing.T) {
	r := kamailioTexts(t, "1 sip:198.51.100.1\n", "#!KAMAILIO\n#!substdef \"!DS_SET!1!g\"\n#!include_file \"other.cfg\"\nimport_file \"dir/b\"\nrequest_route { ds_select_dst(\"DS_SET\", \"4\"); ds_select_dst(DS_SET, 4); }\n")
	says(t, r, Lost, "include_file other.cfg")
	for _, it := range r.Report.Items {
		if strings.Contains(it.Item, "import_file dir/b") || strings.Contains(it.Item, "ds_select_dst(DS_SET, 4)") {
			t.Errorf("%+v", it)
		}
	}
}

// TestD14_Encodings: marks of byte order are no part of a list, and UTF-16 is refused.
func TestD14_Encodings(t *testing.T) {
	if r := kamailioTexts(t, "\xef\xbb\xbf7 sip:198.51.100.1\r\n"); r.Document.TrunkGroups[0].Name != "set-7" {
		t.Errorf("%+v", r.Document.TrunkGroups)
	}
	if _, err := Kamailio([]Input{{Name: "f", Text: []byte("\xff\xfe1\x00 \x00")}}, KamailioOptions{}); !errors.Is(err, errWide) {
		t.Errorf("UTF-16: %v", err)
	}
}

// TestD14_HostileSizes: the time of an import grows with its input.
func TestD14_HostileSizes(t *testing.T) {
	for name, text := range map[string]string{
		"brackets": "insert into dispatcher values " + strings.Repeat("(", 4<<20),
		"quotes":   "insert into dispatcher values ('" + strings.Repeat("''", 2<<20),
		"calls":    "#!KAMAILIO\n" + strings.Repeat("ds_select_dst(", 100<<10),
		"value":    "1 sip:198.51.100.1 0 0 \n" + "1 sip:" + strings.Repeat("a", 4<<20),
	} {
		begin := time.Now()
		_, _ = Kamailio([]Input{{Name: "f", Text: []byte(text)}}, KamailioOptions{})
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}
