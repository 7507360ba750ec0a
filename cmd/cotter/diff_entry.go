package main

import (
	"cmp"
	"fmt"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/lockfile"
)

// The kinds of changes. The first that applies is used.
const (
	changeAdded   = "added"
	changeRemoved = "removed"
	changeVersion = "version"
	changeContent = "content"
	changeOther   = "other" // the source, the constraints, or hashes of more platforms
)

// entryChange is a module or a provider whose entries differ between two locks.
type entryChange struct {
	Key      string `json:"key,omitempty"`
	Provider string `json:"provider,omitempty"`
	Change   string `json:"change"`
	// Old is the version in the old lock, or the package if the entry has no version.
	Old string `json:"old,omitempty"`
	// New is the version in the new lock, or the package if the entry has no version.
	New string `json:"new,omitempty"`
	// Details are the other differences, one per line.
	Details []string `json:"details,omitempty"`
	// Compared is true if the packages were compared.
	Compared bool `json:"compared,omitempty"`
	// Interface is the list of what changes for callers.
	Interface []jsonInterfaceChange `json:"interface,omitempty"`
	// InterfaceError is the reason why the packages could not be compared.
	InterfaceError string `json:"interface_error,omitempty"`

	shown      string                   // Provider as shown in text
	interfaces []cotter.InterfaceChange // Interface as shown in text
}

// subject returns the name of the module or provider for text.
func (c entryChange) subject() string {
	return cmp.Or(c.Key, c.shown)
}

func (c entryChange) summary() string {
	switch c.Change {
	case changeAdded:
		return "added " + c.New
	case changeRemoved:
		return "removed, was " + c.Old
	case changeContent:
		return c.New + " with OTHER CONTENT"
	}
	if c.Old == c.New {
		return c.New
	}
	return c.Old + " -> " + c.New
}

// differs adds a detail if two values differ.
func (c *entryChange) differs(what, old, updated string) {
	if old != updated {
		c.Details = append(c.Details, fmt.Sprintf("%s %q -> %q", what, old, updated))
	}
}

// entryChanges describes the differences between two locks.
func entryChanges(modules []lockfile.ModuleChange, providers []lockfile.ProviderChange) []entryChange {
	list := []entryChange{}
	for _, c := range modules {
		list = append(list, moduleChange(c))
	}
	for _, c := range providers {
		list = append(list, providerChange(c))
	}
	return list
}

func moduleChange(from lockfile.ModuleChange) entryChange {
	c := entryChange{Key: from.Key}
	if from.Old != nil {
		c.Old = cmp.Or(from.Old.Version, from.Old.Package)
	}
	if from.New != nil {
		c.New = cmp.Or(from.New.Version, from.New.Package)
	}
	c.Change = kindOfChange(from.Old != nil, from.New != nil, from.OtherContent(), c.Old != c.New)
	if from.Old == nil || from.New == nil {
		return c
	}
	c.differs("source", from.Old.Source, from.New.Source)
	c.differs("constraint", from.Old.Constraints, from.New.Constraints)
	if c.Change == changeContent || c.Change == changeOther {
		c.differs("package", from.Old.Package, from.New.Package)
	}
	return c
}

func providerChange(from lockfile.ProviderChange) entryChange {
	c := entryChange{Provider: from.Address.String(), shown: "provider " + from.Address.ForDisplay()}
	if from.Old != nil {
		c.Old = from.Old.Version
	}
	if from.New != nil {
		c.New = from.New.Version
	}
	c.Change = kindOfChange(from.Old != nil, from.New != nil, false, c.Old != c.New)
	if from.Old == nil || from.New == nil {
		return c
	}
	c.differs("constraints", from.Old.Constraints, from.New.Constraints)
	added, removed := from.Hashes()
	switch {
	case c.Change == changeVersion:
	case from.NoCommonHash():
		c.Details = append(c.Details, "no hash in common: other content, or other platforms")
	case added+removed > 0:
		c.Details = append(c.Details, fmt.Sprintf("hashes: %d added, %d removed", added, removed))
	}
	return c
}

func kindOfChange(had, has, otherContent, moved bool) string {
	switch {
	case !had:
		return changeAdded
	case !has:
		return changeRemoved
	case otherContent:
		return changeContent
	case moved:
		return changeVersion
	}
	return changeOther
}
