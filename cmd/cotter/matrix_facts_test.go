//go:build linux || darwin

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

// matrixFacts are what commands say about one project: versions, sources and numbers. They must agree.
type matrixFacts struct{ known map[string]matrixFact }

type matrixFact struct{ value, by string }

func newMatrixFacts() *matrixFacts { return &matrixFacts{make(map[string]matrixFact)} }

func (f *matrixFacts) is(t *testing.T, by, what, value string) {
	t.Helper()
	if had, ok := f.known[what]; !ok {
		f.known[what] = matrixFact{value, by}
	} else if had.value != value {
		t.Errorf("%s is %q, says %s, and %q, says %s", what, had.value, had.by, value, by)
	}
}

// has is for versions of what may have none, or is not locked.
func (f *matrixFacts) has(t *testing.T, by, what, value string) {
	t.Helper()
	if value != "" {
		f.is(t, by, what, value)
	}
}

func (f *matrixFacts) lock(t *testing.T, by string, lock *lockfile.File) {
	t.Helper()
	if lock == nil {
		return
	}
	packages := 0
	for _, m := range lock.Modules() {
		f.is(t, by, "the source of "+m.Key, m.Source.String())
		f.has(t, by, "the version of "+m.Key, m.Version.String())
		if !m.Package.IsZero() {
			packages++
		}
	}
	f.count(t, by, "modules in the lock", packages)
}

func (f *matrixFacts) count(t *testing.T, by, of string, n int) {
	t.Helper()
	text, err := json.Marshal(n)
	testenv.Must(t, err)
	f.is(t, by, "the number of "+of, string(text))
}

func (f *matrixFacts) result(t *testing.T, by string, result *installer.Result) {
	t.Helper()
	for _, m := range result.Modules {
		f.has(t, by, "the version of "+m.Path.String(), m.Version.String())
		f.is(t, by, "the source of "+m.Path.String(), m.Source.String())
	}
	for _, p := range result.Providers {
		f.has(t, by, "the version of "+p.Address.String(), p.Version.String())
	}
	if len(result.Unresolved) > 0 {
		t.Errorf("%s: unresolved: %v", by, result.Unresolved)
	}
}

func (f *matrixFacts) outdated(t *testing.T, by string, found *installer.Outdated) {
	t.Helper()
	for _, m := range found.Modules {
		if _, versioned := f.known["the version of "+m.Path.String()]; versioned {
			f.is(t, by, "the version of "+m.Path.String(), m.Current.String())
		}
	}
	for _, p := range found.Providers {
		f.has(t, by, "the version of "+p.Provider.String(), p.Current.String())
	}
}

// matrixLine is a line of JSON output, with the fields that are compared.
type matrixLine struct {
	Type      string
	Modules   json.RawMessage // a list, or a number
	Providers json.RawMessage
	Outdated  []struct{ Key, Provider, Current string }
	Packages  []struct{ Key, Status string }
	Entries   int
	Changes   []struct {
		Key, Provider, Change string
		Compared              bool
		Interface             []any
		InterfaceError        string `json:"interface_error"`
	}
}

// read compares the output of a successful command with what others have said.
func (f *matrixFacts) read(t *testing.T, by, out string) {
	t.Helper()
	if strings.Contains(by, ": sbom") {
		f.bill(t, by, out)
		return
	}
	for text := range strings.Lines(out) {
		var line matrixLine
		if json.Unmarshal([]byte(text), &line) != nil {
			continue // other formats
		}
		switch line.Type {
		case "tree", "installed":
			f.tree(t, by, line)
		case "outdated":
			for _, m := range line.Outdated {
				if _, versioned := f.known["the version of "+m.Key]; versioned {
					f.is(t, by, "the version of "+m.Key, m.Current)
				}
				if m.Provider != "" {
					f.has(t, by, "the version of "+m.Provider, m.Current)
				}
			}
		case "report":
			f.count(t, by, "modules in the lock", len(line.Packages))
		case "bundled":
			f.count(t, by, "modules in the lock", line.Entries)
		case "cache_key":
			f.is(t, by, "the number of packages in the cache key", string(line.Modules))
		case "diff":
			for _, c := range line.Changes {
				if c.InterfaceError != "" || len(c.Interface) > 0 || !c.Compared {
					t.Errorf("%s: the same package of %s has the changes %v %s", by, c.Key, c.Interface, c.InterfaceError)
				}
			}
		}
	}
}

func (f *matrixFacts) tree(t *testing.T, by string, line matrixLine) {
	t.Helper()
	var modules []struct{ Key, Source, Version string }
	var providers []struct{ Provider, Version string }
	for text, list := range map[*json.RawMessage]any{&line.Modules: &modules, &line.Providers: &providers} {
		if len(*text) > 0 {
			testenv.Must(t, json.Unmarshal(*text, list))
		}
	}
	for _, m := range modules {
		f.has(t, by, "the version of "+m.Key, m.Version)
		f.is(t, by, "the source of "+m.Key, m.Source)
	}
	for _, p := range providers {
		f.has(t, by, "the version of "+p.Provider, p.Version)
		f.known["a provider"] = matrixFact{p.Provider, by}
	}
}

// bill compares a bill of materials, whose components have the calls that they are for.
func (f *matrixFacts) bill(t *testing.T, by, out string) {
	t.Helper()
	var bom cyclonedx.BOM
	testenv.Must(t, json.Unmarshal([]byte(out), &bom))
	for _, c := range *bom.Components {
		if c.Properties == nil {
			continue
		}
		for _, p := range *c.Properties {
			if key, _, _ := strings.Cut(p.Value, " ("); p.Name == "cotter:call" {
				if had, versioned := f.known["the version of "+key]; versioned && had.value != c.Version {
					t.Errorf("the version of %s is %q, says %s, and %q, says %s", key, had.value, had.by, c.Version, by)
				}
			}
		}
	}
}
