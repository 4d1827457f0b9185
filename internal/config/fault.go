package config

import (
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong with a node file.
type Fault struct {
	// Key is the path of the key, as in listeners[0].tls.cert; empty when the file as a whole is at fault.
	Key string
	// Problem says what is wrong, and Remedy what to write instead.
	Problem, Remedy string
}

// Faults are all the faults of one file.
type Faults struct {
	// Path is the file.
	Path string
	List []Fault
}

// Error has one line per fault: "file: key: problem; remedy".
func (f *Faults) Error() string {
	lines := make([]string, len(f.List))
	for i, x := range f.List {
		parts := slices.DeleteFunc([]string{f.Path, x.Key, x.Problem}, func(s string) bool { return s == "" })
		lines[i] = strings.Join(parts, ": ")
		if x.Remedy != "" {
			lines[i] += "; " + x.Remedy
		}
	}
	return strings.Join(lines, "\n")
}

// add notes a fault. The problem is formatted with args.
func (f *Faults) add(key, remedy, problem string, args ...any) {
	f.List = append(f.List, Fault{Key: key, Problem: fmt.Sprintf(problem, args...), Remedy: remedy})
}

// join makes the path of a key inside another one.
func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// index makes the path of an entry of a list.
func index(key string, i int) string { return fmt.Sprintf("%s[%d]", key, i) }
