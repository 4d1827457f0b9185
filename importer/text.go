package importer

import (
	"bytes"
	"errors"
	"fmt"
)

// errWide means that a text is not of octets.
var errWide = errors.New("is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8")

// texts bounds inputs and takes the marks of byte order off, which editors of other
// systems leave before UTF-8.
func texts(inputs []Input) ([]Input, error) {
	var out []Input
	for _, in := range inputs {
		if len(in.Text) > MaxInput {
			return nil, fmt.Errorf("%s has more than %d octets", in.Name, MaxInput)
		}
		if bytes.HasPrefix(in.Text, []byte("\xff\xfe")) || bytes.HasPrefix(in.Text, []byte("\xfe\xff")) {
			return nil, fmt.Errorf("%s: %w", in.Name, errWide)
		}
		out = append(out, Input{Name: in.Name, Text: bytes.TrimPrefix(in.Text, []byte("\xef\xbb\xbf"))})
	}
	return out, nil
}
