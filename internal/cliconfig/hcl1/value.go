package hcl1

import (
	"fmt"
	"iter"
)

// Pos is a place in a file. Lines count from 1, columns too, in bytes.
type Pos struct{ Line, Column int }

// Object is what stands in braces, or in a file, in its order. A key may occur
// more than once.
type Object []Item

// Item is a key with its value: a string, [Number], bool, [List] or [Object],
// or nil for the null of JSON.
type Item struct {
	Key   string
	Value any
	Pos   Pos // of the key
}

// List is what stands in brackets.
type List []any

// Number is a number as it is written.
type Number string

// SyntaxError says where a file stops being well-formed.
type SyntaxError struct {
	Pos
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// Last is the value of a key, the last one where there are several, and whether
// there is one.
func (o Object) Last(key string) (any, bool) {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].Key == key {
			return o[i].Value, true
		}
	}
	return nil, false
}

// Entries are the items of an object, or of all objects of a list: what HCL 1
// makes of repeated blocks. ok is false for anything else.
func Entries(value any) (items Object, ok bool) {
	switch value := value.(type) {
	case Object:
		return value, true
	case List:
		for _, element := range value {
			object, ok := element.(Object)
			if !ok {
				return nil, false
			}
			items = append(items, object...)
		}
		return items, true
	}
	return nil, false
}

// All are the items with a key.
func (o Object) All(key string) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for _, item := range o {
			if item.Key == key && !yield(item) {
				return
			}
		}
	}
}
