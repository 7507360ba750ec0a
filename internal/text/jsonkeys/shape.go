package jsonkeys

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unicode"
)

// shape is what encoding/json decodes a value into.
type shape struct {
	kind   reflect.Kind // Struct, Map, Slice, Interface, or Invalid for what has no keys that count
	size   int          // of a value in memory, in bytes, without what it points to except by pointers
	of     reflect.Type // of the elements of a map or a slice
	fields []field
	// exact and folded are indexes in fields, by name and by folded name.
	exact, folded map[string]int
}

type field struct {
	name string
	of   reflect.Type
}

var shapes sync.Map // by type

func shapeOf(t reflect.Type) *shape {
	if found, ok := shapes.Load(t); ok {
		return found.(*shape)
	}
	found, _ := shapes.LoadOrStore(t, newShape(t))
	return found.(*shape)
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func newShape(t reflect.Type) *shape {
	size := int(t.Size())
	for t.Kind() == reflect.Pointer && !t.Implements(unmarshaler) {
		t = t.Elem()
		size += int(t.Size())
	}
	if t.Implements(unmarshaler) || reflect.PointerTo(t).Implements(unmarshaler) {
		return &shape{size: size} // such as json.RawMessage
	}
	switch t.Kind() {
	case reflect.Map:
		return &shape{kind: reflect.Map, size: size, of: t.Elem()}
	case reflect.Slice, reflect.Array:
		return &shape{kind: reflect.Slice, size: size, of: t.Elem()}
	case reflect.Struct:
		s := &shape{kind: reflect.Struct, size: size, exact: make(map[string]int), folded: make(map[string]int)}
		s.add(t)
		return s
	case reflect.Interface:
		return &shape{kind: reflect.Interface, size: size}
	}
	return &shape{size: size}
}

// add adds the fields of a struct, and of those embedded in it.
func (s *shape) add(t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _ := f.Tag.Lookup("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			s.add(f.Type)
			continue
		case name == "":
			name = f.Name
		}
		if _, ok := s.exact[name]; !ok {
			s.exact[name] = len(s.fields)
			s.folded[fold(name)] = len(s.fields)
			s.fields = append(s.fields, field{name, f.Type})
		}
	}
}

func (s *shape) element() *shape { return shapeOf(s.of) }
func (f field) shape() *shape    { return shapeOf(f.of) }

// field returns the index of the field that encoding/json decodes a key into. The key has its quotes.
func (s *shape) field(key []byte) (i int, ok bool) {
	inside := key[1 : len(key)-1]
	if bytes.IndexByte(inside, '\\') >= 0 || bytes.ContainsFunc(inside, func(r rune) bool { return r > unicode.MaxASCII }) {
		inside = []byte(unquote(key))
	}
	if i, ok = s.exact[string(inside)]; !ok {
		i, ok = s.folded[fold(string(inside))]
	}
	return i, ok
}

// fold returns the same for names that encoding/json takes for one.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}
