package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/lists"
	"github.com/cotterpin/cotter/internal/textform"
	"github.com/cotterpin/cotter/lockfile"
)

// changeText is for an entry that was neither added nor removed.
func changeText(change installer.LockChange) string {
	before, after := versionOrPackage(change.Old), versionOrPackage(change.New)
	switch constraints := change.New.Constraints; {
	case change.OtherContent != "":
		return change.OtherContent
	case entryName(change.Old) != entryName(change.New):
		return sourceChange(change.Old, change.New)
	case before != after:
		return releaseChange(change.Old, change.New)
	case !change.Old.Constraints.Equal(constraints) && constraints.IsZero():
		return releaseText(change.New) + ", now without a constraint"
	case !change.Old.Constraints.Equal(constraints):
		return fmt.Sprintf("%s, now for the constraint %q", releaseText(change.New), constraints)
	}
	return releaseText(change.New) + ", from another source"
}

// versionOrPackage returns the version of an entry, or its package or directory; "" for no entry.
func versionOrPackage(entry lockfile.Module) string {
	if entry.IsDirectory() {
		return entry.Source.String()
	}
	return cmp.Or(entry.Version.String(), entry.Package.String())
}

// updateText describes the change from what the last run installed to the entry of the lock.
func updateText(update installer.LockChange) string {
	if entryName(update.Old) != entryName(update.New) {
		return sourceChange(update.Old, update.New)
	}
	before, after := releaseName(update.Old), releaseName(update.New)
	if before == after && shortRevision(update.Old) == shortRevision(update.New) {
		return releaseText(update.New) + ", from another source"
	}
	return releaseChange(update.Old, update.New)
}

// releaseChange describes the change from one package to another, such as "1.0.0 -> 1.1.0",
// "v2.1.0 -> v2.2.0 (3f2a91c)" or "main (0d07f40 -> 3f2a91c)".
func releaseChange(old, updated lockfile.Module) string {
	before, after := refName(old), refName(updated)
	oldRevision, newRevision := shortRevision(old), shortRevision(updated)
	if before != "" && before == after && oldRevision != "" && newRevision != "" {
		return fmt.Sprintf("%s (%s -> %s)", after, oldRevision, newRevision)
	}
	return refOrPackage(old) + " -> " + releaseText(updated)
}

// sourceChange returns a text such as "acme/network/aws 1.0.0 -> acme/subnets/aws 1.0.0".
func sourceChange(old, updated lockfile.Module) string {
	return sourceText(old) + " -> " + sourceText(updated)
}

func sourceText(entry lockfile.Module) string {
	name, release := entryName(entry), releaseText(entry)
	if release == entry.Package.ForDisplay() || entry.IsDirectory() {
		return name
	}
	return name + " " + release
}

// releaseText returns the version, tag or branch of an entry, with the short commit or digest that was
// fetched: "1.2.0", "v2.1.0 (3f2a91c)" or "3f2a91c", or else the package.
func releaseText(entry lockfile.Module) string {
	if entry.IsDirectory() {
		return entry.Source.String() + ", not locked"
	}
	name, revision := refName(entry), shortRevision(entry)
	if name != "" && revision != "" {
		return fmt.Sprintf("%s (%s)", name, revision)
	}
	return cmp.Or(name, revision, entry.Package.ForDisplay())
}

// refName returns the version of an entry, or the tag or branch in the source, or "".
func refName(entry lockfile.Module) string {
	return cmp.Or(entry.Version.String(), refIn(entry.Source, "ref", "tag", "rev"))
}

// releaseName returns the version of an entry, or the ref or commit of its source, or its package, for JSON.
func releaseName(entry lockfile.Module) string {
	revision := ""
	if remote, ok := entry.Source.(addrs.ModuleSourceRemote); ok && remote.Package.Getter() == "git" {
		revision = shortRevision(entry)
	}
	return cmp.Or(entry.Version.String(), refIn(entry.Source, "ref"), revision, entry.Package.String())
}

// refIn returns the first of some arguments of a source address, or "" if it is a commit or a digest.
func refIn(source addrs.ModuleSource, arguments ...string) string {
	remote, _ := source.(addrs.ModuleSourceRemote)
	for _, name := range arguments {
		if ref := remote.Package.Arg(name); ref != "" && view.Short(ref) == ref {
			return ref
		} else if ref != "" {
			return ""
		}
	}
	return ""
}

// shortRevision returns the first digits of the commit or digest, or "" for a module of a registry.
func shortRevision(entry lockfile.Module) string {
	const digits = 7
	_, revision, isDigest := strings.Cut(entry.Revision(), ":")
	if !isDigest {
		revision = entry.Revision()
	}
	if _, isRepository := entry.Source.(addrs.ModuleSourceRemote); !isRepository || len(revision) < digits {
		return ""
	}
	return revision[:digits]
}

