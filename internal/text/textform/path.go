package textform

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Path is a path of any bytes in JSON, which has only Unicode. One that is not valid UTF-8, or begins with a double
// quote, is written as a string literal of Go: in double quotes, with \xNN for each byte that is not text. So
// different paths have different texts.
type Path string

// MarshalText never fails.
func (p Path) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(p)) && !strings.HasPrefix(string(p), `"`) {
		return []byte(p), nil
	}
	return strconv.AppendQuote(nil, string(p)), nil
}

func (p *Path) UnmarshalText(text []byte) error {
	name := string(text)
	if bytes.HasPrefix(text, []byte(`"`)) {
		var err error
		if name, err = strconv.Unquote(name); err != nil {
			return fmt.Errorf("%q is not a quoted path", text)
		}
	}
	*p = Path(name)
	return nil
}

// Paths returns nil for an empty list.
func Paths(names []string) []Path { return convert[Path](names) }

// Names is the inverse of [Paths].
func Names(paths []Path) []string { return convert[string](paths) }

func convert[To, From ~string](list []From) []To {
	var all []To
	for _, one := range list {
		all = append(all, To(one))
	}
	return all
}
