package cluster

import (
	"bytes"
	"io"
	"testing"

	"github.com/tandem-sbc/tandem/cluster/atrest"
	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// What is sealed in pieces reads as it was, at every length around a piece, and says how long it is; cut
// at a piece, changed, or under another label it does not.
func TestSealedInPieces(t *testing.T) {
	v := vaultOf(t, t.TempDir())
	for _, n := range []int{0, 1, streamPiece - 1, streamPiece, streamPiece + 1, 2*streamPiece + 77} {
		plain := bytes.Repeat([]byte("0123456"), n/7+1)[:n]
		var file bytes.Buffer
		w, err := newSealedWriter(&file, v, "it")
		must(t, err)
		_, err = w.Write(plain)
		must(t, err)
		must(t, w.Close())
		if got := plainSize(int64(file.Len())); got != int64(n) || !streamed(file.Bytes()) || bytes.Contains(file.Bytes(), []byte("01234560")) {
			t.Errorf("%d octets: %d", n, got)
		}
		read := func(b []byte, label string) ([]byte, error) {
			r, err := newSealedReader(bytes.NewReader(b), v, label)
			if err != nil {
				return nil, err
			}
			return io.ReadAll(r)
		}
		if got, err := read(file.Bytes(), "it"); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d octets: %d came back, %v", n, len(got), err)
		}
		if _, err := read(file.Bytes(), "that"); err == nil {
			t.Errorf("%d octets under another label", n)
		}
		if cut := len(streamMagic) + streamPiece + atrest.Overhead; n >= streamPiece {
			if _, err := read(file.Bytes()[:cut], "it"); err == nil {
				t.Errorf("%d octets, cut at a piece", n)
			}
		}
		changed := bytes.Clone(file.Bytes())
		changed[len(changed)-1] ^= 1
		if _, err := read(changed, "it"); err == nil {
			t.Errorf("%d octets, changed", n)
		}
	}
}

// FuzzDecodeChange: what was read of a journal is written as it was read.
func FuzzDecodeChange(f *testing.F) {
	at := trunkgroup.Version{Cluster: "test", Generation: 1, Revision: 7}
	next := at
	next.Revision++
	f.Add(encodeChange("test", &numbersOffer{before: at, version: next, rows: numberRows("+1 a", "+2* -", "+30..+39 b")}))
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, b []byte) {
		o, ok := decodeChange(b)
		if !ok {
			return
		}
		again, ok := decodeChange(encodeChange(o.before.Cluster, &o))
		if !ok || again.before != o.before || again.version != o.version || !bytes.Equal(fsm.AppendNumberRows(nil, again.rows), fsm.AppendNumberRows(nil, o.rows)) {
			t.Fatalf("%+v became %+v", o, again)
		}
	})
}
