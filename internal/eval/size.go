package eval

import (
	"math"
	"math/big"

	"github.com/zclconf/go-cty/cty"
)

const (
	// elementWeight is the weight of a value without the bytes of its strings.
	elementWeight = 16
	// maxString is the maximum size of one string in bytes. Converting a string to a number takes
	// time that grows with the square of its length.
	maxString = 256 << 10
)

// size is the size of a value.
type size struct {
	// weight is the number of bytes in strings plus elementWeight for each value.
	weight int64
	// elements is the number of values at all depths.
	elements int64
}

// measure walks a value. A value may have more parts than would fit into memory, because parts
// can be shared. So the walk ends at the limit; the weight then exceeds the limit.
func measure(v cty.Value, limit int64) size {
	var s size
	s.add(v, limit)
	return s
}

func (s *size) add(v cty.Value, limit int64) {
	v, _ = v.Unmark()
	s.elements++
	s.weight += elementWeight
	ty := v.Type()
	if s.weight > limit || v.IsNull() || !v.IsKnown() {
		return
	}
	switch {
	case ty == cty.String:
		s.weight += int64(len(v.AsString()))
		if len(v.AsString()) > maxString {
			s.weight = limit + 1
		}
	case ty == cty.Number:
		// Formatting a number takes time that grows with the square of its length,
		// and comparing two numbers formats them.
		n := digits(v.AsBigFloat())
		s.weight += n * n / elementWeight
	case ty.IsCollectionType() || ty.IsTupleType() || ty.IsObjectType():
		s.addElements(v, limit)
	}
}

func (s *size) addElements(v cty.Value, limit int64) {
	n := int64(v.LengthInt())
	if n > limit { // even empty elements have a weight
		s.weight = limit + 1
		return
	}
	if v.Type().IsTupleType() || v.Type().IsObjectType() {
		// Converting the value to a list or a map may compare the types of any two elements.
		if s.weight += n * n / 4; s.weight > limit {
			return
		}
	}
	for it := v.ElementIterator(); it.Next() && s.weight <= limit; {
		key, element := it.Element()
		if key.Type() == cty.String && key.IsKnown() {
			key, _ = key.Unmark()
			s.weight += int64(len(key.AsString()))
		}
		s.add(element, limit)
	}
}

// digits returns an upper bound for the length of a number in decimal notation. "1e999999999" is
// short, but its value has many digits.
func digits(f *big.Float) int64 {
	if f.IsInf() {
		return 0
	}
	const digitsPerBit = 0.302
	exponent := math.Abs(float64(f.MantExp(nil)))
	return int64(exponent * digitsPerBit)
}

// Digits returns the length of a number in decimal notation or slightly more. It returns 0 for
// any other value.
func Digits(v cty.Value) int64 {
	if v.Type() != cty.Number || v.IsNull() || !v.IsKnown() {
		return 0
	}
	return digits(v.AsBigFloat())
}
