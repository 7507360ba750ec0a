package cotter

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/pkgtree"
)

// packages fetches packages into the cache, each once in a session.
type packages struct {
	*origins
	submodules bool
}

// fetchKey is what makes two fetches the same.
type fetchKey struct {
	pkg         addrs.ModulePackage
	revision    string
	fromServer  bool
	fromPackage bool
	hosted      bool
	submodules  bool
	// places are the rules about where a fetch may be redirected.
	places string
	// want is the t1 hash that the lock has for it; "" if it has none.
	want hashing.Hash
	// fresh means that nothing counts but what the origin sends.
	fresh bool
}

// fetched is a package in the cache, hashed from disk.
type fetched struct {
	resolved addrs.ModulePackage
	archive  hashing.Hash // zh:, "" if none counts
	tree     *pkgtree.Tree
	gitlinks []string
	leftOut  []getmodules.Link
}

func newFetched(from *pkgcache.Fetched) *fetched {
	got := &fetched{
		resolved: addrs.ParseModulePackage(from.Answer.Package),
		archive:  from.Answer.Archive,
		tree:     from.Tree,
		gitlinks: from.Answer.Gitlinks,
	}
	for _, link := range from.Answer.LeftOut {
		got.leftOut = append(got.leftOut, getmodules.Link(link))
	}
	return got
}

// hashes are a package's hashes as the lock has them.
func (f *fetched) hashes() []hashing.Hash {
	hashes := []hashing.Hash{f.tree.H1(), f.tree.T1()}
	if f.archive != "" {
		hashes = append(hashes, f.archive)
	}
	return hashes
}

// artifact is an artifact of an OCI repository, and what it was fetched by.
type artifact struct {
	key fetchKey
	got *fetched
}

// fetchJob is a fetch for the first call that needs it.
type fetchJob struct {
	fetchKey
	at location
	// path is the call's path, for warnings.
	path addrs.Module
}

// request asks the fetcher for the package, wherever it is to go.
func (j fetchJob) request() getmodules.Request {
	return getmodules.Request{
		Package:     j.pkg,
		Revision:    j.revision,
		FromServer:  j.fromServer,
		FromPackage: j.fromPackage,
		Submodules:  j.submodules,
		Origin:      j.at.origin(),
	}
}

// fetch fetches a package into the cache. revision is what must come from there; ""
// if that is not known. want is the t1 hash that the lock has for it; "" if it has
// none.
func (p *packages) fetch(ctx context.Context, c *call, at location, revision string, want hashing.Hash) (*fetched, error) {
	job := fetchJob{at: at, path: c.path, fetchKey: fetchKey{
		pkg:        at.pkg,
		revision:   revision,
		fromServer: at.fromServer(),
		// The answers of a server are under the same rules whoever asked it.
		fromPackage: !at.fromServer() && c.fromPackage(),
		hosted:      at.isHosted(),
		submodules:  p.submodules,
		places:      p.rules.Places(),
		want:        want,
		fresh:       at.unconfirmed,
	}}
	var got *fetched
	var err error
	if job.pkg.Getter() == "oci" && job.revision == "" {
		got, err = p.fetchArtifact(ctx, job)
	} else {
		got, err = p.fetchOnce(ctx, job)
	}
	if err != nil {
		return nil, err
	}
	return got, p.rules.Allow(got.resolved)
}

// fetchOnce fetches a package unless this session, or another process that shares the
// cache, has done so.
func (p *packages) fetchOnce(ctx context.Context, job fetchJob) (*fetched, error) {
	return p.packages.Do(ctx, job.fetchKey, func(ctx context.Context) (*fetched, error) {
		if p.offline {
			return nil, errNotAtHand
		}
		fetch := p.download
		if p.isShared(job) {
			fetch = p.downloadOrShare
		}
		got, err := fetch(ctx, job)
		if err != nil {
			return nil, err
		}
		for _, warning := range got.Answer.Warnings {
			p.events.warn(job.path, warning)
		}
		return newFetched(got), nil
	})
}

// isShared reports whether other processes may fetch the same. They do not wait for
// one whose user is asked for a password. A package that was fetched through redirects
// that a policy might refuse cannot be used where there is a policy.
func (p *packages) isShared(job fetchJob) bool {
	getter := job.pkg.Getter()
	if p.rules.RestrictPlaces() && (job.submodules || getter == "http" || getter == "https") {
		return false
	}
	return getter != "file" && !p.fetcher.Interactive()
}

