package textform

import (
	"fmt"
	"slices"
)

// Enum has the names of an integer type's values, from 0.
type Enum[T ~int] struct {
	Type  string // for errors
	Names []string
}

// Text returns the name of 0 for an unknown value.
func (e Enum[T]) Text(value T) string {
	if value < 0 || int(value) >= len(e.Names) {
		value = 0
	}
	return e.Names[value]
}

// Marshal implements encoding.TextMarshaler. It fails for an unknown value.
func (e Enum[T]) Marshal(value T) ([]byte, error) {
	if value < 0 || int(value) >= len(e.Names) {
		return nil, fmt.Errorf("%d is not a %s", value, e.Type)
	}
	return []byte(e.Names[value]), nil
}

// Unmarshal reads what Text returns.
func (e Enum[T]) Unmarshal(text []byte, value *T) error {
	i := slices.Index(e.Names, string(text))
	if i < 0 {
		return fmt.Errorf("%q is not a %s", text, e.Type)
	}
	*value = T(i)
	return nil
}
