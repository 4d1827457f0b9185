package importer

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// maxName is the longest name that a document may have.
const maxName = 63

// nameOf makes a valid name of any text. The same text always gives the same
// name, so that a second import finds the members of the first.
func nameOf(text, fallback string) string {
	var b strings.Builder
	changed := false
	for _, c := range []byte(text) {
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		switch {
		case word || b.Len() > 0 && (c == '-' || c == '.' || c == '_'):
			b.WriteByte(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
			changed = changed || c != ':' && c != ' ' && c != '@' && c != ']'
		default:
			changed = true
		}
		if b.Len() > 4*maxName {
			changed = true
			break
		}
	}
	name := strings.TrimRight(b.String(), "-._")
	switch {
	case name == "":
		name, changed = fallback, text != ""
	case len(name) > maxName:
		changed = true
	}
	if !changed {
		return name
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return fmt.Sprintf("%.*s-%08x", maxName-9, name, h.Sum32())
}

// names hands out each name once, and remembers how often it was asked for.
type names map[string]int

func (n names) pick(name string) string {
	for pick := name; ; {
		n[name]++
		if n[name] > 1 {
			suffix := fmt.Sprintf("-%d", n[name])
			pick = fmt.Sprintf("%.*s%s", maxName-len(suffix), name, suffix)
		}
		if pick == name || n[pick] == 0 {
			if pick != name {
				n[pick] = 1
			}
			return pick
		}
	}
}
