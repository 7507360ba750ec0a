package records

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/cli/graph"
	"github.com/cotterpin/cotter/lockfile"
)

// EntryChange is a module or a provider whose entries differ between two locks.
type EntryChange struct {
	Key      string `json:"key,omitempty"`
	Provider string `json:"provider,omitempty"`
	// Change is "added", "removed", "version", "content" or "other": the first that applies. The last is a
	// change of the source, the constraints, or the hashes of other platforms.
	Change graph.Kind `json:"change"`
	// Old is the version in the old lock, or the package if the entry has no version.
	Old string `json:"old,omitempty"`
	// New is the version in the new lock, or the package if the entry has no version.
	New string `json:"new,omitempty"`
	// OldSource is the source of the old entry of a module, without credentials.
	OldSource string `json:"old_source,omitempty"`
	// Source is the source of the new entry of a module, without credentials.
	Source string `json:"source,omitempty"`
	// Details are the other differences, one per line.
	Details []string `json:"details,omitempty"`
	// Compared is true if the packages were compared.
	Compared bool `json:"compared,omitempty"`
	// Interface is the list of what changes for callers.
	Interface []InterfaceChange `json:"interface,omitempty"`
	// InterfaceError is the reason why the packages could not be compared.
	InterfaceError string `json:"interface_error,omitempty"`
	// HashesConfirmed is true if the source of a provider has all hashes that only the new lock has: it was asked, with
	// --remote, or an earlier run of the user has got them from it.
	HashesConfirmed bool `json:"hashes_confirmed,omitempty"`
	// UnknownHashes is the list of those that belong to no package of the release.
	UnknownHashes []hashing.Hash `json:"unknown_hashes,omitempty"`

	shown      string                   // Provider as shown in text
	Interfaces []config.InterfaceChange `json:"-"` // Interface as shown in text
	// Old and New as shown in text, and the change from one to the other.
	Before      string `json:"-"`
	After       string `json:"-"`
	ShownChange string `json:"-"`
	// full has the packages with full revisions, and newRef is the detail that only the tag or branch of
	// the source differs. Both are for --verbose.
	full   []string
	newRef string
}

// Subject is the key of a module, or the provider as shown in text.
func (c EntryChange) Subject() string {
	return cmp.Or(c.Key, c.shown)
}

// Summary is the change in one line.
func (c EntryChange) Summary() string {
	switch c.Change {
	case graph.Added:
		return c.After
	case graph.Removed:
		return c.Before
	case graph.Content:
		return c.ShownChange + " with OTHER CONTENT"
	}
	return c.ShownChange
}

// ShownDetails leaves out details that differ only in the revision, which the summary has, unless verbose.
func (c EntryChange) ShownDetails(verbose bool) []string {
	if verbose {
		return slices.Compact(slices.Concat(c.Details, c.full))
	}
	return slices.DeleteFunc(slices.Clone(c.Details), func(detail string) bool { return slices.Contains(c.full, detail) || detail == c.newRef })
}

func (c *EntryChange) differs(what, old, updated string) {
	if old != updated {
		c.Details = append(c.Details, fmt.Sprintf("%s %q -> %q", what, old, updated))
	}
}

// ModuleEntryChange returns the record of a changed entry of a module.
func ModuleEntryChange(from lockfile.ModuleChange) EntryChange {
	old, updated := ValueOf(from.Old), ValueOf(from.New)
	c := EntryChange{
		Key: from.Key, Old: VersionOrPackage(old), New: VersionOrPackage(updated), OldSource: redactedSource(old), Source: redactedSource(updated),
		Before: ReleaseText(old), After: ReleaseText(updated),
	}
	c.Change = kindOfChange(from.Old != nil, from.New != nil, from.OtherContent(), c.Old != c.New)
	switch {
	case from.New == nil:
		return c
	case from.Old == nil:
		c.After = sourceText(updated) // a reviewer has not seen it before
		return c
	}
	if c.ShownChange = c.After; c.Before != c.After {
		c.ShownChange = releaseChange(old, updated)
	}
	c.differs("source", old.Source.String(), updated.Source.String())
	if len(c.Details) > 0 && EntryName(old) == EntryName(updated) {
		c.newRef = c.Details[0]
	}
	if old.Package != updated.Package && shortRevision(updated) != "" {
		c.full = []string{fmt.Sprintf("package %q -> %q", old.Package.String(), updated.Package.String())}
	}
	c.differs("constraint", old.Constraints.String(), updated.Constraints.String())
	if c.Change == graph.Content || c.Change == graph.Relocked {
		c.differs("package", old.Package.String(), updated.Package.String())
	}
	return c
}

// ProviderEntryChange returns the record of a changed entry of a provider.
func ProviderEntryChange(from lockfile.ProviderChange) EntryChange {
	c := EntryChange{Provider: from.Address.String(), shown: "provider " + from.Address.ForDisplay(), Old: ValueOf(from.Old).Version.String(), New: ValueOf(from.New).Version.String()}
	c.Change = kindOfChange(from.Old != nil, from.New != nil, false, c.Old != c.New)
	c.Before, c.After, c.ShownChange = c.Old, c.New, c.New
	if c.Old != c.New {
		c.ShownChange = c.Old + " -> " + c.New
	}
	if from.Old == nil || from.New == nil {
		return c
	}
	c.differs("constraints", from.Old.Constraints.String(), from.New.Constraints.String())
	added, removed := from.Hashes()
	switch {
	case c.Change == graph.Updated:
	case from.NoCommonHash():
		c.Details = append(c.Details, "no hash in common: other content, or other platforms")
	case len(added)+len(removed) > 0:
		c.Details = append(c.Details, fmt.Sprintf("hashes: %d added, %d removed", len(added), len(removed)))
	}
	return c
}

func kindOfChange(had, has, otherContent, moved bool) graph.Kind {
	switch {
	case !had:
		return graph.Added
	case !has:
		return graph.Removed
	case otherContent:
		return graph.Content
	case moved:
		return graph.Updated
	}
	return graph.Relocked
}

// ValueOf returns the zero value for an entry that a lock does not have.
func ValueOf[T any](entry *T) (value T) {
	if entry != nil {
		value = *entry
	}
	return value
}
