package lcr

import (
	"hash/maphash"
	"strconv"
	"strings"
)

// Key names an answer: the plan and the edition of its server, and by S-090 the trunk
// group and the number.
type Key struct {
	Plan    string
	Edition uint64 // DecisionServer.Edition
	Group   string // empty for none
	Number  string
}

// String is the key as nodes tell it each other. Names hold no "/" and no ":".
func (k Key) String() string {
	group := k.Group
	if group == "" {
		group = "-"
	}
	b := make([]byte, 0, len(k.Plan)+len(group)+len(k.Number)+20)
	b = append(append(b, k.Plan...), '/')
	b = append(strconv.AppendUint(b, k.Edition, 16), '/')
	b = append(append(b, group...), ':')
	return string(append(b, k.Number...))
}

// ParseKey reads what String writes.
func ParseKey(s string) (Key, bool) {
	plan, rest, ok := strings.Cut(s, "/")
	edition, rest, ok2 := strings.Cut(rest, "/")
	group, number, ok3 := strings.Cut(rest, ":")
	n, err := strconv.ParseUint(edition, 16, 64)
	if !ok || !ok2 || !ok3 || plan == "" || group == "" || err != nil {
		return Key{}, false
	}
	if group == "-" {
		group = ""
	}
	return Key{Plan: plan, Edition: n, Group: group, Number: number}, true
}

// flushPrefix begins the keys by which nodes are told to forget answers.
const flushPrefix = "flush/"

// FlushKey names the order to forget the answers of a plan, or of all with an empty
// one. What was asked before the order is forgotten, whenever it arrives.
func FlushKey(plan string) string { return flushPrefix + plan }

// ParseFlush reads what FlushKey makes.
func ParseFlush(s string) (plan string, ok bool) {
	plan, ok = strings.CutPrefix(s, flushPrefix)
	return plan, ok && !strings.Contains(plan, "/")
}

// hash spreads keys over a table. The seed keeps callers from choosing numbers that
// meet in one place.
func (k *Key) hash(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(k.Number)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(k.Group)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(k.Plan)
	return h.Sum64() ^ k.Edition
}
