package manifest

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/go-version"

	"github.com/cotterpin/cotter/internal/hcldepth"
)

// MaxBytes bounds a manifest that is read. An installation has at most 20,000
// modules, and a record takes 800 bytes where its key is as long as a file name
// can be, which its directory repeats, and its source is a long address.
const MaxBytes = 16 << 20

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

// Parse parses a manifest. An error means that stock tools refuse it too, or that it
// is over a limit. Callers then continue without a manifest and write a new one.
func Parse(src []byte) (*Manifest, error) {
	m := &Manifest{}
	if len(src) == 0 {
		return m, nil
	}
	if len(src) > MaxBytes {
		return nil, fmt.Errorf("the manifest is larger than %d MiB", MaxBytes>>20)
	}
	if err := hcldepth.CheckJSON(src); err != nil {
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

// Bytes returns the file's content, byte for byte as stock tools write it. The
// root module's record is there even if it was never set.
func (m *Manifest) Bytes() []byte {
	out := fileJSON{}
	if _, ok := m.Lookup(root.Key); !ok {
		out.Modules = append(out.Modules, recordJSON(root))
	}
	for _, r := range m.Records() {
		out.Modules = append(out.Modules, recordJSON(r))
	}
	// Marshal escapes <, > and & as stock tools do, which use it too. It
	// cannot fail on a structure of strings.
	src, _ := json.Marshal(out)
	return src
}