// jsonUpdate is a module whose package differs from that of the last run, although this run did
// not change its lock entry.
type jsonUpdate struct {
	Key string `json:"key"`
	// Old and New are versions, or packages without versions. New is absent if the lock has no
	// entry for the call any more.
	Old        string `json:"old"`
	New        string `json:"new,omitempty"`
	OldPackage string `json:"old_package,omitempty"`
	NewPackage string `json:"new_package,omitempty"`
}

func jsonUpdates(updates []installer.LockChange) []jsonUpdate {
	return lists.Map(updates, func(u installer.LockChange) jsonUpdate {
		j := jsonUpdate{Key: u.Path.String(), Old: releaseName(u.Old), OldPackage: u.Old.Package.String()}
		if u.New.Key != "" {
			j.New, j.NewPackage = releaseName(u.New), u.New.Package.String()
		}
		return j
	})
}

// jsonExclusion is a constraint that does not allow the old version of a changed entry.
type jsonExclusion struct {
	Key        string `json:"key,omitempty"` // The key of the module that has the constraint; absent for the root module.
	Constraint string `json:"constraint"`
	jsonPlace
}

func exclusionsOf(change installer.LockChange) []jsonExclusion {
	if change.ExcludedBy == nil {
		return nil
	}
	by := change.ExcludedBy
	caller := by.Call.Caller(by.Path)
	at := by.Call.VersionRange
	if at.Filename == "" { // the constraint is in the source address
		at = by.Call.SourceRange
	}
	return []jsonExclusion{{caller.String(), by.Constraint, placeOf(at)}}
}

func providerExclusions(change installer.ProviderChange) []jsonExclusion {
	return lists.Map(change.ExcludedBy, func(use installer.ProviderRequirement) jsonExclusion {
		return jsonExclusion{use.Path.String(), use.Constraint, placeOf(use.Range)}
	})
}

const maxExclusions = 3

// becauseOf returns a text such as `, because "~> 2.0" (main.tf:3) excludes 1.4.0`, or "".
func becauseOf(all []jsonExclusion, old string) string {
	if len(all) == 0 {
		return ""
	}
	var names []string
	for _, one := range all[:min(len(all), maxExclusions)] {
		name := fmt.Sprintf("%q", one.Constraint)
		if one.File != "" {
			name += fmt.Sprintf(" (%s:%d)", one.File, one.Line)
		}
		names = append(names, name)
	}
	if rest := len(all) - len(names); rest > 0 {
		names = append(names, view.Count(rest, "other constraint"))
	}
	verb := "excludes"
	if len(all) > 1 {
		verb = "exclude"
	}
	return fmt.Sprintf(", because %s %s %s", view.Enumeration(names), verb, old)
}

func refOrPackage(entry lockfile.Module) string {
	return cmp.Or(refName(entry), shortRevision(entry), entry.Package.ForDisplay())
}

// consequences says what a changed version means for the caller, and which files have changed.
func consequences(change installer.LockChange) []string {
	lines := interfaceLines(change.Interface)
	var files []string
	for _, group := range changedFiles(change.Files) {
		if n := len(group.files); n > 0 {
			files = append(files, fmt.Sprintf("%d %s", n, group.label))
		}
	}
	if files != nil {
		lines = append(lines, "files: "+strings.Join(files, ", "))
	}
	return lines
}

// markdownCell returns text as a code span, which can neither end a cell of a table nor be markup.
func markdownCell(text string) string {
	if text == "" {
		return ""
	}
	// Some programs read a backslash before \| as one that escapes the other.
	text = strings.NewReplacer("`", "'", `\|`, `\ \|`, "|", `\|`, "\n", `\n`).Replace(text)
	return "`" + text + "`"
}

// jsonChange is a module whose lock entry has changed.
type jsonChange struct {
	Key string `json:"key"`
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Other is a description of other content under the same version, tag or address, which
	// the run has accepted.
	Other string `json:"other_content,omitempty"`
	// ExcludedBy is the list of constraints that do not allow the old version.
	ExcludedBy []jsonExclusion `json:"excluded_by,omitempty"`
	// Interface is the list of what changes for the caller.
	Interface []jsonInterfaceChange `json:"interface,omitempty"`
	jsonFiles
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

func redactedSource(entry lockfile.Module) string {
	if entry.Source == nil {
		return ""
	}
	return addrs.Redact(entry.Source.String())
}

func jsonChanges(changes []installer.LockChange) []jsonChange {
	return lists.Map(changes, func(change installer.LockChange) jsonChange {
		j := jsonChange{
			Key:        change.Path.String(),
			Old:        versionOrPackage(change.Old),
			New:        versionOrPackage(change.New),
			Other:      change.OtherContent,
			ExcludedBy: exclusionsOf(change),
			Interface:  jsonInterfaces(change.Interface),
			jsonFiles:  filesOf(change.Files),
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

func (o *output) shownExclusions(dir string, all []jsonExclusion) []jsonExclusion {
	return lists.WithEach(all, func(one *jsonExclusion) { one.File = textform.Path(o.ShownFile(dir, string(one.File))) })
}
