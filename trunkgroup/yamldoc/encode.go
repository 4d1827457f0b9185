package yamldoc

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Encode writes a document as Decode reads it. Comments stand above what their
// paths name, like trunk_groups[2] or trunk_groups[2].members[0]; a path that does
// not exist has none. Members, sources, sites, customers and routes stand on one
// line each.
func Encode(doc *trunkgroup.Document, comments map[string]string) ([]byte, error) {
	var root yaml.Node
	if err := root.Encode(doc); err != nil {
		return nil, fmt.Errorf("write cluster document: %w", err)
	}
	dress(&root, "", comments)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&root); err != nil {
		return nil, fmt.Errorf("write cluster document: %w", err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("write cluster document: %w", err)
	}
	return b.Bytes(), nil
}

// dress gives nodes their comments and writes short things on one line.
func dress(n *yaml.Node, path string, comments map[string]string) {
	if text := comments[path]; text != "" {
		n.HeadComment = commentLines(text)
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			at := strings.TrimPrefix(path+"."+key.Value, ".")
			dress(value, at, comments)
			if brief(value, path) {
				value.Style = yaml.FlowStyle
			}
		}
	case yaml.SequenceNode:
		name := path[strings.LastIndexByte(path, '.')+1:]
		for i, item := range n.Content {
			dress(item, path+"["+strconv.Itoa(i)+"]", comments)
			switch name {
			case "members", "sources", "sites", "routes":
				item.Style = yaml.FlowStyle
			}
		}
	}
}

// brief tells whether a value stands beside its key: lists of words, and small
// mappings of a group.
func brief(n *yaml.Node, path string) bool {
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return false
		}
	}
	return n.Kind == yaml.SequenceNode || n.Kind == yaml.MappingNode && strings.HasPrefix(path, "trunk_groups[")
}

// commentLines keeps a text inside comments, whatever is in it.
func commentLines(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		clean := strings.Map(func(c rune) rune {
			if c < ' ' || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0x2029 || c == 0xfeff {
				return ' '
			}
			return c
		}, strings.ToValidUTF8(line, "?"))
		lines = append(lines, "# "+clean)
	}
	return strings.Join(lines, "\n")
}
