package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
)

// exactNumbers refuses a file with a number that RFC 8785 would round (section
// 3.2.2.3, IEEE 754 doubles): two contracts that send different bytes would have
// one digest.
func (f *File) exactNumbers() error {
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n, ok := t.(json.Number); ok && !exact(n.String()) {
			return fmt.Errorf("the number %s has more digits than a contract can hold; say it as a string, or take it as an argument", n)
		}
	}
}

func exact(number string) bool {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
	if f == 0 { // big.Rat would write a tiny exponent out
		return strings.Trim(mantissa, "-0.") == ""
	}
	want, ok1 := new(big.Rat).SetString(number)
	got, ok2 := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return ok1 && ok2 && want.Cmp(got) == 0
}
