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
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/ocistore"
)

// Fetcher fetches module packages. The zero value is ready to use. It is safe for concurrent use; its
// fields must not change after first use.
type Fetcher struct {
	// HTTPClient provides the transport for http, https and oci, and for git in this process. nil means
	// http.DefaultTransport. Its CheckRedirect, Jar and Timeout are ignored.
	HTTPClient *http.Client
	// UserAgent is sent with http requests, except to git servers. "" means "cotter".
	UserAgent string
	// Attempts is how often a request is sent at most. 0 means 4; 1 means no retry. If git is
	// spoken in this process and all attempts fail, the installed git makes one more. Getters have their own number.
	Attempts int
	// Backoff returns the wait before a retry, counted from 1. nil means 0.5 s, doubled for each further retry,
	// with jitter.
	Backoff func(retry int) time.Duration
	// StallTimeout is the time in which an http server must begin to answer, and the window of
	// [Limits.MinRate]. 0 means 30 s, and 2 minutes for transfers by Getters and git.
	StallTimeout time.Duration
	// HTTPCredentials finds the credentials for archives and pages whose address has none. They are sent
	// over https only, and not if another server pointed to the address. nil means none.
	HTTPCredentials HTTPCredentials
	// PlainHTTP lists OCI registries, as HOST or HOST:PORT in lower case, that are asked over http, without
	// credentials. One on a loopback address is asked over http if it does not speak https.
	PlainHTTP []string
	// OCICredentials finds the credentials for a repository of an OCI registry. nil means none.
	OCICredentials OCICredentials
	// OCI opens the repositories of OCI registries, for programs with their own client or store;
	// OCICredentials and HTTPClient are then not used for them. Digests, sizes and limits are still
	// checked. nil means a client for registries over https.
	OCI ocistore.Opener
	// GitCredentials finds the credentials, such as a token, for git repositories with an https address
	// without any. They are sent only to the server of the address, and not if another server pointed to
	// it. They take precedence over the user's credential helpers.
	GitCredentials HTTPCredentials
	// Getters fetch from further kinds of sources, by the name before "::" in an address. Packages s3, gcs
	// and hg below this one have a getter each, because of their dependencies.
	//
	// A getter for a built-in kind (file, git, http, https, oci) replaces it, and nil removes it, so that
	// its addresses are an [ErrUnsupportedScheme]. The getter for git must be a [GitGetter], and one for
	// file gets archives only. To replace only where OCI artifacts come from, set OCI.
	//
	// A server's answer may point to s3 and gcs, but not to other Getters. A package's own configuration
	// may point to all, but not to file URLs and paths without a scheme.
	Getters map[string]Getter
	// XZ decompresses tar.xz (txz) archives, which are refused if it is nil. Set it to [xz.NewReader] of
	// package getmodules/xz.
	//
	// [xz.NewReader]: https://pkg.go.dev/github.com/cotterpin/cotter/getmodules/xz#NewReader
	XZ Decompressor
	// Git configures how git is run.
	Git Git
	// HTTPClientForGit says that HTTPClient also has the certificate authorities and the proxy for git
	// repositories, in place of the user's own (http.sslCAInfo, GIT_SSL_CAINFO, HTTPS_PROXY). Otherwise
	// those apply, and git fetches if HTTPClient's transport is not an *http.Transport that can have them.
	HTTPClientForGit bool
	GitBackend       GitBackend
	// CacheDir keeps packs of git repositories, at git/<sha256 of the remote>. They are not trusted:
	// objects are compared with their names when they are read. If it is "", or cannot be written (a
	// warning in FetchWarnings), nothing is kept.
	CacheDir string
	Limits   Limits

	gitOnce    sync.Once
	gitProgram *gitexec.Git

	servers     gitServers
	pauses      httpx.Pauses
	warnedAlone atomic.Bool
	warnedCache atomic.Bool
}

// Decompressor returns a reader of the content of packed, which is also an [io.ByteReader]. The reader
// returns io.EOF if the data is complete and correct. It must not read beyond it: the caller refuses
// trailing bytes, and limits the content.
type Decompressor func(packed io.Reader) (io.Reader, error)

