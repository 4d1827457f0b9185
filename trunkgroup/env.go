package trunkgroup

import (
	"fmt"
	"strings"
)

// reservedEnv begins the names of variables that configure the node itself: its keys
// are nobody's business who writes a document.
const reservedEnv = "TANDEM_"

// ExpandEnv puts variables into a text of the document: ${NAME} is the variable's value,
// and ${NAME:-default} is the default where there is no such variable or it is empty
// (S-094). Any other "$" stands for itself. An error names the variable that is missing,
// or what is no variable, and never a value.
func ExpandEnv(text string, lookup func(name string) (value string, ok bool)) (string, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		inside, after, closed := strings.Cut(rest, "}")
		name, def, hasDefault := strings.Cut(inside, ":-")
		switch {
		case !closed:
			name, _, _ = strings.Cut(rest, ":-") // what stands behind it may be secret
			return "", fmt.Errorf("a variable is not closed: %q", "${"+name)
		case !isEnvName(name):
			return "", fmt.Errorf("%q is not the name of a variable", name)
		case strings.HasPrefix(name, reservedEnv):
			return "", fmt.Errorf("variable %s belongs to the node", name)
		}
		value, ok := lookup(name)
		switch {
		case hasDefault && value == "":
			value = def
		case !ok:
			return "", fmt.Errorf("there is no variable %s, and no default", name)
		}
		b.WriteString(value)
		text = after
	}
}

// ShownURL is an address, expanded or not, as people see it: without what it says behind
// its path, where keys of an API stand. Any other text stays as it is.
func ShownURL(text string) string {
	if head, _, found := strings.Cut(text, "?"); found && strings.Contains(head, "://") {
		return head + "?..."
	}
	return text
}

func isEnvName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && !isAlnum(c) || i == 0 && c >= '0' && c <= '9' {
			return false
		}
	}
	return s != ""
}