// downloadOrShare downloads a package unless another process has just done that, or
// is doing it.
func (p *packages) downloadOrShare(ctx context.Context, job fetchJob) (*pkgcache.Fetched, error) {
	return p.cache.FetchShared(ctx, pkgcache.SharedFetch{
		Key:       job.sharedKey(),
		PinnedKey: job.pinnedKey,
		Revision:  job.revision,
		Want:      job.want,
		Began:     p.began,
		Fetch:     func(ctx context.Context) (*pkgcache.Fetched, error) { return p.download(ctx, job) },
		CurrentRevision: func(ctx context.Context, last string) (string, error) {
			reference, err := p.referenceOf(ctx, job, last)
			return reference.Revision, err
		},
		Slot:   p.slot,
		OnWait: func() { p.events.emit(WaitingForFetch{Package: job.pkg.Redacted()}) },
	})
}

// fetchArtifact fetches an artifact whose digest is not known yet. Whether two tags
// mean the same is known only if both are asked for, and most repositories are
// called by one tag. So the first is fetched at once; the others wait for it, and
// then ask for their digests.
func (p *packages) fetchArtifact(ctx context.Context, job fetchJob) (*fetched, error) {
	first, err := p.artifacts.Do(ctx, job.pkg.Repository(), func(ctx context.Context) (artifact, error) {
		got, err := p.fetchOnce(ctx, job)
		return artifact{job.fetchKey, got}, err
	})
	if first.key == job.fetchKey {
		return first.got, err
	}
	if ctx.Err() != nil || p.offline {
		return p.fetchOnce(ctx, job)
	}
	reference, err := p.referenceOf(ctx, job, "")
	if err != nil {
		return p.fetchOnce(ctx, job) // whose error says what is wrong
	}
	if first.got != nil && first.got.resolved.Revision() == reference.Revision {
		return first.got, nil
	}
	job.revision = reference.Revision
	return p.fetchOnce(ctx, job)
}

// referenceOf asks which revision a job's address means now. last is what it meant
// before: for an abbreviated commit the origin is not asked again.
func (p *packages) referenceOf(ctx context.Context, job fetchJob, last string) (getmodules.Reference, error) {
	if job.hosted {
		return getmodules.Reference{}, nil
	}
	done, err := p.slot(ctx)
	if err != nil {
		return getmodules.Reference{}, err
	}
	defer done()
	req := job.request()
	req.Revision = last
	return p.fetcher.Reference(ctx, p.withCache(req))
}

// download fetches a package, hashes it from disk and publishes it in the cache
// under its hash.
func (p *packages) download(ctx context.Context, job fetchJob) (*pkgcache.Fetched, error) {
	done, err := p.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	staged := p.cache.Stage()
	defer func() { _ = os.RemoveAll(staged) }() // a later clean-up removes what is left
	shown, asked := job.pkg.Redacted(), time.Now()
	p.events.emit(FetchStarted{Package: shown})
	pkg, err := p.downloadTo(ctx, job, staged)
	if err != nil {
		return nil, err
	}
	for _, warning := range pkg.FetchWarnings {
		p.events.warn(job.path, warning)
	}
	// What the origin's own subdirectory leaves out is not part of the package.
	pkg.LeftOut = linksBelow(pkg.LeftOut, pkg.Subdir)
	dir := filepath.Join(staged, filepath.FromSlash(pkg.Subdir))
	tree, err := pkgtree.Read(dir)
	if err == nil {
		err = p.cache.Publish(dir, tree.T1())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	p.events.emit(FetchDone{Package: shown, Bytes: pkg.Bytes})
	return job.downloaded(pkg, tree, asked), nil
}

// downloadTo fetches a package into dir, which does not exist yet.
func (p *packages) downloadTo(ctx context.Context, job fetchJob, dir string) (*getmodules.Package, error) {
	if job.hosted {
		return p.downloadHosted(ctx, job.at, dir)
	}
	shown := job.pkg.Redacted()
	req := p.withCache(job.request())
	req.NoCache = req.NoCache || job.fresh
	req.Dir, req.Allow = dir, p.rules.Allow
	req.Progress = func(done, total int64) { p.events.emit(FetchProgress{Package: shown, Done: done, Total: total}) }
	return p.fetcher.Fetch(ctx, req)
}

// downloadHosted fetches a package that a registry has itself.
func (p *packages) downloadHosted(ctx context.Context, at location, dir string) (*getmodules.Package, error) {
	archive, err := os.Create(dir + ".archive")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = archive.Close()
		_ = os.Remove(archive.Name()) // a later clean-up removes what is left
	}()
	if err := p.registry.Download(ctx, at.asked, *at.answer, archive); err != nil {
		return nil, err
	}
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	pkg, err := p.fetcher.ExtractArchive(ctx, archive, "", dir)
	if err != nil {
		return nil, fmt.Errorf("the archive that registry %s hosts: %w", at.asked.Host.ForDisplay(), err)
	}
	pkg.Resolved = at.pkg.WithoutCredentials()
	return pkg, nil
}

