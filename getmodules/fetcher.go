package getmodules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/retryafter"
	"github.com/cotterpin/cotter/internal/treewriter"
)

// Fetcher fetches module packages. The zero value works; fields must not
// change once it is in use. It is safe for concurrent use.
type Fetcher struct {
	// HTTPClient is used for http, https, oci, and for those git repositories
	// that need nothing of the user's git configuration. It gives the transport.
	// nil means http.DefaultTransport. Its CheckRedirect, Jar and Timeout are not
	// used.
	HTTPClient *http.Client
	// UserAgent is sent with http requests, except to git servers, which expect
	// that of a git client. "" means "cotter".
	UserAgent string
	// Retries is how often a failed http request is repeated. 0 means 3, less
	// means never.
	Retries int
	// Backoff is how long to wait before the retry with this number, from 1
	// on. nil means 0.5 s, doubled each time, with jitter.
	Backoff func(retry int) time.Duration
	// StallTimeout is how long an http server may take to answer, and the window
	// over which its answer must keep to Limits.MinRate. 0 means 30 s. It is also
	// the window for what Getters and git transfer; there 0 means 2 minutes.
	StallTimeout time.Duration
	// HTTPCredentials finds the credentials for archives and pages whose address
	// has none. They are sent by https only, to the server of the address, and
	// not where another server led there. nil means that there are none.
	HTTPCredentials HTTPCredentials
	// OCICredentials finds the credentials for a repository of an OCI registry.
	// nil means that there are none.
	OCICredentials OCICredentials
	// GitCredentials finds the credentials for git repositories by https whose
	// address has none, such as a token for a host. They go to the server of the
	// address alone, and are not used if another server named the address. They
	// come before the user's own credential helpers. nil, like an answer without
	// credentials, leaves the choice to git.
	GitCredentials HTTPCredentials
	// Getters fetch from further kinds of sources, by the name that stands in
	// front of "::" in their addresses. The kinds that this package has itself
	// cannot be replaced. Packages s3, gcs and hg, below this one, have one each;
	// they are apart for what they pull in. See [Getter] for how to write one.
	//
	// A server's answer may point to s3 and gcs, but to no others of them; see
	// the package comment. A package's own configuration may point to all of
	// them, but not to file URLs and bare paths.
	Getters map[string]Getter
	// XZ decompresses tar.xz (txz) archives: [xz.NewReader] of package
	// getmodules/xz, which is apart for what it links. nil means that these
	// archives are refused.
	//
	// [xz.NewReader]: https://pkg.go.dev/github.com/cotterpin/cotter/getmodules/xz#NewReader
	XZ Decompressor
	// Git is how git is run.
	Git Git
	// AlwaysGit leaves all git repositories to the git that is installed; see
	// the section on git in the package comment.
	AlwaysGit bool
	// GitBackend chooses between the git that is installed and the built-in
	// client, for what is not fetched without either.
	GitBackend GitBackend
	// CacheDir holds bare git stores between fetches by git, at git/<sha256 of
	// the remote>. "" means a private store for each fetch, and so does a
	// directory that cannot be written to, of which one package's FetchWarnings
	// tells. Nothing that is found there is trusted: a store that is not as this
	// package makes them is made anew.
	CacheDir string
	// Limits bound what a package may cost; zero fields mean the defaults.
	Limits Limits

	v2     v2Memo
	pauses retryafter.Hosts
	// warnedBuiltIn says that the user knows of the built-in git client.
	warnedBuiltIn atomic.Bool
	// warnedCache says that the user knows of a CacheDir that cannot be used.
	warnedCache atomic.Bool
}

// Decompressor returns a reader of the content of packed, a compressed file that
// is an [io.ByteReader] as well. The reader returns io.EOF if the compressed data
// is complete and correct, and reads no byte that follows it, which is for the
// caller to refuse. The content needs no limit: it is bounded as it is read.
type Decompressor func(packed io.Reader) (io.Reader, error)

// Request asks for one package.
type Request struct {
	// Package is the location to fetch from.
	Package addrs.ModulePackage
	// Revision pins what must be fetched: a 40 or 64 digit git commit, or the
	// digest of an OCI manifest ("sha256:..."). "" lets the location decide. The
	// address's own ref or tag is not asked then.
	Revision string
	// Dir is where the tree goes. It must not exist; its parent must, and
	// takes temporary files too.
	Dir string
	// FromServer says that a server's answer named this location, which
	// narrows the transports that are allowed. Origin is that server's URL
	// (scheme and host count), for messages and for the loopback rule.
	FromServer bool
	Origin     string
	// FromPackage says that the address stands in a package's own
	// configuration, where local transports (file, absolute paths) are refused.
	FromPackage bool
	// Allow is called for each package to which the requested one points, by the
	// pages of a server or as a submodule, before a request for it is sent. Its
	// error becomes that of the fetch. nil allows all.
	Allow func(addrs.ModulePackage) error
	// Submodules has the submodules of a git repository fetched as well, each
	// as a package of its own, and put into the tree.
	Submodules bool
	// Scratch is an existing private directory for the keys and credentials of
	// requests that fetch nothing. "" means one in the system's directory for
	// temporary files.
	Scratch string
	// NoCache uses no git store in [Fetcher].CacheDir: because it cannot be
	// written, or because the origin is to say that it has the commit.
	NoCache bool
	// Progress is called with the bytes so far and the total, 0 where it is
	// not known; at most every 100 ms. nil is fine. It may be called from
	// another goroutine, never concurrently with itself.
	Progress func(done, total int64)
}