// Request is a request for one package.
type Request struct {
	// Package is the location to fetch from.
	Package addrs.ModulePackage
	// Revision pins a git commit of 40 or 64 digits, or the digest of an OCI manifest ("sha256:..."); the
	// ref or tag in the address is then not resolved.
	Revision string
	// Dir is the directory to create, which must not exist. Temporary files are also in its parent.
	Dir string
	// FromServer is set if a server's answer named this location, which restricts transports and hosts.
	FromServer bool
	// FromPackage is set if the address is in a package's own configuration. Local transports (file,
	// absolute paths) are then refused, and hosts restricted as for a server.
	FromPackage bool
	// Origin is the URL of the server that named the location or, without FromServer, of the package that
	// names it. Its scheme and host are used in messages, and to judge hosts: only a server or package on this
	// machine may point to this machine.
	Origin string
	// Allow is called before a request for another package to which this one points: through a page, as a
	// submodule, or by url.<base>.insteadOf of the user's git configuration. Its error ends the fetch. nil
	// allows all.
	Allow func(addrs.ModulePackage) error
	// Submodules also fetches the submodules of a git repository into the tree, each as a separate package.
	Submodules bool
	// Scratch is an existing private directory for keys and credentials of requests that fetch no package.
	// "" means one for temporary files of the system.
	Scratch string
	// NoCache disables [Fetcher].CacheDir, for example to confirm that the origin still has the commit.
	NoCache bool
	// Begin is called before work on the package, possibly several times, and may wait until there is room
	// for it. Git in this process receives the server's answer meanwhile; otherwise no request is sent
	// before. Its error ends the fetch. nil never waits.
	Begin func(context.Context) error
	// Progress is called at most every 100 ms, with the number of bytes so far and the total, or 0 if that
	// is not known. It may be nil. Calls are not concurrent, but can be on other goroutines.
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
	// Resolved is the immutable address: with the commit for git, the digest for oci, and without the query
	// for archives. It never contains credentials.
	Resolved addrs.ModulePackage
	// Revision is the git commit or the digest of the OCI manifest; "" if the transport has no revisions.
	Revision string
	// ArchiveSum is the "zh:" sum (SHA-256, hex) of the archive; "" if there was none, or if a forge
	// generates it on request, so that later bytes may differ.
	ArchiveSum string
	// Subdir is the existing subdirectory that the server pointed to (X-Terraform-Get with //subdir),
	// usually "".
	Subdir string
	// Tree has the hashes of everything in the request's Dir, if they were computed while it was written; otherwise nil.
	// The files are compared with them when they are used.
	Tree *hashing.Tree
	// Gitlinks lists the paths of git submodules that were not fetched, sorted.
	Gitlinks []string
	// LeftOut are the symbolic links that are not part of the tree, sorted by path.
	LeftOut []Link
	// Bytes is the number of transferred bytes, as far as known.
	Bytes int64
	// Warnings are about the package, such as names that are not portable.
	Warnings []string
	// FetchWarnings are about this fetch, and do not apply if the package is later used from a cache.
	FetchWarnings []string
}

// Link is a symbolic link that is not part of a tree, and so neither written nor hashed. A link is part of a
// tree if its target is relative and clean, and resolves to a file or directory of the tree through at most
// 40 links. A //subdir that a page points to and each submodule are trees of their own. The directory of an
// omitted link is kept.
type Link struct {
	Path, Target string
	// Reason says why the link is not part of the tree, such as "points to nothing".
	Reason string
}

func (l Link) String() string { return treewriter.Link(l).String() }

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

// finish removes a tree without files, and returns ErrEmpty.
func finish(w *treewriter.Writer, dir string) error {
	if err := w.Close(); err != nil {
		return err
	}
	if w.Empty() {
		return errors.Join(ErrEmpty, os.RemoveAll(dir))
	}
	return nil
}

// getFunc fetches the package of a request, whose location is allowed.
type getFunc func(*Fetcher, context.Context, Request) (*Package, error)

// getters returns the function for each built-in kind of address. A source with large dependencies is a
// [Getter].
func getters() map[string]getFunc {
	return map[string]getFunc{
		"file":  (*Fetcher).fetchFile,
		"git":   (*Fetcher).fetchGitAll,
		"http":  (*Fetcher).fetchHTTP,
		"https": (*Fetcher).fetchHTTP,
		"oci":   (*Fetcher).fetchOCI,
	}
}

// Fetch fetches one package into req.Dir, which does not exist after an error. The error is a
// *[FetchError], which can wrap errors of this package, of the network, of the file system, and of ctx.
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
	// maxRatio bounds the expansion of an archive. Text compresses at less than 20:1; more is deliberate.
	maxRatio = 100
	// ratioFloor is the unpacked size up to which small and very repetitive packages may exceed maxRatio.
	ratioFloor = 64 << 20
)

// Limits bounds one package; zero fields mean the defaults. Exceeding a limit is an [ErrTooLarge], and one of
// the first four a *[LimitError]. Nothing is truncated.
type Limits struct {
	// DownloadBytes bounds the archive, the transfer by git, or the temporary files of a [Getter]. The
	// default is 2 GiB, and the maximum 8 GiB.
	DownloadBytes int64
	// TreeBytes bounds all files together. The default is 4 GiB, and the maximum 8 GiB.
	TreeBytes int64
	// FileBytes bounds one file. The default is TreeBytes.
	FileBytes int64
	// Entries bounds the number of files, directories and links. The default is 500,000, and the maximum
	// 1,000,000.
	Entries int
	// MinRate is the minimum rate of a transfer in bytes per second, averaged over each window
	// ([Fetcher].StallTimeout) but the first. 0 means 4096; if it is negative, one byte in a window is
	// enough, for very slow links. Fetches by the installed git over ssh are not measured.
	MinRate int64
	// HistoryCommits and HistoryBytes bound what [Fetcher.Reachable] reads and transfers, by default 50,000
	// and 64 MiB. Over them the result is [ReachUnknown].
	HistoryCommits int
	HistoryBytes   int64
	// Portable makes a name that not all systems support an error instead of a warning.
	Portable bool
}

func (l Limits) download() int64 {
	return min(cmp.Or(l.DownloadBytes, packagelimits.DownloadBytes), packagelimits.MaxBytes)
}

// tree has no zero fields.
func (l Limits) tree() treewriter.Limits {
	return treewriter.Limits{
		TreeBytes: min(l.TreeBytes, packagelimits.MaxBytes),
		FileBytes: min(l.FileBytes, packagelimits.MaxBytes),
		Entries:   min(l.Entries, packagelimits.MaxEntries),
		Portable:  l.Portable,
	}.WithDefaults()
}

// checkDownload compares the announced size of an archive with the limit.
func (l Limits) checkDownload(size int64) error {
	if size > l.download() {
		return &LimitError{Limit: packagelimits.OfDownload, Size: size, Max: l.download()}
	}
	return nil
}
