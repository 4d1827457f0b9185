package trunkgroup

import "strconv"

// maxDigits is the longest E.164 number (ITU-T E.164 section 6.1).
const maxDigits = 15

// number is a telephone number in one word: 50 bits of value (10^15 < 2^50),
// then 4 bits of length, so that leading zeros count, then one bit for numbers
// without +. Numbers of equal length sort by value.
type number uint64

const (
	valueBits = 50
	valueMask = 1<<valueBits - 1
	localBit  = 1 << (valueBits + 4)
)

// pack reads one to fifteen digits, with + in front for E.164.
func pack[T string | []byte](s T) (number, bool) {
	i, flag := 0, number(localBit)
	if len(s) > 0 && s[0] == '+' {
		i, flag = 1, 0
	}
	n := len(s) - i
	if n < 1 || n > maxDigits {
		return 0, false
	}
	var v number
	for ; i < len(s); i++ {
		d := s[i] - '0'
		if d > 9 {
			return 0, false
		}
		v = v*10 + number(d)
	}
	return flag | number(n)<<valueBits | v, true
}

func (n number) value() uint64 { return uint64(n) & valueMask }
func (n number) length() int   { return int(n >> valueBits & 0xf) }
func (n number) local() bool   { return n&localBit != 0 }

// cut keeps the first digits.
func (n number) cut(length int) number {
	return n&localBit | number(length)<<valueBits | number(n.value()/pow10[n.length()-length])
}

// extend appends a digit.
func (n number) extend(digit byte) number {
	return n&localBit | number(n.length()+1)<<valueBits | number(n.value()*10+uint64(digit))
}

// digits returns the digits, from the first.
func (n number) digits() (digits [maxDigits]byte, length int) {
	v := n.value()
	length = n.length()
	for i := length - 1; i >= 0; i-- {
		digits[i] = byte(v % 10)
		v /= 10
	}
	return digits, length
}

// digit returns the digit at a place, from 0.
func (n number) digit(at int) byte {
	return byte(n.value() / pow10[n.length()-1-at] % 10)
}

// aligned returns the value with zeros behind it up to the longest length, so
// that numbers compare as in a dictionary.
func (n number) aligned() uint64 {
	return n.value() * pow10[maxDigits-n.length()]
}

var pow10 = [...]uint64{
	1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
}

// String writes the number as pack reads it.
func (n number) String() string {
	digits := strconv.FormatUint(n.value(), 10)
	for len(digits) < n.length() {
		digits = "0" + digits
	}
	if n.local() {
		return digits
	}
	return "+" + digits
}
