package yamldoc_test

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// encode writes a document as Decode reads it.
func encode(doc *trunkgroup.Document) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		return nil, fmt.Errorf("write cluster document: %w", err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("write cluster document: %w", err)
	}
	return b.Bytes(), nil
}
