package getmodules

import (
	"cmp"
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
	"sync"
	"sync/atomic"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/ctxerr"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/treewriter"
	"github.com/cotterpin/cotter/ocistore"
)

// Fetcher fetches module packages. The zero value is ready to use. Its fields must not change
// after first use. It is safe for concurrent use.
type Fetcher struct {
	// HTTPClient provides the transport for http, https and oci, and for git repositories that
	// do not need the user's git configuration. nil means http.DefaultTransport. Its
	// CheckRedirect, Jar and Timeout are ignored.
	HTTPClient *http.Client
	// UserAgent is sent with http requests, except to git servers, which expect the user agent
	// of a git client. "" means "cotter".
	UserAgent string
	// Attempts is how often a request is sent at most: for archives, pages, git repositories and
	// OCI registries. 0 means 4; 1 means that a failed request is never repeated. If git is
	// spoken in this process and all attempts fail, the installed git, which has settings of its
	// own, makes one more. Getters have their own number.
	Attempts int
	// Backoff returns the wait before a retry; the first retry has the number 1. nil means
	// 0.5 s, doubled for each further retry, with jitter.
	Backoff func(retry int) time.Duration
	// StallTimeout is the time in which an http server must begin to answer, and the window
	// over which its answer must keep to Limits.MinRate. 0 means 30 s. It is also the window
	// for transfers by Getters and git; for these 0 means 2 minutes.
	StallTimeout time.Duration
	// HTTPCredentials finds the credentials for archives and pages whose address has none. They
	// are sent over https only, to the server of the address, and not if another server pointed
	// to it. nil means that there are no such credentials.
	HTTPCredentials HTTPCredentials
	// PlainHTTP lists the OCI registries, as HOST or HOST:PORT in lower case, that are asked over http.
	// They get no credentials. A registry on a loopback address needs no entry: if it does not
	// speak https, it is asked over http.
	PlainHTTP []string
	// OCICredentials finds the credentials for a repository of an OCI registry. nil means that
	// there are none.
	OCICredentials OCICredentials
	// OCI opens the repositories of OCI registries, for oci:// sources and for OpenOCI. It is
	// for programs that have their own client or keep artifacts elsewhere; then
	// OCICredentials and HTTPClient are not used for them. Package ocistore says what such a
	// repository is relied on for. nil means a client for registries over https.
	OCI ocistore.Opener
	// GitCredentials finds the credentials, such as a token for a host, for git repositories
	// with an https address without credentials. They are sent only to the server of the
	// address, and not if another server pointed to it. They take precedence over the user's
	// credential helpers, which git uses if GitCredentials is nil or returns no credentials.
	GitCredentials HTTPCredentials
	// Getters fetch from further kinds of sources. The key is the name before "::" in an
	// address. Packages getmodules/s3, gcs and hg have a getter each; they are separate
	// packages because of their dependencies. See [Getter] for how to write one.
	//
	// A getter for a built-in kind (file, git, http, https, oci) replaces it, and nil removes
	// it: its addresses are then an [ErrUnsupportedScheme]. The getter for git must be a
	// [GitGetter]. To replace only where OCI artifacts come from, set OCI. A getter for file gets
	// archives only: see [LocalDirectory] for directories, which policies can deny.
	//
	// A server's answer may point to s3 and gcs, but not to other kinds of Getters; see the
	// package comment. A package's own configuration may point to all of them, but not to file
	// URLs and paths without a scheme.
	Getters map[string]Getter
	// XZ decompresses tar.xz (txz) archives. Set it to [xz.NewReader] of package getmodules/xz,
	// which is a separate package because of its dependencies. If XZ is nil, these archives are
	// refused.
	//
	// [xz.NewReader]: https://pkg.go.dev/github.com/cotterpin/cotter/getmodules/xz#NewReader
	XZ Decompressor
	// Git configures how git is run.
	Git Git
	// HTTPClientForGit says that HTTPClient also has the certificate authorities and the proxy for git
	// repositories that do not need other parts of the user's git configuration. The user's own
	// (http.sslCAInfo, GIT_SSL_CAINFO, HTTPS_PROXY) are then ignored for them. Otherwise those apply,
	// and if HTTPClient's transport is not an *http.Transport that can have them, git fetches the
	// repository.
	HTTPClientForGit bool
	// AlwaysGit makes the installed git fetch all git repositories; see the section on git in
	// the package comment.
	AlwaysGit bool
	// GitBackend chooses between the installed git and the built-in client, for
	// repositories that need one of them.
	GitBackend GitBackend
	// CacheDir holds bare git stores between fetches by git, at git/<sha256 of the remote>. If
	// it is "", each fetch uses a private store. This is also the case if the directory cannot
	// be written; the FetchWarnings of one package then say so. Stores are not trusted: a store
	// that differs from those that this package creates is created again.
	CacheDir string
	// Limits bound the size of a package. Zero fields mean the defaults.
	Limits Limits

	gitOnce    sync.Once
	gitProgram *gitexec.Git

	v2     v2Memo
	pauses httpx.Pauses
	// warnedAlone is set after the warning about settings that only git reads.
	warnedAlone atomic.Bool
	// warnedCache is set after the warning about an unusable CacheDir.
	warnedCache atomic.Bool
}