// linksBelow are the links below a directory of a package, by their paths in it.
func linksBelow(links []getmodules.Link, dir string) []getmodules.Link {
	if dir == "" {
		return links
	}
	var below []getmodules.Link
	for _, link := range links {
		if pathsafe.Within(link.Path, dir) {
			link.Path = strings.TrimPrefix(link.Path, dir+"/")
			below = append(below, link)
		}
	}
	return below
}

// downloaded is what other processes need to know of a package that was fetched.
func (j fetchJob) downloaded(pkg *getmodules.Package, tree *pkgtree.Tree, asked time.Time) *pkgcache.Fetched {
	got := &pkgcache.Fetched{Tree: tree, Answer: pkgcache.Answer{
		Tree:     tree.T1(),
		Package:  pkg.Resolved.String(),
		Revision: cmp.Or(j.revision, pkg.Revision),
		Archive:  hashing.Hash(pkg.ArchiveSum),
		Gitlinks: pkg.Gitlinks,
		Warnings: pkg.Warnings,
		Asked:    asked,
		Done:     time.Now(),
	}}
	for _, link := range pkg.LeftOut {
		got.Answer.LeftOut = append(got.Answer.LeftOut, pkgcache.Link(link))
	}
	if j.pkg.HasRevisions() && isPublic(j.pkg) && got.Answer.Revision != "" && pkg.Subdir == "" {
		got.PinnedKey = j.pinnedKey(got.Answer.Revision)
	}
	return got
}

// sharedKey names what a fetch brings, for all processes of the user. An address
// that servers and packages may not name has another key for each that names it. The
// credentials of an address are part of the key unless it is pinned: with others a
// server may send something else.
func (j fetchJob) sharedKey() string {
	name := j.pkg.String() + j.extent()
	if j.revision != "" {
		name = j.pinnedKey(j.revision)
	}
	if j.hosted {
		return "hosted " + name
	}
	if isPublic(j.pkg) {
		return name
	}
	by := ""
	if j.fromPackage {
		by = "a package"
	}
	return strings.Join([]string{name, "named by", j.at.origin(), by}, " ")
}

// pinnedKey names a revision of a package, by whichever ref it was found.
func (j fetchJob) pinnedKey(revision string) string {
	return j.pkg.WithoutCredentials().Unpinned().String() + "#" + url.QueryEscape(revision) + j.extent()
}

// extent tells packages apart of which more or less is fetched. Addresses have no
// space.
func (j fetchJob) extent() string {
	if j.submodules {
		return " with submodules"
	}
	return ""
}

// isPublic reports whether servers and packages may name an address as the user
// may.
func isPublic(pkg addrs.ModulePackage) bool {
	u, err := pkg.URL()
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "ssh" || u.Scheme == "oci")
}

// expandSubdir replaces a pattern with the directory of the package that it means.
// Registries have patterns for archives whose one directory has a name of the
// forge's choice. A pattern must match exactly one directory.
func expandSubdir(tree *pkgtree.Tree, pattern string) (string, error) {
	if !isPattern(pattern) {
		return pattern, nil
	}
	match := ""
	count := 0
	seen := make(map[string]bool)
	for _, entry := range tree.Entries {
		for dir := path.Dir(entry.Path); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			ok, err := path.Match(path.Clean(pattern), dir)
			if err != nil {
				return "", fmt.Errorf("%w: %q is not a valid pattern: %w", ErrNoSubdir, pattern, err)
			}
			if ok {
				match = dir
				count++
			}
		}
	}
	if count != 1 {
		return "", fmt.Errorf("%w: the pattern %q must match exactly one directory of the package and matches %d", ErrNoSubdir, pattern, count)
	}
	return match, nil
}

func isPattern(subdir string) bool { return strings.ContainsAny(subdir, `*?[\`) }
