package lockfile

import (
	"maps"
	"slices"
	"strings"
)

// A value is a [*Module] or a [*Provider]. It does not change once it is in a table.
type value[V any] interface {
	equals(other V) bool
	key() string
	// normalized returns a copy with sorted hashes.
	normalized() V
	hasNormalHashes() bool
	// writable reports whether the block may be written; see [File.Check].
	writable() bool
	header() string // the type and the label
	content() content
}

type block[V value[V]] struct {
	key   string
	value V // its hashes are in the order of the source
	span    // from the block's type to after the closing brace
}

type entry[V value[V]] struct {
	key   string
	value V
	block *block[V] // nil for a value that is not in the source
	text  string    // the source of a new block; "" means that of the value
}

func (e *entry[V]) changed() bool {
	return e.block == nil || e.text != "" || !e.value.equals(e.block.value)
}

// A table has the blocks of one type, and the values to be written. The zero value is empty.
type table[V value[V]] struct {
	blocks  []*block[V] // in the order of the source
	read    map[string]*block[V]
	entries map[string]*entry[V]
	// rewritten says that all blocks are written in the layout of render, and sorted.
	rewritten bool
}

func (t *table[V]) clone() table[V] {
	clone := *t
	clone.entries = maps.Clone(t.entries)
	return clone
}

func (t *table[V]) add(v V, at span) {
	if t.read == nil {
		t.read, t.entries = map[string]*block[V]{}, map[string]*entry[V]{}
	}
	b := &block[V]{key: v.key(), value: v, span: at}
	t.blocks = append(t.blocks, b)
	t.read[b.key] = b
	t.entries[b.key] = &entry[V]{key: b.key, value: v, block: b}
}

// set adds or replaces a value. One that equals a block's gets the block's range.
func (t *table[V]) set(v V) {
	if t.entries == nil {
		t.entries = map[string]*entry[V]{}
	}
	key := v.key()
	e := &entry[V]{key: key, value: v.normalized(), block: t.read[key]}
	if !e.changed() {
		e.value = e.block.value
	}
	t.entries[key] = e
}

// setText sets a value with the source of its block, or without it if that is "".
func (t *table[V]) setText(v V, text string) {
	t.set(v)
	t.entries[v.key()].text = text
}

// reset undoes changes of a value.
func (t *table[V]) reset(key string) {
	if b, ok := t.read[key]; ok {
		t.entries[key] = &entry[V]{key: key, value: b.value, block: b}
		return
	}
	delete(t.entries, key)
}

func (t *table[V]) remove(key string) { delete(t.entries, key) }

func (t *table[V]) get(key string) (v V, ok bool) {
	e, ok := t.entries[key]
	if !ok {
		return v, false
	}
	return e.value.normalized(), true
}

func (t *table[V]) values() []V {
	values := make([]V, 0, len(t.entries))
	for _, e := range t.sorted() {
		values = append(values, e.value.normalized())
	}
	return values
}

func (t *table[V]) changed() []V {
	var changed []V
	for _, e := range t.sorted() {
		if e.changed() {
			changed = append(changed, e.value)
		}
	}
	return changed
}

func (t *table[V]) sorted() []*entry[V] {
	sorted := make([]*entry[V], 0, len(t.entries))
	for _, key := range slices.Sorted(maps.Keys(t.entries)) {
		sorted = append(sorted, t.entries[key])
	}
	return sorted
}

func (t *table[V]) dirty() bool {
	if len(t.blocks) > len(t.entries) {
		return true
	}
	for _, e := range t.entries {
		if e.changed() {
			return true
		}
	}
	return false
}

func (t *table[V]) isSorted() bool { return slices.IsSortedFunc(t.blocks, (*block[V]).compare) }

func (b *block[V]) compare(other *block[V]) int { return strings.Compare(b.key, other.key) }
