package installer

import (
	"fmt"
	"slices"
)

// enum has the names of an integer type's values, from 0.
type enum[T ~int] struct {
	typ   string
	names []string
}

// text returns the name of 0 for an unknown value.
func (e enum[T]) text(value T) string {
	if value < 0 || int(value) >= len(e.names) {
		value = 0
	}
	return e.names[value]
}

func (e enum[T]) marshal(value T) ([]byte, error) {
	if value < 0 || int(value) >= len(e.names) {
		return nil, fmt.Errorf("%d is not a %s", value, e.typ)
	}
	return []byte(e.names[value]), nil
}

func (e enum[T]) unmarshal(text []byte, value *T) error {
	i := slices.Index(e.names, string(text))
	if i < 0 {
		return fmt.Errorf("%q is not a %s", text, e.typ)
	}
	*value = T(i)
	return nil
}
