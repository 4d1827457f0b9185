package deck

import "math/bits"

// maxDigits is the longest E.164 number.
const maxDigits = 15

// prefix is up to fifteen digits in one word: four bits for each, from the top, the digit
// plus one, and zeros behind the last. So a prefix sorts right before what it begins. 0 is
// the prefix of all numbers.
type prefix uint64

// parsePrefix reads up to fifteen digits.
func parsePrefix[T string | []byte](s T) (prefix, bool) {
	if len(s) > maxDigits {
		return 0, false
	}
	var p prefix
	for i := range len(s) {
		d := s[i] - '0'
		if d > 9 {
			return 0, false
		}
		p |= prefix(d+1) << (60 - 4*i)
	}
	return p, true
}

// len is how many digits there are.
func (p prefix) len() int { return 16 - bits.TrailingZeros64(uint64(p))/4 }

// covers reports whether p begins n.
func (p prefix) covers(n prefix) bool {
	return p == 0 || n&^(1<<(64-4*p.len())-1) == p
}

// String writes the digits, and "*" for all numbers.
func (p prefix) String() string {
	if p == 0 {
		return "*"
	}
	var b [maxDigits]byte
	n := p.len()
	for i := range n {
		b[i] = '0' + byte(p>>(60-4*i)&15) - 1
	}
	return string(b[:n])
}

// valid reports whether the word is a prefix: digits from the top, and nothing behind them.
func (p prefix) valid() bool {
	for i := range p.len() {
		if d := p >> (60 - 4*i) & 15; d < 1 || d > 10 {
			return false
		}
	}
	return p&15 == 0
}
