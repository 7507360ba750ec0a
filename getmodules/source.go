package getmodules

import (
	"context"
	"os"

	"github.com/cotterpin/cotter/ocistore"
)

// Source fetches packages and queries their origins. *Fetcher is the implementation that programs
// usually have. Implementations must be safe for concurrent use.
//
// A method that cannot do its work must return an error, and whatever depends on it fails:
// something that could not be checked never counts as checked. The contexts have the rules of the
// caller's policies for URLs, which *Fetcher applies to every request and redirect. So an
// implementation that uses another one must pass the context on, and one that sends requests
// itself must apply the policies to redirects.
type Source interface {
	// Fetch fetches a package into req.Dir, which does not exist yet.
	Fetch(ctx context.Context, req Request) (*Package, error)
	// Reference returns the revision that the address of a package means now.
	Reference(ctx context.Context, req Request) (Reference, error)
	// Tags lists the tags of the git repository of req.Package, with their commits.
	Tags(ctx context.Context, req Request) ([]Tag, error)
	// Reachable determines which of some commits are in the history of a branch or a tag of
	// the git repository of req.Package; see [Fetcher.Reachable].
	Reachable(ctx context.Context, req Request, commits ...LockedCommit) (map[string]Reach, error)
	// OCIRepository opens the repository of req.Package in an OCI registry.
	OCIRepository(ctx context.Context, req Request) (ocistore.Repository, error)
	// ExtractArchive extracts an archive that a registry hosts to dir, which does not exist
	// yet. kind is as for [Fetcher.ExtractArchive].
	ExtractArchive(ctx context.Context, file *os.File, kind, dir string) (*Package, error)
	// Interactive reports whether a method may wait for the user, for example for a
	// password. If it may, other processes do not wait for the fetches of this one.
	Interactive() bool
}

var _ Source = (*Fetcher)(nil)