// Package is a fetched package.
type Package struct {
	// Resolved is the immutable address: a commit for git, a digest for oci, the
	// URL without its query for archives. It never holds a credential.
	Resolved addrs.ModulePackage
	// Revision is the git commit, or the digest of the OCI manifest; "" where
	// the transport has none.
	Revision string
	// ArchiveSum is the "zh:" sum (sha-256, hex) of the archive file; "" where
	// there was none, or where a forge generates it on the fly.
	ArchiveSum string
	// Subdir is a subdirectory inside the fetched tree to which the server's
	// answer led (X-Terraform-Get with //subdir); usually "". It exists.
	Subdir string
	// Gitlinks are the paths of git submodules that were left out; sorted.
	Gitlinks []string
	// LeftOut are the symbolic links that are not part of the tree, sorted by path;
	// see the section on links in the package comment.
	LeftOut []Link
	// Bytes were transferred, as far as known.
	Bytes int64
	// Warnings of the package for the user, such as portability of names.
	Warnings []string
	// FetchWarnings are of how it was fetched, which is not the concern of those
	// who get the same package from a cache.
	FetchWarnings []string
}

// Link is a symbolic link of a package.
type Link struct {
	// Path is the link's path in the package, and Target what the link says.
	Path, Target string
	// Reason is why it is not part of the tree, such as "leads to nothing".
	Reason string
}

func (l Link) String() string { return treewriter.Link(l).String() }

// leftOut are the links that a finished tree does not have.
func leftOut(w *treewriter.Writer) []Link {
	var links []Link
	for _, link := range w.LeftOut() {
		links = append(links, Link(link))
	}
	return links
}

func sortLinks(links []Link) {
	slices.SortFunc(links, func(a, b Link) int { return strings.Compare(a.Path, b.Path) })
}

// finish finishes a tree that must hold something.
func finish(w *treewriter.Writer, dir string) error {
	if err := w.Close(); err != nil {
		return err
	}
	if w.Empty() {
		return errors.Join(ErrEmpty, os.RemoveAll(dir))
	}
	return nil
}

// getFunc fetches the package of a request whose location was found to be
// allowed.
type getFunc func(*Fetcher, context.Context, Request) (*Package, error)

// getters has what fetches each kind of address, by [addrs.ModulePackage.Getter].
// A new kind of source is one more line, or a [Getter] if it would pull in much.
func getters() map[string]getFunc {
	return map[string]getFunc{
		"file":  (*Fetcher).fetchFile,
		"git":   (*Fetcher).fetchGitAll,
		"http":  (*Fetcher).fetchHTTP,
		"https": (*Fetcher).fetchHTTP,
		"oci":   (*Fetcher).fetchOCI,
	}
}

// Fetch fetches one package into req.Dir. On error nothing is left there. The
// error is a *[FetchError], which may wrap the errors of this package, those of
// the network and the file system, and ctx's.
func (f *Fetcher) Fetch(ctx context.Context, req Request) (*Package, error) {
	shown := req.Package.Redacted()
	get, err := f.check(req)
	if err != nil {
		return nil, fetchError(shown, err)
	}
	pkg, err := get(f, ctx, req)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fetchError(shown, errors.Join(err, os.RemoveAll(req.Dir)))
	}
	return pkg, nil
}

// Interactive reports whether git may ask the user for passwords.
func (f *Fetcher) Interactive() bool { return f.Git.Interactive }

// check finds the getter for a request if the request is one to be followed.
func (f *Fetcher) check(req Request) (getFunc, error) {
	switch _, err := os.Lstat(req.Dir); {
	case req.Dir == "":
		return nil, errors.New("no directory to fetch into was given")
	case err == nil:
		return nil, &fs.PathError{Op: "create", Path: req.Dir, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := checkLocation(req); err != nil {
		return nil, err
	}
	return f.getterFor(req.Package)
}

func (f *Fetcher) getterFor(pkg addrs.ModulePackage) (getFunc, error) {
	name := pkg.Getter()
	if get, found := getters()[name]; found {
		return get, nil
	}
	if getter := f.Getters[name]; getter != nil {
		return fetchBy(getter), nil
	}
	const below = "github.com/cotterpin/cotter/getmodules/"
	switch name {
	case "s3", "gcs", "hg":
		return nil, fmt.Errorf("%w: %q; a program that fetches from there puts the getter of %s into Fetcher.Getters", ErrUnsupportedScheme, name, below+name)
	case "ssh":
		return nil, fmt.Errorf("%w: %q; a git repository over ssh is written git::ssh://", ErrUnsupportedScheme, name)
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(getters())), maps.Keys(f.Getters))
	slices.Sort(names)
	return nil, fmt.Errorf("%w: %q; there are %s", ErrUnsupportedScheme, name, strings.Join(slices.Compact(names), ", "))
}
