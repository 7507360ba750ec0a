package manifest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Record is one installed module.
type Record struct {
	// Key is the module's path, "network.subnets"; "" for the root module.
	Key string
	// Source is the full form of the source address; "" for the root module.
	Source string
	// Version is the canonical version of a module from a registry; "" for
	// any other.
	Version string
	// Dir is the module's directory with forward slashes, relative to the
	// root module.
	Dir string
}

// root is the record that every manifest has. Stock tools never use it.
var root = Record{Dir: "."}

// Manifest is a set of records with different keys. The zero value is empty.
type Manifest struct {
	records map[string]Record
}

// Records returns all records, sorted by key.
func (m *Manifest) Records() []Record {
	return slices.SortedFunc(maps.Values(m.records), func(a, b Record) int { return cmp.Compare(a.Key, b.Key) })
}

// Lookup returns the record of a module.
func (m *Manifest) Lookup(key string) (Record, bool) {
	r, ok := m.records[key]
	return r, ok
}

// Set adds a record, and replaces one with the same key.
func (m *Manifest) Set(r Record) {
	if m.records == nil {
		m.records = make(map[string]Record)
	}
	m.records[r.Key] = r
}

// Remove removes the records of a module and of all modules that it calls. As
// the root module calls them all, Remove("") leaves nothing.
func (m *Manifest) Remove(key string) {
	maps.DeleteFunc(m.records, func(other string, _ Record) bool {
		return key == "" || other == key || strings.HasPrefix(other, key+".")
	})
}
