package drift

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/gowebpki/jcs"
)

// numberDigits bounds the digits and the decimal exponent of a number that is
// computed with: 1e999999999 is six bytes of JSON and a gigabyte of integer.
const numberDigits = 400

// exact is the value of a JSON number, or false when it is too big to handle.
func exact(n json.Number) (*big.Rat, bool) {
	s := string(n)
	mantissa, exp, _ := strings.Cut(strings.ToLower(s), "e")
	if len(mantissa) > numberDigits {
		return nil, false
	}
	if exp != "" {
		if e, err := strconv.Atoi(exp); err != nil || e > numberDigits || e < -numberDigits {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}

// canonicalNumber writes equal numbers alike: as RFC 8785 does where the value
// is an IEEE double, with all its digits where it is not, so that
// 9007199254740993 does not fold into its neighbour.
func canonicalNumber(n json.Number) string {
	if plainDigits(string(n)) {
		return string(n)
	}
	r, ok := exact(n)
	if !ok {
		return strings.ToLower(string(n))
	}
	if f, same := r.Float64(); same {
		if s, err := jcs.NumberToJSON(f); err == nil {
			return s
		}
	}
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(2*numberDigits), "0")
}

// plainDigits spots the usual small whole number, which is canonical as it is.
func plainDigits(s string) bool {
	return len(s) < 16 && strings.Trim(s, "0123456789") == "" && (s[0] != '0' || s == "0")
}

// ratText is a number as people write it.
func ratText(r *big.Rat) json.Number {
	if r.IsInt() {
		return json.Number(r.Num().String())
	}
	return json.Number(strings.TrimRight(r.FloatString(2*numberDigits), "0"))
}
