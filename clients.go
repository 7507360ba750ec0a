package cotter

import (
	"context"
	"io"
	"net/url"
	"os"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Registry is the client of module registries that an Installer uses. Implementations must
// be safe for concurrent use. *registryclient.Client is an implementation.
type Registry interface {
	// ModuleVersions lists the versions of a package.
	ModuleVersions(ctx context.Context, pkg addrs.ModuleRegistryPackage) ([]versions.Candidate, error)
	// PackageLocation returns the location of a version of a package.
	PackageLocation(ctx context.Context, pkg addrs.ModuleRegistryPackage, v versions.Version) (registryclient.Location, error)
	// Download writes the archive of a package that the registry hosts itself to w. The
	// location of such a package is Direct.
	Download(ctx context.Context, pkg addrs.ModuleRegistryPackage, at registryclient.Location, w io.Writer) error
}

// Fetcher fetches packages and queries their origins. Implementations must be safe for
// concurrent use. *getmodules.Fetcher is an implementation. A method that cannot do its
// work must return an error, and whatever depends on it fails: something that could not be
// checked never counts as checked. The contexts have the rules of the project's policies for
// URLs, which *getmodules.Fetcher applies to every request and redirect. So an implementation
// that uses another one must pass the context on, and one that sends requests itself must
// apply [Request].Policies to redirects.
type Fetcher interface {
	// Fetch fetches a package into req.Dir, which does not exist yet.
	Fetch(ctx context.Context, req getmodules.Request) (*getmodules.Package, error)
	// Reference returns the revision that the address of a package means now.
	Reference(ctx context.Context, req getmodules.Request) (getmodules.Reference, error)
	// Tags lists the tags of the git repository of req.Package, with their commits.
	Tags(ctx context.Context, req getmodules.Request) ([]getmodules.Tag, error)
	// Reachable determines which of some commits are in the history of a branch or a tag of
	// the git repository of req.Package; see [getmodules.Fetcher.Reachable].
	Reachable(ctx context.Context, req getmodules.Request, commits ...getmodules.LockedCommit) (map[string]getmodules.Reach, error)
	// OCIRepository opens the repository of req.Package in an OCI registry. It sends no
	// requests yet.
	OCIRepository(req getmodules.Request) (getmodules.OCIRepository, error)
	// ExtractArchive extracts an archive that a registry hosts to dir, which does not exist
	// yet. kind is as for [getmodules.Fetcher.ExtractArchive].
	ExtractArchive(ctx context.Context, file *os.File, kind, dir string) (*getmodules.Package, error)
	// Interactive reports whether a method may wait for the user, for example for a
	// password. If it may, other processes do not wait for the fetches of this one.
	Interactive() bool
}

// Credentials finds the user's credentials. Implementations must be safe for concurrent
// use. *cliconfig.Config is an implementation.
type Credentials interface {
	// ForHost finds credentials for the services of a registry's host.
	disco.CredentialsSource
	// HTTPCredentials finds credentials for archives and pages; see
	// getmodules.HTTPCredentials.
	HTTPCredentials(ctx context.Context, at *url.URL) (*url.Userinfo, error)
	// OCICredentials finds credentials for a repository of an OCI registry; see
	// getmodules.OCICredentials.
	OCICredentials(ctx context.Context, host, repository string) (getmodules.OCICredential, error)
}

// defaultParallel is the default of Installer.Parallel. Most of the time a worker waits for
// the network.
const defaultParallel = 16

// requestsPerSlot is the number of small requests at once, for each package that is worked on.
const requestsPerSlot = 4
