package importer

import (
	"strings"
)

// cfgToken is one token of kamailio.cfg.
type cfgToken struct {
	text   string
	line   int
	quoted bool
}

// lexConfig takes a kamailio.cfg apart. Comments go; #!define gives words their
// values, once, as the preprocessor does. Conditions (#!ifdef) are not judged: both
// branches are read.
func lexConfig(text string) []cfgToken {
	l := &cfgLexer{text: text, line: 1, defines: map[string]string{}, substs: map[string]bool{}}
	for l.step() {
		continue
	}
	return l.tokens
}

type cfgLexer struct {
	text    string
	at      int
	line    int
	tokens  []cfgToken
	defines map[string]string
	substs  map[string]bool // those of #!substdef, which stand for texts in quotes too
}

// step reads one token or passes one thing that is none; false at the end.
func (l *cfgLexer) step() bool {
	if l.at >= len(l.text) {
		return false
	}
	rest := l.text[l.at:]
	switch c := rest[0]; {
	case c == '\n':
		l.line++
		l.at++
	case c == ' ' || c == '\t' || c == '\r':
		l.at++
	case strings.HasPrefix(rest, "#!") || strings.HasPrefix(rest, "!!"):
		l.directive(rest[2:lineEnd(rest)])
		l.at += lineEnd(rest)
	case c == '#' || strings.HasPrefix(rest, "//"):
		l.at += lineEnd(rest)
	case strings.HasPrefix(rest, "/*"):
		l.block(rest)
	case c == '"' || c == '\'':
		l.quote(rest)
	case isCfgWord(c):
		n := 1
		for n < len(rest) && (isCfgWord(rest[n]) || rest[n] == '.') {
			n++
		}
		l.word(rest[:n])
		l.at += n
	default:
		l.tokens = append(l.tokens, cfgToken{rest[:1], l.line, false})
		l.at++
	}
	return true
}

func isCfgWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
}

// directive reads #!define NAME VALUE and its like.
func (l *cfgLexer) directive(text string) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch verb {
	case "include_file", "import_file":
		l.tokens = append(l.tokens, cfgToken{verb, l.line, false}, cfgToken{strings.Trim(strings.TrimSpace(rest), `"'`), l.line, true})
	case "substdef", "substdefs":
		l.substdef(strings.Trim(strings.TrimSpace(rest), `"'`))
	case "define", "trydef", "redefine":
		name, value, _ := strings.Cut(strings.TrimSpace(rest), " ")
		l.defines[name] = strings.Trim(strings.TrimSpace(value), `"'`)
	}
}

// substdef reads !NAME!VALUE!FLAGS, where any sign may stand for the first one.
func (l *cfgLexer) substdef(text string) {
	if text == "" {
		return
	}
	parts := strings.Split(text[1:], text[:1])
	if len(parts) >= 2 {
		l.defines[parts[0]] = strings.Trim(parts[1], `"'`)
		l.substs[parts[0]] = true
	}
}

func (l *cfgLexer) word(w string) {
	t := cfgToken{w, l.line, false}
	if value, ok := l.defines[w]; ok && value != "" {
		t.text, t.quoted = value, true
	}
	l.tokens = append(l.tokens, t)
}

func (l *cfgLexer) block(rest string) {
	n := len(rest)
	if i := strings.Index(rest[2:], "*/"); i >= 0 {
		n = i + 4
	}
	l.line += strings.Count(rest[:n], "\n")
	l.at += n
}

func (l *cfgLexer) quote(rest string) {
	var b strings.Builder
	begin := l.line
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\\' && i+1 < len(rest):
			i++
			b.WriteByte(rest[i])
		case c == rest[0]:
			text := b.String()
			if l.substs[text] {
				text = l.defines[text]
			}
			l.tokens = append(l.tokens, cfgToken{text, begin, true})
			l.at += i + 1
			return
		default:
			if c == '\n' {
				l.line++
			}
			b.WriteByte(c)
		}
	}
	l.at = len(l.text)
}
