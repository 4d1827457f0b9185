package importer

import (
	"fmt"
	"regexp"
	"strings"
)

// maxMasked bounds what is looked through: a report repeats far less.
const maxMasked = 4096

// hidden stands where a secret stood.
const hidden = "***"

// secretPair is a name of a secret and its value, in attributes, parameters and rows.
var secretPair = regexp.MustCompile(`(?i)([\w.-]*(?:pass|pwd|secret|ha1|token|api_?key|private_?key)[\w.-]*["'` + "`" + `]?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s;,&)]+)`)

// mask takes out of a text what nobody may read, since reports and comments go into
// tickets and histories: values of attributes that are called like secrets, and
// passwords beside the user of a URI.
func mask(s string) string {
	if len(s) > maxMasked {
		s = fmt.Sprintf("%s... (%d octets)", mask(s[:maxMasked]), len(s))
	}
	if strings.ContainsAny(s, "=:") {
		s = secretPair.ReplaceAllString(s, "${1}"+hidden)
	}
	if !strings.Contains(s, "@") {
		return s
	}
	var b strings.Builder
	for s != "" {
		end := strings.IndexAny(s, " \t\r\n,<>\"'") // what cannot stand in a URI
		if end < 0 {
			b.WriteString(maskURI(s))
			break
		}
		b.WriteString(maskURI(s[:end]))
		b.WriteByte(s[end])
		s = s[end+1:]
	}
	return b.String()
}

// maskURI hides the password of scheme:user:password@host, with or without the scheme.
func maskURI(s string) string {
	user, host, ok := cutLast(s, '@')
	if !ok {
		return s
	}
	begin := strings.LastIndex(user, "://") + len("://")
	if begin < len("://") {
		begin = 0
		for _, scheme := range [...]string{"sip:", "sips:", "tel:"} {
			if at := strings.LastIndex(strings.ToLower(user), scheme); at >= 0 {
				begin = max(begin, at+len(scheme))
			}
		}
	}
	name, _, ok := strings.Cut(user[begin:], ":")
	if !ok {
		return s
	}
	return user[:begin] + name + ":" + hidden + "@" + host
}
