package cotter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// location is where a package is to be fetched from, and which of its
// directories the origin means.
type location struct {
	pkg    addrs.ModulePackage
	subdir string
	// revision is what must come from there, where that is known.
	revision string
	// unconfirmed says that a lock names the revision, and that no origin has
	// confirmed it: that a git store in the cache has it proves nothing.
	unconfirmed bool
	// from is the registry's answer that named the location; nil where the
	// configuration did.
	from *registryclient.Location
}

// selectVersion selects the newest version of a registry's package that is
// wanted.
func (r *run) selectVersion(ctx context.Context, n *node, source addrs.ModuleSourceRegistry, want versions.Constraints) (versions.Version, error) {
	offered, err := r.offeredVersions(ctx, n, source)
	if err != nil {
		return versions.Version{}, err
	}
	selected, err := r.selectOld(n, offered, want)
	if err != nil {
		return versions.Version{}, n.failVersion(fmt.Errorf("%s: %w", source.Package, err))
	}
	return selected.Version, nil
}

// offeredVersions lists the versions of a registry's package, once in a run.
func (r *run) offeredVersions(ctx context.Context, n *node, source addrs.ModuleSourceRegistry) ([]versions.Candidate, error) {
	offered, err := r.listings.get(source.Package, func() ([]versions.Candidate, error) {
		done, err := r.listing(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		return r.registry.ModuleVersions(ctx, source.Package)
	})
	return offered, n.failIf(err)
}

// locate says where the package of a call is. The lock has no say in it: it
// pins what must come from there.
func (r *run) locate(ctx context.Context, n *node, version string) (location, error) {
	switch source := n.source.(type) {
	case addrs.ModuleSourceRemote:
		return location{pkg: n.repository}, nil
	case addrs.ModuleSourceRegistry:
		v, err := versions.Parse(version)
		if err != nil {
			return location{}, n.fail(err)
		}
		answer, err := r.locations.get(release{source.Package, v}, func() (registryclient.Location, error) {
			done, err := r.onlineSlot(ctx)
			if err != nil {
				return registryclient.Location{}, err
			}
			defer done()
			return r.registry.PackageLocation(ctx, source.Package, v)
		})
		if err != nil {
			return location{}, n.fail(err)
		}
		at := location{pkg: answer.Source.Package, subdir: answer.Source.Subdir, from: &answer}
		return at, n.failIf(r.judgeLocation(ctx, n, at))
	}
	return location{}, n.fail(fmt.Errorf("%q is in no package", n.source))
}

// joinSubdir is the directory of a call's module in its package: what the
// origin means, and below that what the call says.
func joinSubdir(source addrs.ModuleSource, located string) (string, error) {
	switch source := source.(type) {
	case addrs.ModuleSourceRegistry:
		return addrs.JoinSubdir(located, source.Subdir)
	case addrs.ModuleSourceRemote:
		return source.Subdir, nil
	}
	return "", nil
}

// subdirOf is joinSubdir for a package that the lock names.
func subdirOf(source addrs.ModuleSource, lockedPackage string) (string, error) {
	_, located := addrs.SplitSubdir(lockedPackage)
	return joinSubdir(source, located)
}

// expandSubdir replaces a pattern, as registries have them for archives whose
// one directory has a name of the forge's choice, with the directory that it
// means. It must mean exactly one.
func expandSubdir(tree *packageTree, pattern string) (string, error) {
	if !isPattern(pattern) {
		return pattern, nil
	}
	matches := make(map[string]bool)
	for _, entry := range tree.Entries {
		for dir := path.Dir(entry.Path); dir != "."; dir = path.Dir(dir) {
			ok, err := path.Match(path.Clean(pattern), dir)
			if err != nil {
				return "", fmt.Errorf("%w: %q is no valid pattern: %w", ErrNoSubdir, pattern, err)
			}
			if ok {
				matches[dir] = true
			}
		}
	}
	if len(matches) != 1 {
		return "", fmt.Errorf("%w: the pattern %q must match exactly one directory of the package and matches %d", ErrNoSubdir, pattern, len(matches))
	}
	for dir := range matches {
		return dir, nil
	}
	return "", errors.Join(ErrNoSubdir, fs.ErrNotExist)
}

func isPattern(subdir string) bool { return strings.ContainsAny(subdir, `*?[\`) }

// lockAddress is a source address as the lock writes it: in full, and without
// what no file may hold.
func lockAddress(source addrs.ModuleSource) string {
	remote, ok := source.(addrs.ModuleSourceRemote)
	if !ok {
		return source.String()
	}
	remote.Package = remote.Package.WithoutCredentials()
	return remote.String()
}

// packageAddress is a package as the lock writes it: the immutable address,
// with the directory that the origin means.
func packageAddress(pkg addrs.ModulePackage, subdir string) string {
	return addrs.ModuleSourceRemote{Package: pkg.WithoutCredentials(), Subdir: subdir}.String()
}

// splitPackage is packageAddress undone.
func splitPackage(address string) (addrs.ModulePackage, string) {
	pkg, subdir := addrs.SplitSubdir(address)
	return addrs.ParseModulePackage(pkg), subdir
}

// revisionOf is the commit, changeset or digest that a locked package names; "" where
// it names none.
func revisionOf(lockedPackage string) string {
	pkg, _ := splitPackage(lockedPackage)
	return pkg.Revision()
}
