package records

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/lockfile"
)

// VersionOrPackage returns the version of an entry, or its package or directory; "" for no entry.
func VersionOrPackage(entry lockfile.Module) string {
	if entry.IsDirectory() {
		return entry.Source.String()
	}
	return cmp.Or(entry.Version.String(), entry.Package.String())
}

// ReleaseText returns the version, tag or branch of an entry, with the short commit or digest that was
// fetched: "1.2.0", "v2.1.0 (3f2a91c)" or "3f2a91c", or else the package.
func ReleaseText(entry lockfile.Module) string {
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

// ReleaseName returns the version of an entry, or the ref or commit of its source, or its package, for JSON.
func ReleaseName(entry lockfile.Module) string {
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

// RefOrPackage returns the version, tag or branch of an entry, or else its short commit or digest, or its package.
func RefOrPackage(entry lockfile.Module) string {
	return cmp.Or(refName(entry), shortRevision(entry), entry.Package.ForDisplay())
}

// EntryName returns the source of an entry as shown in text, without arguments.
func EntryName(entry lockfile.Module) string { return SourceName(entry.Source.ForDisplay()) }

// SourceName returns a source address without credentials and arguments.
func SourceName(source string) string {
	name, _, _ := strings.Cut(addrs.Redact(source), "?")
	return name
}

func sourceText(entry lockfile.Module) string {
	name, release := EntryName(entry), ReleaseText(entry)
	if release == entry.Package.ForDisplay() || entry.IsDirectory() {
		return name
	}
	return name + " " + release
}

// sourceChange returns a text such as "acme/network/aws 1.0.0 -> acme/subnets/aws 1.0.0".
func sourceChange(old, updated lockfile.Module) string {
	return sourceText(old) + " -> " + sourceText(updated)
}

// releaseChange describes the change from one package to another, such as "1.0.0 -> 1.1.0",
// "v2.1.0 -> v2.2.0 (3f2a91c)" or "main (0d07f40 -> 3f2a91c)".
func releaseChange(old, updated lockfile.Module) string {
	before, after := refName(old), refName(updated)
	oldRevision, newRevision := shortRevision(old), shortRevision(updated)
	if before != "" && before == after && oldRevision != "" && newRevision != "" {
		return fmt.Sprintf("%s (%s -> %s)", after, oldRevision, newRevision)
	}
	return RefOrPackage(old) + " -> " + ReleaseText(updated)
}

// ChangeText is for an entry that was neither added nor removed.
func ChangeText(change installer.LockChange) string {
	before, after := VersionOrPackage(change.Old), VersionOrPackage(change.New)
	switch constraints := change.New.Constraints; {
	case change.OtherContent != "":
		return change.OtherContent
	case EntryName(change.Old) != EntryName(change.New):
		return sourceChange(change.Old, change.New)
	case before != after:
		return releaseChange(change.Old, change.New)
	case !change.Old.Constraints.Equal(constraints) && constraints.IsZero():
		return ReleaseText(change.New) + ", now without a constraint"
	case !change.Old.Constraints.Equal(constraints):
		return fmt.Sprintf("%s, now for the constraint %q", ReleaseText(change.New), constraints)
	}
	return ReleaseText(change.New) + ", from another source"
}

// UpdateText describes the change from what the last run installed to the entry of the lock.
func UpdateText(update installer.LockChange) string {
	if EntryName(update.Old) != EntryName(update.New) {
		return sourceChange(update.Old, update.New)
	}
	before, after := ReleaseName(update.Old), ReleaseName(update.New)
	if before == after && shortRevision(update.Old) == shortRevision(update.New) {
		return ReleaseText(update.New) + ", from another source"
	}
	return releaseChange(update.Old, update.New)
}
