package lockentry

import (
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
)

// PackageAddress returns the address of a package as a lock writes it: the immutable address
// without credentials, with the directory that the origin pointed to.
// [lockfile.Module.SplitPackage] is its inverse.
func PackageAddress(pkg addrs.ModulePackage, subdir string) string {
	return addrs.ModuleSourceRemote{Package: pkg.WithoutCredentials(), Subdir: subdir}.String()
}

// VersionOrPackage returns the version of an entry, or its package address if it has no version,
// for messages.
func VersionOrPackage(entry lockfile.Module) string {
	if entry.Version != "" {
		return entry.Version
	}
	return entry.Package
}

// Differences describes the differences between the packages of two entries for the same call.
func Differences(a, b lockfile.Module) []string {
	var list []string
	add := func(what, a, b string) {
		if a != b {
			list = append(list, fmt.Sprintf("its %s is %q and not %q", what, a, b))
		}
	}
	add("version", a.Version, b.Version)
	add("source", a.Source, b.Source)
	add("package", a.Package, b.Package)
	for _, scheme := range []string{"h1", "t1", "zh"} {
		add(scheme+" hash", string(a.Hash(scheme)), string(b.Hash(scheme)))
	}
	return list
}

// SameContent reports whether two entries have the same content. It compares the strongest hash
// that both have, and returns false if there is none.
func SameContent(a, b lockfile.Module) bool {
	for _, scheme := range []string{"t1", "h1"} {
		x, y := a.Hash(scheme), b.Hash(scheme)
		if x != "" && y != "" {
			return x == y
		}
	}
	return false
}