// Decompressor returns a reader of the content of packed, a compressed file that also
// implements [io.ByteReader]. The reader returns io.EOF if the compressed data is complete and
// correct. It must not read beyond the compressed data, because the caller refuses trailing
// bytes. It does not need to limit the content, because the caller does.
type Decompressor func(packed io.Reader) (io.Reader, error)

// Request is a request for one package.
type Request struct {
	// Package is the location to fetch from.
	Package addrs.ModulePackage
	// Revision pins the revision to fetch: a git commit of 40 or 64 digits, or the digest of an
	// OCI manifest ("sha256:..."). The ref or tag in the address is then not resolved. "" means
	// the revision that the address resolves to.
	Revision string
	// Dir is the directory to create for the tree. It must not exist. Its parent must exist;
	// temporary files are also created there.
	Dir string
	// FromServer is set if a server's answer named this location, which restricts the allowed
	// transports and hosts.
	FromServer bool
	// FromPackage is set if the address is in a package's own configuration. Local transports
	// (file, absolute paths) are then refused, and hosts are restricted as for a server.
	FromPackage bool
	// Origin is the URL of the server that named the location or, without FromServer, the URL from
	// which the package came that names it. Only its scheme and host are used, in messages and to
	// decide about hosts: only a server or package that is on this machine may point to this machine.
	Origin string
	// Allow is called for each package that the requested one points to, through a server's
	// page, as a submodule or through url.<base>.insteadOf in the user's git configuration, before
	// a request for it is sent. If Allow returns an error, the
	// fetch fails with it. nil allows all packages.
	Allow func(addrs.ModulePackage) error
	// Submodules also fetches the submodules of a git repository, each as a separate package,
	// and adds them to the tree.
	Submodules bool
	// Scratch is an existing private directory for the keys and credentials of requests that
	// fetch no package. "" means a directory in the system's directory for temporary files.
	Scratch string
	// NoCache disables the git stores in [Fetcher].CacheDir. Set it if the directory cannot be
	// written, or to confirm that the origin still has the commit.
	NoCache bool
	// Begin is called before work on the package begins, and may wait until there is room for it.
	// If git is spoken in this process, the server's answer is received while Begin waits;
	// otherwise no request is sent before. It may be called several times. If it returns an
	// error, the fetch fails with it. nil never waits.
	Begin func(context.Context) error
	// Progress is called at most every 100 ms, with the number of bytes so far and the total,
	// or 0 if the total is not known. It may be nil. It may be called from another goroutine,
	// but not concurrently.
	Progress func(done, total int64)
}

func (r Request) begin(ctx context.Context) error {
	if r.Begin == nil {
		return nil
	}
	return r.Begin(ctx)
}

// Package is a fetched package.
type Package struct {
	// Resolved is the immutable address: with the commit for git, with the digest for oci, and
	// without the query for archives. It never contains credentials.
	Resolved addrs.ModulePackage
	// Revision is the git commit, or the digest of the OCI manifest; "" if the transport has no
	// revisions.
	Revision string
	// ArchiveSum is the "zh:" sum (SHA-256, hex) of the archive file; "" if there was no
	// archive, or if a forge generates the archive on request.
	ArchiveSum string
	// Subdir is the subdirectory of the fetched tree that the server pointed to
	// (X-Terraform-Get with //subdir); usually "". The subdirectory exists.
	Subdir string
	// Gitlinks lists the paths of git submodules that were not fetched, sorted.
	Gitlinks []string
	// LeftOut lists the symbolic links that are not part of the tree, sorted by path; see the
	// section on links in the package comment.
	LeftOut []Link
	// Bytes is the number of transferred bytes, as far as it is known.
	Bytes int64
	// Warnings are warnings about the package, such as names that are not portable.
	Warnings []string
	// FetchWarnings are warnings about this fetch. They do not apply if the same package is
	// later used from a cache.
	FetchWarnings []string
}

// Link is a symbolic link of a package.
type Link struct {
	// Path is the path of the link in the package. Target is its target.
	Path, Target string
	// Reason says why the link is not part of the tree, such as "points to nothing".
	Reason string
}

func (l Link) String() string { return treewriter.Link(l).String() }

// leftOut returns the links that were omitted from a finished tree.
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

// finish finishes a tree. If the tree has no files, it removes dir and returns ErrEmpty.
func finish(w *treewriter.Writer, dir string) error {
	if err := w.Close(); err != nil {
		return err
	}
	if w.Empty() {
		return errors.Join(ErrEmpty, os.RemoveAll(dir))
	}
	return nil
}

// getFunc fetches the package of a request. The caller has checked that its location is
// allowed.
type getFunc func(*Fetcher, context.Context, Request) (*Package, error)

