package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/cotterpin/cotter/internal/hcldepth"
)

// Record is one installed module.
type Record struct {
	// Key is the module's path, such as "network.subnets". It is "" for the root module.
	Key string
	// Source is the full form of the source address. It is "" for the root module.
	Source string
	// Version is the canonical version of a module from a registry. It is "" for other modules. If
	// another source replaces Source, it is a [ReplacedVersion].
	Version string
	// Dir is the module's directory with forward slashes, relative to the
	// root module.
	Dir string
}

// replacedMark is the metadata of versions that are not those of what is installed. Stock tools ignore
// it, and keep it when they write the file.
const replacedMark = "+replaced"

// ReplacedVersion returns a version in the form for modules that have another source than Source.
func ReplacedVersion(version string) string {
	number, _, _ := strings.Cut(version, "+")
	return number + replacedMark
}

// IsReplaced reports whether the module has another source than Source. Version is not its own then.
func (r Record) IsReplaced() bool { return strings.HasSuffix(r.Version, replacedMark) }

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

// MaxBytes is the maximum size of a manifest that is read. An installation has at most 20,000
// modules. A record takes 800 bytes if its key, which is repeated in its directory, is as long as
// a file name can be and its source is a long address.
const MaxBytes = 16 << 20

// maxTokens is the maximum number of tokens in a manifest. A record has 17.
const maxTokens = 500_000

// The JSON form. The order of the members is part of the format.
type fileJSON struct {
	Modules []recordJSON `json:"Modules"`
}

type recordJSON struct {
	Key     string `json:"Key"`
	Source  string `json:"Source"`
	Version string `json:"Version,omitempty"`
	Dir     string `json:"Dir"`
}

// Parse parses a manifest. It returns an error if stock tools refuse the manifest too, or if it
// exceeds a limit. Callers then continue without a manifest and write a new one.
func Parse(src []byte) (*Manifest, error) {
	m := &Manifest{}
	if len(src) == 0 {
		return m, nil
	}
	if len(src) > MaxBytes {
		return nil, fmt.Errorf("the manifest is larger than %d MiB", MaxBytes>>20)
	}
	if err := hcldepth.CheckJSON(src, maxTokens); err != nil {
		return nil, err
	}
	var parsed fileJSON
	if err := json.Unmarshal(src, &parsed); err != nil {
		return nil, err
	}
	for _, r := range parsed.Modules {
		if err := m.add(r); err != nil {
			return nil, fmt.Errorf("record %q: %w", r.Key, err)
		}
	}
	return m, nil
}

func (m *Manifest) add(r recordJSON) error {
	if _, ok := m.Lookup(r.Key); ok {
		return errors.New("there are two records with this key")
	}
	if r.Version != "" {
		v, err := version.NewVersion(r.Version)
		if err != nil {
			return fmt.Errorf("%q is not a version", r.Version)
		}
		r.Version = v.String()
	}
	m.Set(Record(r))
	return nil
}

// Bytes returns the content of the file, byte for byte as stock tools write it. It includes a
// record of the root module even if none was set.
func (m *Manifest) Bytes() []byte {
	out := fileJSON{}
	if _, ok := m.Lookup(root.Key); !ok {
		out.Modules = append(out.Modules, recordJSON(root))
	}
	for _, r := range m.Records() {
		out.Modules = append(out.Modules, recordJSON(r))
	}
	// Marshal escapes <, > and & just as in stock tools, which use it too. It cannot fail for a
	// structure of strings.
	src, _ := json.Marshal(out)
	return src
}
