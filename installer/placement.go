package installer

import (
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/project/packagedir"
	"github.com/cotterpin/cotter/internal/project/treewalk"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/versions"
)

// The walk finds a module for each call, and collects failures. The stages add what they know of packages to the modules:
// see placement.
type (
	call     = treewalk.Call
	module   = treewalk.Module
	failures = treewalk.Failures
)

// selection is what was selected for a call without a usable entry.
type selection struct {
	why event.Selection
	// version is zero if the source has no versions.
	version versions.Version
	at      origins.Location
	// newer is the newest version that could have been selected instead, as far as that is known.
	newer versions.Version
	// isBehind says that the ref of the source points to a newer revision.
	isBehind bool
}

// placement is the copy of a package that a call has or will have.
type placement struct {
	treewalk.Package
	// tree is nil if the package was not read.
	tree *store.Tree
	// staged is the private copy that becomes the call's directory, and shared the tree that it links to.
	// inPlace says that the links exist already. A package with neither staged nor shared stays as it is.
	staged  string
	shared  *sharedTree
	inPlace bool
	// evidence is who confirms the package, and selected why the run uses it.
	evidence evidence.Evidence
	selected selection
	// refetched is the number of bytes that were downloaded although the package was installed.
	refetched int64
	// gitlinks and leftOut are the submodules and the links that were left out. Both are empty for a package
	// that was at hand: they were checked when its entry was made.
	gitlinks []string
	leftOut  []getmodules.Link
}

type sharedTree = packagedir.Shared

// module returns the module of a call in a directory of the package.
func (p *placement) module(c *call, subdir string) (*module, error) {
	pkg := p.Package
	pkg.Content = p
	return treewalk.ModuleIn(c, &pkg, subdir)
}

// CheckDir implements [treewalk.Content].
func (p *placement) CheckDir(subdir string) error {
	return packagedir.Package{Files: p.Files, Tree: p.tree, Gitlinks: p.gitlinks, LeftOut: p.leftOut}.Check(subdir)
}

// T1 implements [treewalk.Content].
func (p *placement) T1() hashing.Hash {
	if p.tree == nil {
		return ""
	}
	return p.tree.T1()
}

// placed returns the placement of a module's package, which the run has made.
func placed(m *module) *placement { return m.Package.Content.(*placement) }