// getters returns the function for each kind of address, as returned by
// [addrs.ModulePackage.Getter]. A new kind of source is added here, or as a [Getter] if it has
// large dependencies.
func getters() map[string]getFunc {
	return map[string]getFunc{
		"file":  (*Fetcher).fetchFile,
		"git":   (*Fetcher).fetchGitAll,
		"http":  (*Fetcher).fetchHTTP,
		"https": (*Fetcher).fetchHTTP,
		"oci":   (*Fetcher).fetchOCI,
	}
}

// Fetch fetches one package into req.Dir. After an error req.Dir does not exist. The error is a
// *[FetchError], which can wrap the errors of this package, of the network, of the file system,
// and of ctx.
func (f *Fetcher) Fetch(ctx context.Context, req Request) (*Package, error) {
	shown := req.Package.Redacted()
	get, err := f.check(ctx, req)
	if err != nil {
		return nil, fetchError(shown, err)
	}
	ctx = limited(ctx, req)
	var pkg *Package
	if _, own := f.replaced("git"); own || req.Package.Getter() != "git" { // our git clients begin later
		err = req.begin(ctx)
	}
	if err == nil {
		pkg, err = get(f, ctx, req)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fetchError(shown, errors.Join(ctxerr.With(ctx, err), os.RemoveAll(req.Dir)))
	}
	return pkg, nil
}

// Interactive reports whether git may ask the user for passwords.
func (f *Fetcher) Interactive() bool { return f.Git.Interactive }

func (f *Fetcher) check(ctx context.Context, req Request) (getFunc, error) {
	switch _, err := os.Lstat(req.Dir); {
	case req.Dir == "":
		return nil, errors.New("no directory to fetch into was given")
	case err == nil:
		return nil, &fs.PathError{Op: "create", Path: req.Dir, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := checkLocation(ctx, req); err != nil {
		return nil, err
	}
	return f.getterFor(req.Package)
}

func (f *Fetcher) getterFor(pkg addrs.ModulePackage) (getFunc, error) {
	name := pkg.Getter()
	getter, own := f.replaced(name)
	switch get, found := getters()[name]; {
	case own && getter == nil:
		return nil, errRemoved(name)
	case own && name == "git":
		return fetchGitBy(getter), nil
	case own:
		return fetchBy(getter), nil
	case found:
		return get, nil
	}
	const here = "github.com/cotterpin/cotter/getmodules/"
	switch name {
	case "s3", "gcs", "hg":
		return nil, fmt.Errorf("%w: %q; programs need the getter of package %s in Fetcher.Getters", ErrUnsupportedScheme, name, here+name)
	case "ssh":
		return nil, fmt.Errorf("%w: %q; a git repository over ssh is written git::ssh://", ErrUnsupportedScheme, name)
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(getters())), maps.Keys(f.Getters))
	slices.Sort(names)
	return nil, fmt.Errorf("%w: %q; supported are %s", ErrUnsupportedScheme, name, strings.Join(slices.Compact(names), ", "))
}

const (
	// defaultDownloadBytes bounds the transfer of one package.
	defaultDownloadBytes = 512 << 20
	// maxRatio bounds the expansion of an archive. Text compresses at less than 20:1; a ratio
	// above maxRatio is deliberate.
	maxRatio = 100
	// ratioFloor is the unpacked size up to which maxRatio is not checked, so that small and
	// very repetitive packages are allowed.
	ratioFloor = 64 << 20
)

// Limits bounds one package. Zero fields mean the defaults. Exceeding a limit is an error that
// wraps [ErrTooLarge]; nothing is truncated.
type Limits struct {
	// DownloadBytes bounds the archive, the transfer by git, or the temporary files that a
	// [Getter] writes next to a directory. The default is 512 MiB.
	DownloadBytes int64
	// TreeBytes bounds the sum of the files' sizes. The default is 1 GiB.
	TreeBytes int64
	// FileBytes bounds the size of one file. The default is 256 MiB.
	FileBytes int64
	// Entries bounds the number of files, directories and links. The default is
	// 100,000.
	Entries int
	// MinRate is the minimum rate of a transfer in bytes per second, averaged over each window
	// of time except the first. The window is [Fetcher].StallTimeout or, by default, 30 s for
	// http and OCI registries and 2 minutes for git and a [Getter]. 0 means 4096. If MinRate is
	// negative, one byte in a window is enough, for very slow links. A lower rate is an error,
	// after the usual retries. Fetches by the installed git over ssh are not measured.
	MinRate int64
	// HistoryCommits and HistoryBytes bound the commits that [Fetcher.Reachable] reads, and what
	// it transfers. The defaults are 50,000 and 64 MiB. Exceeding them is not an error: the
	// result is then [ReachUnknown].
	HistoryCommits int
	HistoryBytes   int64
	// Portable makes it an error if a name is not supported on all systems. Otherwise this is a
	// warning, if this system supports the name.
	Portable bool
}

func (l Limits) download() int64 { return cmp.Or(l.DownloadBytes, defaultDownloadBytes) }

func (l Limits) tree() treewriter.Limits {
	return treewriter.Limits{
		TreeBytes: l.TreeBytes,
		FileBytes: l.FileBytes,
		Entries:   l.Entries,
		Portable:  l.Portable,
	}
}
