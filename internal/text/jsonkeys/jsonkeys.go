package jsonkeys

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// DuplicateError is about two keys of one object.
type DuplicateError struct{ First, Second string }

func (e *DuplicateError) Error() string {
	if e.First == e.Second {
		return fmt.Sprintf("an object has the key %q twice", e.First)
	}
	return fmt.Sprintf("an object has the keys %q and %q, which are one to some programs and two to others", e.First, e.Second)
}

// MaxDecoded is how much more memory than the length of a text its elements may take, in bytes, besides their
// strings. A listing of 5,000 versions for 15 platforms each takes a quarter.
const MaxDecoded = 32 << 20

// ErrTooMuch says that the values would take more memory than [MaxDecoded]: a short text such as "[{},{},{}]" can
// take a hundred times its length.
var ErrTooMuch = errors.New("it has too many elements")

// Unmarshal is [json.Unmarshal]. It also returns a [*DuplicateError], or [ErrTooMuch] before anything is decoded.
func Unmarshal(text []byte, to any) error {
	if !json.Valid(text) {
		return json.Unmarshal(text, to) // has the error
	}
	c := checker{Scanner: Scanner{Text: text}, left: MaxDecoded + len(text)}
	checked := c.value(shapeOf(reflect.TypeOf(to)))
	if errors.Is(checked, ErrTooMuch) {
		return checked
	}
	if err := json.Unmarshal(text, to); err != nil {
		return err
	}
	return checked
}

// checker reads a text that is valid JSON.
type checker struct {
	Scanner
	// left is how many bytes of memory the values behind At may take.
	left int
	// seen has the keys of the fields of all objects that were entered and not yet left; nil for a field without a key.
	seen [][]byte
}

func (c *checker) value(of *shape) error {
	switch c.Next(); {
	case of.kind == reflect.Struct && c.Text[c.At] == '{':
		return c.fields(of)
	case of.kind == reflect.Map && c.Text[c.At] == '{':
		return c.entries(of.element())
	case of.kind == reflect.Slice && c.Text[c.At] == '[':
		return c.elements(of.element())
	}
	from := c.At
	c.Skip()
	if of.kind == reflect.Interface {
		return c.charge(perByte * (c.At - from))
	}
	return nil
}

const (
	// grown is how many times an element is in memory while a slice of it grows.
	grown = 3
	// perEntry is what a map has beside a value, in bytes.
	perEntry = 64
	// perByte is for values of any type: "{}," is a map in an interface.
	perByte = 32
)

func (c *checker) charge(bytes int) error {
	if c.left -= bytes; c.left < 0 {
		return ErrTooMuch
	}
	return nil
}

func (c *checker) fields(of *shape) error {
	base := len(c.seen)
	for range of.fields {
		c.seen = append(c.seen, nil)
	}
	for c.At++; c.More(); {
		key := c.Key()
		i, ok := of.field(key)
		if !ok {
			c.Skip()
			continue
		}
		if first := c.seen[base+i]; first != nil {
			return c.duplicate(first, key)
		}
		c.seen[base+i] = key
		if err := c.value(of.fields[i].shape()); err != nil {
			return err
		}
	}
	c.seen = c.seen[:base]
	return nil
}

func (c *checker) entries(of *shape) error {
	seen := make(map[string]struct{})
	for c.At++; c.More(); {
		key := c.Key()
		name := unquote(key)
		if _, found := seen[name]; found {
			return c.duplicate(key, key)
		}
		seen[name] = struct{}{}
		if err := c.charge(perEntry + of.size); err != nil {
			return err
		}
		if err := c.value(of); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) elements(of *shape) error {
	for c.At++; c.More(); {
		if err := c.charge(grown * of.size); err != nil {
			return err
		}
		if err := c.value(of); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) duplicate(first, second []byte) error {
	return &DuplicateError{unquote(first), unquote(second)}
}

func unquote(key []byte) string {
	if inside := key[1 : len(key)-1]; bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside)
	}
	var name string
	_ = json.Unmarshal(key, &name) // it is valid
	return name
}
