package manifest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Record is one installed module.
type Record struct {
	// Key is the module's path, such as "network.subnets". It is "" for the root module.
	Key string
	// Source is the full form of the source address. It is "" for the root module.
	Source string
	// Version is the canonical version of a module from a registry. It is "" for other modules.
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

// Set adds a record. It replaces a record with the same key.
func (m *Manifest) Set(r Record) {
	if m.records == nil {
		m.records = make(map[string]Record)
	}
	m.records[r.Key] = r
}

// Remove removes the records of a module and of all modules below it. Remove("") removes all
// records, because all modules are below the root module.
func (m *Manifest) Remove(key string) {
	maps.DeleteFunc(m.records, func(other string, _ Record) bool {
		return key == "" || other == key || strings.HasPrefix(other, key+".")
	})
}
