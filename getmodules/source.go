package getmodules

import (
	"context"
	"os"

	"github.com/cotterpin/cotter/ocistore"
)

// Source fetches packages and queries their origins; programs usually use a *Fetcher. Implementations must
// be safe for concurrent use. A method that cannot do its work must return an error: something that could
// not be checked never counts as checked.
//
// The contexts have the rules of the caller's policies for URLs, which *Fetcher applies to every request
// and redirect. An implementation must pass them on, or apply the policies itself.
type Source interface {
	// Fetch fetches a package into req.Dir, which does not exist yet.
	Fetch(ctx context.Context, req Request) (*Package, error)
	// Reference returns the revision that the address of a package means now.
	Reference(ctx context.Context, req Request) (Reference, error)
	// Tags lists the tags of the git repository of req.Package, with their commits, or the versions of a kind of its own,
	// for a call with a version argument. Fetch is then asked for the Revision, or without one for the Name, of the
	// selected version, and returns it as [Package.Revision], and in [Package.Resolved] as the argument rev.
	Tags(ctx context.Context, req Request) ([]Tag, error)
	// Reachable is [Fetcher.Reachable].
	Reachable(ctx context.Context, req Request, commits ...LockedCommit) (map[string]Reach, error)
	OCIRepository(ctx context.Context, req Request) (ocistore.Repository, error)
	// ExtractArchive extracts an archive that a registry hosts to dir, as [Fetcher.ExtractArchive] does.
	ExtractArchive(ctx context.Context, file *os.File, kind, dir string) (*Package, error)
	// Interactive reports whether a method may wait for the user, such as for a password. Other processes
	// then do not wait for fetches of this one.
	Interactive() bool
}

var _ Source = (*Fetcher)(nil)
