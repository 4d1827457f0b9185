package cdr

import (
	"bytes"
	"encoding/json"
)

// order returns the names of a flat JSON object in the order in which they stand.
func order(object []byte) ([]string, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	var names []string
	for n := -1; ; n++ { // the brace is no name and no value
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		if t == json.Delim('}') {
			return names, nil
		}
		if name, ok := t.(string); ok && n%2 == 0 {
			names = append(names, name)
		}
	}
}
