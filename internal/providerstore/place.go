package providerstore

import (
	"context"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/versions"
)

// Layout is how a package is placed in a project.
type Layout int

const (
	// LayoutLink places a symbolic link into the store, or a copy where there are no
	// links or no store.
	LayoutLink Layout = iota
	// LayoutCopy places a copy.
	LayoutCopy
)

// Dir is the directory of a project in which stock tools find providers, usually
// .terraform/providers. It must be closed.
type Dir struct{}

// OpenDir opens the directory for placing packages, and makes it if it is absent. Links
// in its path are followed.
func (s *Store) OpenDir(path string) (*Dir, error) { panic("unfinished") }

// ViewDir opens the directory for [Dir.Inspect] alone. It changes nothing. The error
// wraps fs.ErrNotExist if it is absent.
func (s *Store) ViewDir(path string) (*Dir, error) { panic("unfinished") }

// Close removes what is staged.
func (d *Dir) Close() error { panic("unfinished") }

// At returns where a package belongs: HOST/NAMESPACE/TYPE/VERSION/OS_ARCH.
func At(provider addrs.Provider, version versions.Version, platform addrs.Platform) string {
	panic("unfinished")
}

// Path returns the path on disk of what is at a place.
func (d *Dir) Path(at string) string { panic("unfinished") }

// Replaced is what was at a place before.
type Replaced int

// The kinds of what was replaced.
const (
	Nothing    Replaced = iota
	OtherFiles          // a directory with other content, such as a partial one
	OtherLink           // a link to somewhere else, or to nothing
	OtherEntry          // a file or another entry
)

// Place puts a package at a place, and returns what it replaced. Stock tools see the old
// entry, none, or the new one, never a mixture. A package that is there already is left
// alone.
func (d *Dir) Place(ctx context.Context, pkg *Package, at string, layout Layout) (Replaced, error) {
	panic("unfinished")
}

// State is what is at a place.
type State struct {
	// H1 is the hash of its content; "" if there is nothing that can be hashed.
	H1 hashing.Hash
	// Target is where it points to if it is a link.
	Target string
	// Err says why it cannot be hashed: over fs.ErrNotExist if there is nothing, or a
	// link to nothing.
	Err error
}

// Inspect returns the state of a place. With full, all files are hashed; without, only
// those that have changed since this user's last full look at them.
func (d *Dir) Inspect(ctx context.Context, at string, full bool) (State, error) { panic("unfinished") }

// Placed returns all places at which there is something, sorted.
func (d *Dir) Placed() ([]string, error) { panic("unfinished") }

// Remove removes what is at a place, and the directories that are empty then.
func (d *Dir) Remove(at string) error { panic("unfinished") }
