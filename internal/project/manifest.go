package project

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
	"github.com/cotterpin/cotter/internal/text/jsonkeys"
)

// ManifestRecord is one installed module.
type ManifestRecord struct {
	// Key is the module's path, such as "network.subnets". It and Source, the full address, are "" for
	// the root module.
	Key    string
	Source string
	// Version is the canonical version of a module from a registry, or "". If another source replaces
	// Source, it is a [ReplacedVersion].
	Version string
	// Dir is the module's directory with forward slashes, relative to the root module.
	Dir string
}

// replacedMark is the metadata of versions that are not those of what is installed. Stock tools ignore
// it, and keep it when they write the file.
const replacedMark = "+replaced"

// ReplacedVersion marks the version of a module that has another source than Source.
func ReplacedVersion(version string) string {
	number, _, _ := strings.Cut(version, "+")
	return number + replacedMark
}

// IsReplaced reports whether the module has another source than Source. Version is not its own then.
func (r ManifestRecord) IsReplaced() bool { return strings.HasSuffix(r.Version, replacedMark) }

// rootRecord is the record that every manifest has. Stock tools never use it.
var rootRecord = ManifestRecord{Dir: "."}

// Manifest is the content of modules.json, in which stock tools record which modules are installed in
// which directories of .terraform/modules: a set of records with different keys. The zero value is empty.
//
// The format has no published description; it was observed on OpenTofu 1.12 and
// Terraform 1.11, which write the same bytes. It is one JSON object,
//
//	{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"net","Source":"./net","Dir":"net"}]}
//
// compact and without a newline at the end. The records are sorted by key, and the root module's is
// always among them.
//
// Records are not validated. Directories may point anywhere, and sources may be any text. Callers must
// check a record before they use it, because another program may have written it.
type Manifest struct {
	records map[string]ManifestRecord
}

func (m *Manifest) Records() []ManifestRecord {
	return slices.SortedFunc(maps.Values(m.records), func(a, b ManifestRecord) int { return cmp.Compare(a.Key, b.Key) })
}

func (m *Manifest) Lookup(key string) (ManifestRecord, bool) {
	r, ok := m.records[key]
	return r, ok
}

// Set replaces a record with the same key.
func (m *Manifest) Set(r ManifestRecord) {
	if m.records == nil {
		m.records = make(map[string]ManifestRecord)
	}
	m.records[r.Key] = r
}

// MaxManifest is the maximum size of a manifest that is read. An installation has at most 20,000
// modules. A record takes 800 bytes if its key, which is repeated in its directory, is as long as
// a file name can be and its source is a long address.
const MaxManifest = 16 << 20

// maxManifestTokens is the maximum number of tokens in a manifest. A record has 17.
const maxManifestTokens = 500_000

// The order of the members is part of the format.
type manifestJSON struct {
	Modules []recordJSON `json:"Modules"`
}

type recordJSON struct {
	Key     string `json:"Key"`
	Source  string `json:"Source"`
	Version string `json:"Version,omitempty"`
	Dir     string `json:"Dir"`
}

// ParseManifest parses a manifest. If it returns an error, callers continue without a manifest and
// write a new one. Reading is as tolerant as in stock tools: an empty file is an empty manifest, unknown
// members are ignored, the case of member names does not matter, and versions may be written loosely
// ("v1.4"). Text that is not JSON, two records with the same key, and an invalid version are errors, and
// so are more than 16 MiB or 200 levels of nesting.
func ParseManifest(src []byte) (*Manifest, error) {
	m := &Manifest{}
	if len(src) == 0 {
		return m, nil
	}
	if len(src) > MaxManifest {
		return nil, fmt.Errorf("the manifest is larger than %d MiB", MaxManifest>>20)
	}
	if err := hcldepth.CheckJSON(src, maxManifestTokens); err != nil {
		return nil, err
	}
	var parsed manifestJSON
	if err := jsonkeys.Unmarshal(src, &parsed); err != nil {
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
	m.Set(ManifestRecord(r))
	return nil
}

// Bytes returns the content of the file, byte for byte as stock tools write it, with the root module.
func (m *Manifest) Bytes() []byte {
	out := manifestJSON{}
	if _, ok := m.Lookup(rootRecord.Key); !ok {
		out.Modules = append(out.Modules, recordJSON(rootRecord))
	}
	for _, r := range m.Records() {
		out.Modules = append(out.Modules, recordJSON(r))
	}
	// Marshal escapes <, > and & as in stock tools, which use it too. It cannot fail for strings.
	src, _ := json.Marshal(out)
	return src
}
