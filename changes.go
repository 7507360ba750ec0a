package cotter

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

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

// describeChange fills in what a changed entry of the lock means for the
// module's caller: as far as the former package is still installed.
func (r *run) describeChange(ctx context.Context, n *node, old lockfile.Module, change *LockChange) {
	if before := r.installed.lockedTree(old); before != nil {
		change.Files = hashing.Diff(before.Tree, n.pkg.tree.Tree)
	}
	record, ok := r.recorded.Lookup(n.path.String())
	if !ok || filepath.IsAbs(record.Dir) {
		return
	}
	reader := configs.Reader{Terraform: r.dialect == DialectTerraform}
	before, err := reader.ReadInterface(ctx, configs.Dir{
		Path:     filepath.Join(r.req.dir(), filepath.FromSlash(record.Dir)),
		Boundary: r.req.dataPath(),
	})
	if err != nil {
		return // it is not installed, or not any more
	}
	after, err := reader.ReadInterface(ctx, configs.Dir{Path: n.now, Boundary: n.pkg.now})
	if err != nil {
		return // which configuration there is was read before; this is a courtesy
	}
	change.Interface = diffInterfaces(before, after)
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
