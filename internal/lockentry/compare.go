package lockentry

import (
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
)

// PackageAddress returns a package as a lock writes it: the immutable address without
// credentials, with the directory that the origin named. [lockfile.Module.SplitPackage] is
// the reverse.
func PackageAddress(pkg addrs.ModulePackage, subdir string) string {
	return addrs.ModuleSourceRemote{Package: pkg.WithoutCredentials(), Subdir: subdir}.String()
}

// VersionOrPackage names what an entry has, for people.
func VersionOrPackage(entry lockfile.Module) string {
	if entry.Version != "" {
		return entry.Version
	}
	return entry.Package
}

// Differences says what two entries for one call say differently of its package.
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

// SameContent compares two entries by the strongest hash that both have.
func SameContent(a, b lockfile.Module) bool {
	for _, scheme := range []string{"t1", "h1"} {
		x, y := a.Hash(scheme), b.Hash(scheme)
		if x != "" && y != "" {
			return x == y
		}
	}
	return false
}
