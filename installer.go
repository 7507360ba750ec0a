package cotter

import (
	"context"
	"io"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Installer installs, locks and verifies the modules of configurations. The
// zero value works: it asks registries anonymously and keeps nothing between
// runs but what is installed. Fields must not change once it is in use; one Installer may serve any
// number of runs at once.
type Installer struct {
	// Registry answers for module registries. nil means a
	// *registryclient.Client without credentials.
	Registry Registry
	// Fetcher fetches packages. nil means a *getmodules.Fetcher whose git
	// stores are under CacheDir, without Getters: S3, Google Cloud Storage and
	// Mercurial are for one with those of packages s3, gcs and hg.
	Fetcher Fetcher
	// Config reads the module calls of a directory. nil means our own reader.
	Config ConfigReader
	// CacheDir is the user's cache, shared by all projects and processes. ""
	// means that nothing is kept but what is installed.
	//
	// A cache that cannot be written is replaced by a temporary one, with a
	// [Warning].
	CacheDir string
	// StateDir is the user's directory for the key by which runs recognise what
	// earlier runs of the same user left: in the project, a change that was
	// interrupted and the former lock; in the cache, which entries of locks an
	// origin has confirmed. The key is made on first use. "" means that nothing
	// of that counts, so each run asks the origins of all locked packages.
	StateDir string
	// StateKey is a secret of at least 32 characters that takes the place of the
	// key in StateDir, for machines that forget everything. "" means none.
	StateKey string
	// Parallel is how many packages are worked on at once; 0 means 16.
	Parallel int
	// OnEvent is told what happens. See [Event] for what it may rely on.
	OnEvent func(Event)
}

// Registry is what an Installer asks module registries. Implementations must
// be safe for concurrent use; *registryclient.Client is one.
type Registry interface {
	// ModuleVersions lists the versions that a package has.
	ModuleVersions(ctx context.Context, pkg addrs.ModuleRegistryPackage) ([]versions.Candidate, error)
	// PackageLocation says where a version of a package is.
	PackageLocation(ctx context.Context, pkg addrs.ModuleRegistryPackage, v versions.Version) (registryclient.Location, error)
	// Download writes the archive of a package that the registry hosts itself
	// to w: one whose location is Direct.
	Download(ctx context.Context, pkg addrs.ModuleRegistryPackage, at registryclient.Location, w io.Writer) error
}

// Fetcher fetches packages and answers for their origins. Implementations must
// be safe for concurrent use; *getmodules.Fetcher is one. A method that cannot
// do its work returns an error, which fails what depends on it: nothing that
// cannot be checked passes for checked.
type Fetcher interface {
	// Fetch fetches a package into req.Dir, which does not exist yet.
	Fetch(ctx context.Context, req getmodules.Request) (*getmodules.Package, error)
	// Reference asks which revision the address of a package means now.
	Reference(ctx context.Context, req getmodules.Request) (getmodules.Reference, error)
	// Tags lists the tags of the git repository of req.Package, with their
	// commits.
	Tags(ctx context.Context, req getmodules.Request) ([]getmodules.Tag, error)
	// OCIRepository opens the repository of req.Package in an OCI registry; it
	// sends nothing yet.
	OCIRepository(req getmodules.Request) (getmodules.OCIRepository, error)
}

// ConfigReader reads the module calls of one directory. A tool that has a
// parser of its own brings its own.
type ConfigReader interface {
	// ReadCalls returns the calls of one module directory, sorted by name. In
	// one run it is called once for each module, after its caller's, from
	// several goroutines. Diagnostics that are errors end an installation;
	// those of warnings are passed on.
	ReadCalls(ctx context.Context, dir ConfigDir) ([]ModuleCall, hcl.Diagnostics)
}

// ConfigDir is a module's directory, as a ConfigReader gets it.
type ConfigDir struct {
	// Path is the module's path; empty for the root module.
	Path addrs.Module
	// Dir is where the files are now.
	Dir string
	// Boundary is the directory that links must not lead out of: the package's
	// root. "" means none, for the user's own files.
	Boundary string
	// Display is the directory as ranges must name it: where the files will be
	// when the run is over, relative to the root module.
	Display string
	// Dialect is the language that the configuration is written in.
	Dialect Dialect
}

// ModuleCall is one "module" block.
type ModuleCall struct {
	// Name is the block's label, or that of a test's run.
	Name string
	// Prefix are the names before Name in the path of a module that a test
	// runs: "test", the directories and the file. It is empty for all others.
	Prefix addrs.Module
	// Source is the source argument's value, not parsed yet.
	Source string
	// Version is the version argument's value where HasVersion says that
	// there is one.
	Version    string
	HasVersion bool
	// SourceComputed and VersionComputed say that the arguments are
	// expressions, so that messages should tell their values.
	SourceComputed, VersionComputed bool
	// Range is the block's header; SourceRange and VersionRange are the
	// arguments' expressions.
	Range, SourceRange, VersionRange hcl.Range
}

// pathIn is the path of the called module, by that of its caller.
func (c ModuleCall) pathIn(caller addrs.Module) addrs.Module {
	for _, name := range c.Prefix {
		caller = caller.Child(name)
	}
	return caller.Child(c.Name)
}

// byTest reports whether the module is called by a test.
func (c ModuleCall) byTest() bool { return len(c.Prefix) > 0 }

// defaultParallel is how many packages are worked on at once. Most of the time
// a worker waits for the network.
const defaultParallel = 16
