package cotter

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/lockfile"
)

// InterfaceChange is one thing that a module declares to its callers and that a
// new version has changed.
type InterfaceChange struct {
	// Kind is "variable", "output" or "provider".
	Kind string
	// Name is the name of the variable or the output, or the local name of the
	// provider.
	Name string
	// Old and New are what was declared and what is: the type of a variable,
	// with "required " before it if it has no default; the source and the
	// version constraints of a provider; "declared" for an output. "" stands
	// for nothing: added, or removed.
	Old, New string
}

// String is the change in a few words.
func (c InterfaceChange) String() string {
	switch {
	case c.Old == "" && c.Kind == "output":
		return fmt.Sprintf("%s %q added", c.Kind, c.Name)
	case c.Old == "":
		return fmt.Sprintf("%s %q added: %s", c.Kind, c.Name, c.New)
	case c.New == "":
		return fmt.Sprintf("%s %q removed", c.Kind, c.Name)
	}
	return fmt.Sprintf("%s %q changed: %s -> %s", c.Kind, c.Name, c.Old, c.New)
}

// fileChanges says which files of a module's package differ from those of its old
// entry; nothing if the old package is not known.
func (p *openProject) fileChanges(m *module, old lockfile.Module) hashing.Changes {
	before := p.installed.LockedTree(old)
	if before == nil {
		return hashing.Changes{}
	}
	return hashing.Diff(before.Tree, m.pkg.tree.Tree)
}

// interfaceChanges says what has changed for a module's caller, if the old package
// is still installed.
func (p *openProject) interfaceChanges(ctx context.Context, m *module) []InterfaceChange {
	record, ok := p.recorded.Lookup(m.key())
	if !ok || filepath.IsAbs(record.Dir) {
		return nil
	}
	reader := configs.Reader{Terraform: p.dialect == DialectTerraform}
	before, err := reader.ReadInterface(ctx, configs.Dir{
		Path:     filepath.Join(p.req.dir(), filepath.FromSlash(record.Dir)),
		Boundary: p.req.dataPath(),
	})
	if err != nil {
		return nil // it is not installed
	}
	after, err := reader.ReadInterface(ctx, configs.Dir{Path: m.currentPath, Boundary: m.pkg.currentPath})
	if err != nil {
		return nil // errors of the configuration were reported when its calls were read
	}
	return diffInterfaces(before, after)
}

func diffInterfaces(before, after *configs.Interface) []InterfaceChange {
	return slices.Concat(
		diffNames("variable", mapValues(before.Variables, variableText), mapValues(after.Variables, variableText)),
		diffNames("output", mapValues(before.Outputs, outputText), mapValues(after.Outputs, outputText)),
		diffNames("provider", before.Providers, after.Providers),
	)
}

func diffNames(kind string, before, after map[string]string) []InterfaceChange {
	names := maps.Clone(before)
	maps.Copy(names, after)
	var changes []InterfaceChange
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, had := before[name]
		is, has := after[name]
		if was == is && had == has {
			continue
		}
		// Providers without requirements are still declared.
		if had {
			was = cmp.Or(was, "any version")
		}
		if has {
			is = cmp.Or(is, "any version")
		}
		changes = append(changes, InterfaceChange{Kind: kind, Name: name, Old: was, New: is})
	}
	return changes
}

func variableText(v configs.DeclaredVariable) string {
	if v.Required {
		return "required " + v.Type
	}
	return v.Type
}

func outputText(bool) string { return "declared" }

func mapValues[V any](m map[string]V, text func(V) string) map[string]string {
	texts := make(map[string]string, len(m))
	for name, value := range m {
		texts[name] = text(value)
	}
	return texts
}

// contentChange compares two entries of one call; nil if the content is the same,
// or may differ.
func contentChange(c *call, old, entry lockfile.Module) *ContentChangedError {
	name, fixed := c.fixedName(old, entry)
	if !fixed || old.Source != entry.Source || sameContent(old, entry) {
		return nil
	}
	changed := &ContentChangedError{Key: entry.Key, Name: name, Locked: lockedRevision(old), Now: lockedRevision(entry)}
	if changed.Locked == changed.Now { // archives have none
		changed.Locked, changed.Now = string(old.Hash("h1")), string(entry.Hash("h1"))
	}
	return changed
}

// fixedName is the name that both entries of a call go by if its content is never
// to change: a version, a tag that is one, the address of an archive. Branches,
// other tags and directories of this machine may change.
func (c *call) fixedName(old, entry lockfile.Module) (string, bool) {
	if c.selectsVersion() {
		return entry.Version, old.Version == entry.Version
	}
	remote, ok := c.source.(addrs.ModuleSourceRemote)
	if !ok {
		return "", false
	}
	switch remote.Package.Getter() {
	case "git", "oci":
		name, exact := remote.Package.Ref()
		return name, exact || isVersionTag(name, c.source)
	case "file", "hg":
		return "", false
	}
	// An address that redirects to a repository may mean one of its branches.
	return remote.Package.Redacted(), lockedRevision(old) == "" && lockedRevision(entry) == ""
}

// sameContent compares by the strongest hash that both entries have.
func sameContent(a, b lockfile.Module) bool {
	for _, scheme := range []string{"t1", "h1"} {
		x, y := a.Hash(scheme), b.Hash(scheme)
		if x != "" && y != "" {
			return x == y
		}
	}
	return false
}
