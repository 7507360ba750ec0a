package cotter

import (
	"errors"
	"fmt"
	"path"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// node is one module of the tree while it is walked.
type node struct {
	path   addrs.Module
	parent *node // nil for the root module
	call   ModuleCall
	source addrs.ModuleSource
	// want is the constraint that the call has if it is ranged. The repository
	// is the package of a remote source without that constraint.
	want       versions.Constraints
	ranged     bool
	repository addrs.ModulePackage

	// pkg is the package that the module is part of; nil for the user's own
	// modules, which are in no package. subdir is the module's directory in it.
	pkg    *placed
	subdir string

	// dir is the module's directory when the run is over, as modules.json names
	// it; now is where its files are until then.
	dir string
	now string
}

// placed is a package that was verified for one call: the call's own copy.
type placed struct {
	key   string
	entry lockfile.Module
	tree  *packageTree
	// now is where its files are until the run is over; dir is the call's
	// directory then, as modules.json would name it.
	now, dir string
	// realDir is dir without links, by which stock tools record the local modules
	// that the package's own modules call.
	realDir string
	// staged is what becomes the call's directory; "" for one that stays.
	staged string
	// whole is the name of the whole package in the project, if the call's
	// directory has only its modules' parts of it. With arrange, that directory
	// is still to be made.
	whole   string
	arrange bool
	// local says that the package is a directory or file of the user's own
	// machine, whose configuration may name other local packages.
	local bool
	// gitlinks are the submodules that were left out.
	gitlinks []string
	// leftOut are the links that are not part of the package; nil if it is from
	// the cache or in place already, where the lock was made with the check.
	leftOut []getmodules.Link
}

// fail wraps what went wrong with the node's call.
func (n *node) fail(err error) error {
	rng := n.call.Range
	if n.call.SourceRange.Filename != "" {
		rng = n.call.SourceRange
	}
	return n.failAt(rng, err)
}

// failOnce is fail for an error that may be about the call already.
func (n *node) failOnce(err error) error {
	var module *ModuleError
	if errors.As(err, &module) || errors.Is(err, errRefused) {
		return err
	}
	return n.fail(err)
}

// failVersion is fail for what the version constraint is at fault for.
func (n *node) failVersion(err error) error {
	if n.call.VersionRange.Filename != "" {
		return n.failAt(n.call.VersionRange, err)
	}
	return n.fail(err)
}

func (n *node) failAt(rng hcl.Range, err error) error {
	return &ModuleError{Path: n.path, Source: n.shownSource(), Range: rng, Err: err}
}

// untrusted reports whether the call stands in a package from elsewhere, whose
// addresses must not lead to this machine's files.
func (n *node) untrusted() bool { return n.parent.pkg != nil && !n.parent.pkg.local }

func (n *node) shownSource() string {
	if n.source == nil {
		return addrs.Redact(n.call.Source)
	}
	return addrs.Redact(n.source.ForDisplay())
}

// checkCycle compares the module with those that lead to it: a module with the
// bytes and the place of one above it calls the same modules again, and again.
func (n *node) checkCycle() error {
	for above := n.parent; above != nil; above = above.parent {
		if above.identity() == n.identity() {
			return fmt.Errorf("%w: %s has the same configuration as %s, which leads to it", ErrCycle, n.path, nameOf(above.path))
		}
	}
	return nil
}

// identity is comparable: two modules with one identity make the same calls.
func (n *node) identity() [2]string {
	if n.pkg == nil || n.pkg.tree == nil { // the user's own, or read from the manifest
		return [2]string{"", path.Clean(n.dir)}
	}
	return [2]string{string(n.pkg.tree.T1()), path.Clean(n.subdir)}
}

func nameOf(p addrs.Module) string {
	if p.IsRoot() {
		return "the root module"
	}
	return p.String()
}
