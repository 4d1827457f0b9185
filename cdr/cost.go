package cdr

import (
	"math/bits"
	"strconv"
)

// CostDecimals is to how many decimals a cost is written.
const CostDecimals = 8

const (
	// maxRate is the highest price of a minute that is reckoned with.
	maxRate = 1_000_000_000
	// rateDecimals is to how many decimals the price of a minute is read.
	rateDecimals = 18
)

// Priced reports whether the record has a price that can be reckoned with: a number from
// 0 to 1,000,000,000.
func (r *Record) Priced() bool { return r.Rated && r.Rate >= 0 && r.Rate <= maxRate }

// Billed is the number of seconds that the carrier is paid for: those of the answered
// call, a started second as a whole one, at least MinDuration, in whole increments. It
// is 0 for a call that was not answered.
func (r *Record) Billed() uint64 {
	if r.Answer.IsZero() {
		return 0
	}
	billed := max(uint64(seconds(r.Billable())), uint64(r.MinDuration))
	step := max(uint64(r.BillingIncrement), 1)
	return (billed + step - 1) / step * step
}

// AppendCost appends the price of the call in Currency as a decimal number: Rate, which
// is the price of a minute, times Billed, by 60. Rate is taken as the shortest decimal
// number that is it, so 0.0042 is that and no sum of powers of two. The result is exact
// and then rounded once, to CostDecimals decimals, half up; zeros at its end are left
// out. It appends nothing for a record that is not Priced.
func (r *Record) AppendCost(dst []byte) []byte {
	if !r.Priced() {
		return dst
	}
	// Digits are below 10^18 and no call is billed 2^33 seconds, so 128 bits hold all of it.
	digits, scale := decimal(r.Rate)
	hi, lo := bits.Mul64(digits, r.Billed())
	divisor := uint64(60)
	for ; scale < CostDecimals; scale++ {
		var over uint64
		over, lo = bits.Mul64(lo, 10)
		hi = hi*10 + over
	}
	for ; scale > CostDecimals; scale-- {
		divisor *= 10
	}
	hi, lo, rest := divide(hi, lo, divisor)
	if rest >= divisor-rest { // half up
		var carry uint64
		lo, carry = bits.Add64(lo, 1, 0)
		hi += carry
	}
	one := uint64(1)
	for range CostDecimals {
		one *= 10
	}
	_, whole, part := divide(hi, lo, one)
	dst = strconv.AppendUint(dst, whole, 10)
	if part == 0 {
		return dst
	}
	at := len(dst)
	dst = strconv.AppendUint(dst, one+part, 10) // the one in front keeps the zeros
	dst[at] = '.'
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// AppendRate appends the price of a minute as a decimal number without an exponent, and
// nothing for a record that is not Priced.
func (r *Record) AppendRate(dst []byte) []byte {
	if !r.Priced() {
		return dst
	}
	return appendRate(dst, r.Rate)
}

// decimal reads a rate as digits by ten to the power of scale.
func decimal(rate float64) (digits uint64, scale int) {
	var b [48]byte
	text := appendRate(b[:0], rate)
	behind := false
	for _, c := range text {
		if c == '.' {
			behind = true
			continue
		}
		digits = digits*10 + uint64(c-'0')
		if behind {
			scale++
		}
	}
	return digits, scale
}

// appendRate appends a rate without an exponent, to at most rateDecimals decimals.
func appendRate(dst []byte, rate float64) []byte {
	if rate == 0 {
		return append(dst, '0') // also for the zero that has a sign
	}
	at := len(dst)
	dst = strconv.AppendFloat(dst, rate, 'f', -1, 64)
	for i, c := range dst[at:] {
		if c == '.' && len(dst)-at-i-1 > rateDecimals {
			return strconv.AppendFloat(dst[:at], rate, 'f', rateDecimals, 64)
		}
	}
	return dst
}

// divide divides 128 bits by 64.
func divide(hi, lo, by uint64) (qhi, qlo, rest uint64) {
	qhi, rest = hi/by, hi%by
	qlo, rest = bits.Div64(rest, lo, by)
	return qhi, qlo, rest
}
