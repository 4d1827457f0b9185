package config

import (
	"reflect"
	"strings"
)

// keys lists the names of all keys of a file struct, at any depth, by the path without indices.
func keys(sample any) []string {
	var all []string
	var walk func(typ reflect.Type, prefix string)
	walk = func(typ reflect.Type, prefix string) {
		for typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		for field := range typ.Fields() {
			path := join(prefix, field.Tag.Get("mapstructure"))
			all = append(all, path)
			walk(field.Type, path)
		}
	}
	walk(reflect.TypeOf(sample), "")
	return all
}

// suggest words a remedy for an unknown key: the known key that was probably meant.
func suggest(key string, known []string) string {
	plain := withoutIndices(key)
	parent, name := "", plain
	if i := strings.LastIndexByte(plain, '.'); i >= 0 {
		parent, name = plain[:i], plain[i+1:]
	}
	best, distance := "", 1+len(name)/2
	for _, k := range known {
		dir, base := "", k
		if i := strings.LastIndexByte(k, '.'); i >= 0 {
			dir, base = k[:i], k[i+1:]
		}
		if base == name {
			// Rightly spelled, but in the wrong place.
			return "it belongs at " + k
		}
		if dir != parent {
			continue
		}
		if d := edits(name, base); d < distance {
			best, distance = base, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "remove it, or see docs/configuration.md"
}

// withoutIndices turns listeners[0].name into listeners.name.
func withoutIndices(key string) string {
	var b strings.Builder
	skip := false
	for _, r := range key {
		switch {
		case r == '[':
			skip = true
		case r == ']':
			skip = false
		case !skip:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// edits is the Levenshtein distance of two short words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
