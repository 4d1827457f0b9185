package yamldoc

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// value reads a node into v and reports what does not fit.
func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) {
	d.positions[path] = position{n.Line, n.Column}
	switch {
	case n.Kind == yaml.AliasNode:
		d.fault(n, path, "is an alias", "write the value out: anchors and aliases are not read")
		return
	case n.Style&yaml.TaggedStyle != 0:
		d.fault(n, path, fmt.Sprintf("has the tag %s", n.Tag), "take the tag out")
		return
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		d.fault(n, path, "has no value", "give it one, or take the key out")
		return
	}
	if u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok {
		d.text(n, u, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.object(n, v, path)
	case reflect.Map:
		d.dictionary(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), path)
	default:
		d.scalar(n, v, path)
	}
}

// is reports whether the node is of the kind, and else the fault.
func (d *decoder) is(n *yaml.Node, kind yaml.Kind, path, want string) bool {
	if n.Kind == kind {
		return true
	}
	d.fault(n, path, fmt.Sprintf("is %s, not %s", describe(n), want), "")
	return false
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return fmt.Sprintf("%.40q", n.Value)
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) {
	if !d.is(n, yaml.SequenceNode, path, "a list") {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.value(item, v.Index(i), path+"["+strconv.Itoa(i)+"]")
	}
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.String:
		if !d.is(n, yaml.ScalarNode, path, "text") {
			return
		}
		if n.Tag == "!!bool" {
			d.fault(n, path, fmt.Sprintf("%s is true or false, not text", n.Value), "put it in quotes if it is meant as text")
			return
		}
		v.SetString(n.Value)
	case reflect.Int:
		if !d.is(n, yaml.ScalarNode, path, "a number") {
			return
		}
		i, err := strconv.ParseInt(n.Value, 10, 32)
		if errors.Is(err, strconv.ErrRange) {
			d.fault(n, path, fmt.Sprintf("%.40s is beyond all bounds", n.Value), fmt.Sprintf("use a number up to %d", math.MaxInt32))
			v.SetInt(i) // not zero, which would be another fault
			return
		}
		if err != nil || n.Tag != "!!int" {
			d.fault(n, path, fmt.Sprintf("%.40q is not a whole number", n.Value), "write digits, without quotes")
			return
		}
		v.SetInt(i)
	case reflect.Bool:
		if n.Tag != "!!bool" || n.Value != "true" && n.Value != "false" {
			d.fault(n, path, fmt.Sprintf("is %s, not true or false", describe(n)), "write true or false")
			return
		}
		v.SetBool(n.Value == "true")
	}
}

// text reads a type that knows its own words.
func (d *decoder) text(n *yaml.Node, u encoding.TextUnmarshaler, path string) {
	if !d.is(n, yaml.ScalarNode, path, "one word") {
		return
	}
	if n.Value == "" {
		d.fault(n, path, "is empty", "give it a value, or take the key out")
		return
	}
	if err := u.UnmarshalText([]byte(n.Value)); err != nil {
		d.fault(n, path, err.Error(), remedy(u, n.Value))
	}
}

func remedy(u encoding.TextUnmarshaler, word string) string {
	switch u.(type) {
	case *trunkgroup.Role:
		return trunkgroup.Suggest(word, trunkgroup.RoleNames())
	case *trunkgroup.Method:
		return trunkgroup.Suggest(word, trunkgroup.MethodNames())
	case *trunkgroup.SessionSource:
		return trunkgroup.Suggest(word, trunkgroup.SessionSourceNames())
	case *trunkgroup.Transport:
		return trunkgroup.Suggest(word, trunkgroup.TransportNames())
	case *trunkgroup.Format:
		return trunkgroup.Suggest(word, trunkgroup.FormatNames())
	case *trunkgroup.Direction:
		return trunkgroup.Suggest(word, trunkgroup.DirectionNames())
	case *trunkgroup.FraudAction:
		return trunkgroup.Suggest(word, trunkgroup.FraudActionNames())
	case *trunkgroup.ChargingFailure:
		return trunkgroup.Suggest(word, trunkgroup.ChargingFailureNames())
	case *trunkgroup.ChargeFrom:
		return trunkgroup.Suggest(word, trunkgroup.ChargeFromNames())
	case *trunkgroup.Subscriber:
		return trunkgroup.Suggest(word, trunkgroup.SubscriberNames())
	}
	return "write a duration like 500ms, 4s or 1m30s"
}
