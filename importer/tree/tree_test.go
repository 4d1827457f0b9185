package tree

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func parseOne(t testing.TB, text string) *Node {
	t.Helper()
	docs, err := Parse([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	return docs[0]
}

// TestValues: paths, kinds, lines, and nil that has nothing.
func TestValues(t *testing.T) {
	n := parseOne(t, "a: {b: [1, x, {c: yes}], 'd': \"07\", e: ~}\nn: 12\nn: 13\n")
	list := n.At("a", "b").List()
	if v, ok := list[0].Int(); !ok || v != 1 || list[1].Text() != "x" || !list[2].At("c").Bool(false) {
		t.Errorf("%+v", list)
	}
	if v, ok := n.At("a", "d").Int(); !ok || v != 7 || n.At("a", "d").Text() != "07" || n.At("a", "e").Text() != "" {
		t.Errorf("%+v", n.At("a"))
	}
	if v, _ := n.At("n").Int(); v != 13 || n.At("n").Line != 3 {
		t.Errorf("the last of two keys is %d in line %d", v, n.At("n").Line)
	}
	if !slices.Equal(n.At("a").Keys(), []string{"b", "d", "e"}) || !n.At("a").IsMap() || n.At("n").IsMap() {
		t.Errorf("%v", n.At("a").Keys())
	}
	gone := n.At("x", "y", "z")
	if _, ok := gone.Int(); gone != nil || gone.Text() != "" || gone.List() != nil || gone.Keys() != nil || ok || gone.IsMap() || !gone.Bool(true) {
		t.Error("nil has something")
	}
	gone.Pass()
	gone.Rest(func(string, *Node) { t.Error("nil has a rest") })
}

// TestRest: what nobody asked for, from the outermost part.
func TestRest(t *testing.T) {
	n := parseOne(t, "a: {b: 1, c: {d: 2, e: 3}}\nf: [{g: 4}, {h: 5}]\ni: {j: {k: 6}}\nl: {m: 7}\n")
	n.At("a", "c", "d").Text()
	n.At("f").List()[1].At("h").Text()
	n.At("l").Pass()
	var rest []string
	n.Rest(func(path string, n *Node) { rest = append(rest, fmt.Sprintf("%s:%d", path, n.Line)) })
	if want := []string{"a.b:1", "a.c.e:1", "f[0]:2", "i:3"}; !slices.Equal(rest, want) {
		t.Errorf("rest %q, want %q", rest, want)
	}
}

// TestDocuments: several in a text, empty ones left out, aliases written out, and
// bounds on what they blow up to.
func TestDocuments(t *testing.T) {
	docs, err := Parse([]byte("--- \n---\na: &x {b: 1}\nc: *x\n--- ~\n---\n- d\n"))
	if err != nil || len(docs) != 2 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	if v, _ := docs[0].At("c", "b").Int(); v != 1 || docs[1].List()[0].Text() != "d" {
		t.Error("an alias, or a second document, is not there")
	}
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 9; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	for _, text := range []string{bomb, "a: &a [*a]", strings.Repeat("[", 100) + strings.Repeat("]", 100), "a: [", "\x00"} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%.30q is read", text)
		}
	}
	if docs, err := Parse(nil); len(docs) != 0 || err != nil {
		t.Errorf("nothing gives %d documents, %v", len(docs), err)
	}
}

// FuzzParse: no text makes it fall over, and every part can be asked for.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"a: [1, {b: ~}]\n---\nc: d", "a: &a [*a]", "? [x]\n: y", "<<: {a: 1}", "\"\\u0000\": 1"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		docs, err := Parse(text)
		if err != nil {
			return
		}
		for _, n := range docs {
			n.Rest(func(path string, n *Node) {
				if path == "" || n == nil {
					t.Errorf("a part without a path, or none at %q", path)
				}
			})
			n.Pass()
			n.Rest(func(path string, _ *Node) { t.Errorf("%q is left after all was passed", path) })
		}
	})
}
