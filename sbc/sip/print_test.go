package sip

import (
	"bytes"
	"fmt"
	"testing"
)

// printMessage writes what a Message shows, as something that forwards it would.
func printMessage(m *Message) []byte {
	var b []byte
	if m.IsRequest() {
		b = fmt.Appendf(nil, "%s %s SIP/2.0\r\n", m.Method(), m.RequestURI())
	} else {
		b = AppendStatusLine(nil, m.Status(), string(m.Reason()))
	}
	m.Each(func(h Header) bool {
		if h.ID != ContentLength {
			b = AppendHeader(b, string(h.Name), h.Value)
		}
		return true
	})
	return AppendBody(b, nil, m.Body())
}

// checkFixedPoint wants that what is printed parses to the same facts and prints the same.
func checkFixedPoint(t *testing.T, m *Message) {
	t.Helper()
	printed := printMessage(m)
	again, fault := Parse(bytes.Clone(printed))
	if fault != nil {
		t.Fatalf("printed message refused: %s\n%s", fault.Reason, printed)
	}
	if twice := printMessage(again); !bytes.Equal(twice, printed) {
		t.Fatalf("no fixed point:\n%s\n%s", printed, twice)
	}
	same := again.Method() == m.Method() && again.Status() == m.Status() && again.CSeq() == m.CSeq() &&
		again.CSeqMethod() == m.CSeqMethod() && again.MaxForwards() == m.MaxForwards() &&
		bytes.Equal(again.FromTag(), m.FromTag()) && bytes.Equal(again.ToTag(), m.ToTag()) &&
		bytes.Equal(again.CallID(), m.CallID()) && bytes.Equal(again.Branch(), m.Branch()) && bytes.Equal(again.Body(), m.Body())
	if !same {
		t.Fatalf("facts changed:\n%s", printed)
	}
}

func TestFixedPoint(t *testing.T) {
	for name, raw := range corpusFiles(t, "rfc4475", "rfc5118", "rfc5118/fixed", "abuse") {
		if m, fault := Parse(bytes.Clone(raw)); fault == nil && name != "intmeth" { // its NUL is never printed
			t.Run(name, func(t *testing.T) { checkFixedPoint(t, m) })
		}
	}
}
