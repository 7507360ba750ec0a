// Package textform has what values have in common that are written as text: how methods UnmarshalText read them, and
// paths, which need not be text ([Path]).
package textform

// Set parses a text; the empty one is the zero value. If parse returns an error, the value stays as it is.
func Set[T any](to *T, text []byte, parse func(string) (T, error)) error {
	var parsed T
	if len(text) > 0 {
		var err error
		if parsed, err = parse(string(text)); err != nil {
			return err
		}
	}
	*to = parsed
	return nil
}
