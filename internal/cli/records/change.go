package records

import (
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/lockfile"
)

// Change is a module whose lock entry has changed.
type Change struct {
	Key string `json:"key"`
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Other is a description of other content under the same version, tag or address, which
	// the run has accepted.
	Other string `json:"other_content,omitempty"`
	// ExcludedBy is the list of constraints that do not allow the old version.
	ExcludedBy []Exclusion `json:"excluded_by,omitempty"`
	// Interface is the list of what changes for the caller.
	Interface []InterfaceChange `json:"interface,omitempty"`
	Files
	// OldSource is the source of the old entry, without credentials.
	OldSource string `json:"old_source,omitempty"`
	// Source is the source of the new entry, without credentials.
	Source string `json:"source,omitempty"`
	// Selection is why the new version was selected, as in the line "resolved". It is absent
	// if the entry was removed.
	Selection string `json:"selection,omitempty"`
	// Newer is the newest version that the constraint allows, if it is newer than the new
	// version and the run has listed the versions.
	Newer string `json:"newer,omitempty"`
}

func changes(changes []installer.LockChange) []Change {
	return lists.Map(changes, func(change installer.LockChange) Change {
		j := Change{
			Key:        change.Path.String(),
			Old:        VersionOrPackage(change.Old),
			New:        VersionOrPackage(change.New),
			Other:      change.OtherContent,
			ExcludedBy: ExclusionsOf(change),
			Interface:  InterfaceChanges(change.Interface),
			Files:      FilesOf(change.Files),
			OldSource:  redactedSource(change.Old),
			Source:     redactedSource(change.New),
			Newer:      change.Newer.String(),
		}
		if j.New != "" {
			j.Selection = change.Selection.String()
		}
		return j
	})
}

// Update is a module whose package differs from that of the last run, although this run did
// not change its lock entry.
type Update struct {
	Key string `json:"key"`
	// Old and New are versions, or packages without versions. New is absent if the lock has no
	// entry for the call any more.
	Old        string `json:"old"`
	New        string `json:"new,omitempty"`
	OldPackage string `json:"old_package,omitempty"`
	NewPackage string `json:"new_package,omitempty"`
}

func updates(updates []installer.LockChange) []Update {
	return lists.Map(updates, func(u installer.LockChange) Update {
		j := Update{Key: u.Path.String(), Old: ReleaseName(u.Old), OldPackage: u.Old.Package.String()}
		if u.New.Key != "" {
			j.New, j.NewPackage = ReleaseName(u.New), u.New.Package.String()
		}
		return j
	})
}

// Exclusion is a constraint that does not allow the old version of a changed entry.
type Exclusion struct {
	Key        string `json:"key,omitempty"` // The key of the module that has the constraint; absent for the root module.
	Constraint string `json:"constraint"`
	Place
}

// ExclusionsOf returns the constraint that does not allow the old version of an entry, if there is one.
func ExclusionsOf(change installer.LockChange) []Exclusion {
	if change.ExcludedBy == nil {
		return nil
	}
	by := change.ExcludedBy
	caller := by.Call.Caller(by.Path)
	at := by.Call.VersionRange
	if at.Filename == "" { // the constraint is in the source address
		at = by.Call.SourceRange
	}
	return []Exclusion{{Key: caller.String(), Constraint: by.Constraint, Place: PlaceOf(at)}}
}

// ProviderExclusions returns the constraints that do not allow the old version of a provider.
func ProviderExclusions(change installer.ProviderChange) []Exclusion {
	return lists.Map(change.ExcludedBy, func(use installer.ProviderRequirement) Exclusion {
		return Exclusion{Key: use.Path.String(), Constraint: use.Constraint, Place: PlaceOf(use.Range)}
	})
}

func redactedSource(entry lockfile.Module) string {
	if entry.Source == nil {
		return ""
	}
	return addrs.Redact(entry.Source.String())
}

// InterfaceChange is a change of something that a module declares to its callers. The file and the line
// are those of the argument that breaks, of the call that lacks an argument, or of the first use of an output.
type InterfaceChange struct {
	// Kind is "variable", "output", "provider", "required_version" or "submodule".
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Aspect is the part that changes, such as "default". It is absent if the declaration
	// itself changes.
	Aspect string `json:"aspect,omitempty"`
	Old    string `json:"old,omitempty"`
	New    string `json:"new,omitempty"`
	// Breaking is true if calls that worked before may fail.
	Breaking bool `json:"breaking,omitempty"`
	Place
}

// InterfaceChanges returns the records of what changes for a caller.
func InterfaceChanges(changes []config.InterfaceChange) []InterfaceChange {
	return lists.Map(changes, func(c config.InterfaceChange) InterfaceChange {
		return InterfaceChange{Kind: c.Kind, Name: c.Name, Aspect: c.Aspect, Old: c.Old, New: c.New, Breaking: c.Breaking, Place: PlaceOf(c.At)}
	})
}
