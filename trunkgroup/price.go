package trunkgroup

import (
	"strconv"
	"strings"
)

// Price is what a minute costs, in billionths of a currency's unit: decks have up to nine
// decimals, and are compared without rounding.
type Price uint64

const (
	priceUnit     = 1_000_000_000
	priceDecimals = 9
	// maxPriceUnits keeps a price below 2^53, so that it is exact as a float64 of billionths.
	maxPriceUnits = 1_000_000
)

// ParsePrice reads a decimal number without sign, below 1,000,000 and with at most nine
// decimals: "0.0042".
func ParsePrice(s string) (Price, bool) {
	units, rest, point := strings.Cut(s, ".")
	if len(units) == 0 || len(units) > 6 || point && rest == "" || len(rest) > priceDecimals || !digitsOnly(units) || !digitsOnly(rest) {
		return 0, false
	}
	var p Price
	for i := range len(units) {
		p = p*10 + Price(units[i]-'0')
	}
	p *= priceUnit
	scale := Price(priceUnit)
	for i := range len(rest) {
		scale /= 10
		p += Price(rest[i]-'0') * scale
	}
	return p, true
}

func digitsOnly(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// MaxPrice is the first price that is too high.
const MaxPrice = Price(maxPriceUnits) * priceUnit

// String is what ParsePrice reads, in its shortest form.
func (p Price) String() string {
	text := strconv.FormatUint(uint64(p)/priceUnit, 10)
	rest := uint64(p) % priceUnit
	if rest == 0 {
		return text
	}
	decimals := strconv.FormatUint(rest+priceUnit, 10)[1:]
	return text + "." + strings.TrimRight(decimals, "0")
}

// Float is the price as the float64 that is nearest to it, whose shortest text is String.
func (p Price) Float() float64 { return float64(p) / priceUnit }
