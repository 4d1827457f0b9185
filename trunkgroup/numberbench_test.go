package trunkgroup

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// bulkGroups is how many groups own the numbers of bulkTable.
const bulkGroups = 5000

// bulkTable makes a table of n exact numbers, 1,000 prefixes and 1,000 ranges,
// as an import does: in steps.
func bulkTable(t testing.TB, n int) *NumberTable {
	t.Helper()
	var table *NumberTable
	var step []NumberChange
	flush := func() {
		next, err := table.With(step)
		if err != nil {
			t.Fatal(err)
		}
		table, step = next, step[:0]
	}
	names := make([]string, bulkGroups)
	for i := range names {
		names[i] = fmt.Sprintf("customer-%04d-in", i)
	}
	for p, owner := range manyNumbers(n) {
		if step = append(step, NumberChange{p, names[owner]}); len(step) == 100_000 {
			flush()
		}
	}
	flush()
	return table
}

// bulkDocument has the groups of bulkTable.
func bulkDocument() *Document {
	d := testDocument()
	for i := range bulkGroups {
		d.TrunkGroups = append(d.TrunkGroups, GroupSpec{
			Name: fmt.Sprintf("customer-%04d-in", i), Role: OriginationCustomer,
			Members: []MemberSpec{{ID: "a", Site: "dallas", Address: "198.51.100.9:5060"}},
		})
	}
	return d
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// What a table keeps, and what one change of it costs, stay small.
func TestNumberTableIsSmall(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 200_000
	}
	before := heap()
	table := bulkTable(t, n)
	if perNumber := float64(heap()-before) / float64(n); perNumber > 30 {
		t.Errorf("%.1f octets a number", perNumber)
	}
	compiled := compile(t, bulkDocument())
	i := 0
	var next *NumberTable
	perChange := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			i++
			var err error
			next, err = table.With([]NumberChange{{Pattern{Exact, numberOf(i), numberOf(i)}, "customer-0007-in"}})
			if err != nil {
				b.Fatal(err)
			}
			compiled.WithNumbers(next)
		}
	}).AllocedBytesPerOp()
	if perChange > 300_000 {
		t.Errorf("a change takes %d octets", perChange)
	}
	if octets := len(table.AppendBinary(nil)); octets > 5*n {
		t.Errorf("%d octets for %d numbers", octets, n)
	}
	runtime.KeepAlive(table)
}

func benchSizes() []int {
	if testing.Short() {
		return []int{100_000}
	}
	return []int{100_000, 10_000_000}
}

// Calls go to numbers all over the table.
func BenchmarkMatchNumber(b *testing.B) {
	for _, n := range benchSizes() {
		before := heap()
		numbers := bulkTable(b, n)
		perNumber := float64(heap()-before) / float64(n)
		table := compile(b, bulkDocument()).WithNumbers(numbers)
		r := rand.New(rand.NewPCG(1, 2))
		exact, prefix, none := make([][]byte, 1<<18), make([][]byte, 1<<18), make([][]byte, 1<<18)
		for i := range exact {
			exact[i] = []byte(numberOf(r.IntN(n)).String())
			prefix[i] = fmt.Appendf(nil, "+1800%03d%04d", r.IntN(1000), r.IntN(10000))
			none[i] = fmt.Appendf(nil, "+44%010d", r.IntN(1e10))
		}
		for name, called := range map[string][][]byte{"exact": exact, "prefix": prefix, "nobody's": none} {
			b.Run(fmt.Sprintf("%s-%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if _, ok := table.FindNumber(called[i&(len(called)-1)]); ok == (name == "nobody's") {
						b.Fatal(ok)
					}
				}
				b.ReportMetric(perNumber, "B/number")
			})
		}
		runtime.KeepAlive(numbers)
	}
}

// One number comes, moves or goes, and a node routes by it.
func BenchmarkChangeNumber(b *testing.B) {
	for _, n := range benchSizes() {
		numbers := bulkTable(b, n)
		table := compile(b, bulkDocument()).WithNumbers(numbers)
		r := rand.New(rand.NewPCG(1, 2))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			groups := []string{"", "customer-0007-in", "customer-0008-in"}
			for i := 0; b.Loop(); i++ {
				v := numberOf(r.IntN(2 * n))
				next, err := numbers.With([]NumberChange{{Pattern{Exact, v, v}, groups[i%len(groups)]}})
				if err != nil {
					b.Fatal(err)
				}
				numbers, table = next, table.WithNumbers(next)
			}
		})
	}
}

func BenchmarkBuildNumbers(b *testing.B) {
	for _, n := range benchSizes() {
		b.Run(fmt.Sprint("changes-", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bulkTable(b, n)
			}
		})
		octets := bulkTable(b, n).AppendBinary(nil)
		b.Run(fmt.Sprint("decode-", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeNumberTable(octets); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(octets))/float64(n), "B/number")
		})
	}
}

func BenchmarkReadNumberCSV(b *testing.B) {
	for _, n := range benchSizes() {
		var text bytes.Buffer
		for i := range n {
			fmt.Fprintf(&text, "%s,customer-%04d-in\n", numberOf(i), i%bulkGroups)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				sum, err := ReadNumberCSV(bytes.NewReader(text.Bytes()), NumberCSV{}, func(int, NumberChange) error { return nil })
				if err != nil || sum.Added != n {
					b.Fatal(sum, err)
				}
			}
		})
	}
}

func BenchmarkMatchExpressions(b *testing.B) {
	d := testDocument()
	for i := range maxExpressions {
		d.TrunkGroups[0].Numbers = append(d.TrunkGroups[0].Numbers, fmt.Sprintf(`/^\+%d[0-9]{7,10}(?:1|2)$/`, 100+i))
	}
	table := compile(b, d)
	called := []byte("+15055550103")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := table.FindNumber(called); ok {
			b.Fatal("found")
		}
	}
}
