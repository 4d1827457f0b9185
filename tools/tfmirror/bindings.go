package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// A class is one class of the bindings: a resource, a data source, or a block inside one.
type class struct {
	name       string
	typeName   string // of a resource or data source: google_compute_address
	properties map[string]*property
	order      []string
}

// A property is one argument or attribute of a class, by the name that the bindings give it.
type property struct {
	name   string // as it stands in a configuration
	kind   string // string, number, bool, or empty for a class
	many   string // "", list, set, map
	class  string // of a block: the class that says what is inside
	set    bool   // a configuration may have it
	reset  bool   // and may lack it
	single bool   // of a block: at most one
}

var (
	classLine  = regexp.MustCompile(`^class (\w+) extends cdktf\.(\w+) \{`)
	typeLine   = regexp.MustCompile(`^(\w+)\.tfResourceType = "(\w+)";`)
	getterLine = regexp.MustCompile(`^    get (\w+)\(\) \{`)
	returnLine = regexp.MustCompile(`return (cdktf\.Fn\.tolist\()?this\.get(\w+?)Attribute\('(\w+)'\)`)
	nestedLine = regexp.MustCompile(`^        this\._(\w+) = new (?:cdktf\.)?(\w+)\(this, "(\w+)"(?:, (true|false))?\);`)
	setterLine = regexp.MustCompile(`^    (?:set |put)(\w+)\(value\) \{`)
	resetLine  = regexp.MustCompile(`^    reset(\w+)\(\) \{`)
	nameLine   = regexp.MustCompile(`^            (\w+): \{$`)
	valueLine  = regexp.MustCompile(`^                value: .*\((?:this\._|struct\.)(\w+?)(?:\.internalValue)?\),$`)
	kindLine   = regexp.MustCompile(`^                storageClassType: "(\w+)",$`)
	shapeLine  = regexp.MustCompile(`^                type: "(\w+)",$`)
)

// readClasses reads the classes of one file of the bindings, by name. They are generated, one statement to a line, so
// that lines are enough to tell them by.
func readClasses(path string) (map[string]*class, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()

	r := reader{classes: map[string]*class{}}
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadString('\n')
		r.line(strings.TrimSuffix(line, "\n"))
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return r.classes, nil
}

// A reader goes through a file line by line.
type reader struct {
	classes map[string]*class
	now     *class
	getter  string   // the getter whose body follows
	slot    string   // the entry of the list of arguments that is being read
	written property // what that entry said so far
}

func (r *reader) line(line string) {
	if m := typeLine.FindStringSubmatch(line); m != nil {
		if c := r.classes[m[1]]; c != nil {
			c.typeName = m[2]
		}
		return
	}
	if m := classLine.FindStringSubmatch(line); m != nil {
		r.now, r.getter = &class{name: m[1], properties: map[string]*property{}}, ""
		r.classes[m[1]] = r.now
		return
	}
	if r.now == nil {
		return
	}
	if line == "}" {
		r.now = nil
		return
	}
	r.member(line)
	r.argument(line)
}

// member reads getters, setters and what is nested.
func (r *reader) member(line string) {
	if m := nestedLine.FindStringSubmatch(line); m != nil {
		p := r.now.at(m[1])
		p.name = m[3]
		switch {
		case m[2] == "StringMap":
			p.kind, p.many = "string", "map"
		case m[2] == "BooleanMap":
			p.kind, p.many = "bool", "map"
		case strings.HasSuffix(m[2], "List"):
			p.class, p.many = strings.TrimSuffix(m[2], "List")+"OutputReference", "list"
			if m[4] == "true" {
				p.many = "set"
			}
		default:
			p.class, p.many, p.single = m[2], "list", true
		}
		return
	}
	if m := getterLine.FindStringSubmatch(line); m != nil {
		r.getter = m[1]
		return
	}
	if m := returnLine.FindStringSubmatch(line); m != nil && r.getter != "" {
		p := r.now.at(r.getter)
		p.name = m[3]
		p.kind, p.many = plain(m[2])
		if m[1] != "" {
			p.many = "set"
		}
		r.getter = ""
		return
	}
	if m := setterLine.FindStringSubmatch(line); m != nil {
		r.now.at(lowerFirst(m[1])).set = true
	}
	if m := resetLine.FindStringSubmatch(line); m != nil {
		r.now.at(lowerFirst(m[1])).reset = true
	}
}

// argument reads the list of arguments at the end of a class. Only there does the provider's own class name its
// arguments as a configuration does.
func (r *reader) argument(line string) {
	if m := nameLine.FindStringSubmatch(line); m != nil {
		r.slot, r.written = "", property{name: m[1]}
	}
	if m := valueLine.FindStringSubmatch(line); m != nil {
		r.slot = m[1]
	}
	if m := shapeLine.FindStringSubmatch(line); m != nil && m[1] != "simple" {
		r.written.many = m[1]
	}
	m := kindLine.FindStringSubmatch(line)
	if m == nil || r.slot == "" {
		return
	}
	p := r.now.at(r.slot)
	// What nests in the provider's own configuration (batching) has no class that says what is inside: left out.
	if kind, _ := plain(strings.TrimSuffix(strings.TrimSuffix(m[1], "List"), "Map")); p.name == "" && kind != "" {
		p.name, p.kind, p.many = r.written.name, kind, r.written.many
	}
	r.slot = ""
}

// at is the property of that name, made when it is new.
func (c *class) at(name string) *property {
	p := c.properties[name]
	if p == nil {
		p = &property{}
		c.properties[name] = p
		c.order = append(c.order, name)
	}
	return p
}

// plain says what a kind of the bindings is: StringMap is a map of strings.
func plain(kind string) (of, many string) {
	kind = lowerFirst(kind)
	switch {
	case kind == "list":
		return "string", "list"
	case strings.HasSuffix(kind, "List"):
		kind, many = strings.TrimSuffix(kind, "List"), "list"
	case strings.HasSuffix(kind, "Map"):
		kind, many = strings.TrimSuffix(kind, "Map"), "map"
	}
	switch kind {
	case "string", "number":
		return kind, many
	case "boolean":
		return "bool", many
	}
	return "", many
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
