package cotter

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/lockfile"
)

// packages fetches packages into the cache, each once in a session.
type packages struct {
	*origins
	submodules bool
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
		places:      p.rules.places(),
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
	return got, p.rules.allow(got.resolved)
}

// fetchOnce fetches a package unless this session has done so.
func (p *packages) fetchOnce(ctx context.Context, job fetchJob) (*fetched, error) {
	return p.packages.Do(ctx, job.fetchKey, func(ctx context.Context) (*fetched, error) {
		if p.offline {
			return nil, errNotAtHand
		}
		if p.isShared(job) {
			return p.fetchShared(ctx, job)
		}
		got, _, err := p.download(ctx, job)
		return got, err
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
// under its hash. It also returns the answer for other processes.
func (p *packages) download(ctx context.Context, job fetchJob) (*fetched, sharedAnswer, error) {
	done, err := p.slot(ctx)
	if err != nil {
		return nil, sharedAnswer{}, err
	}
	defer done()
	staged := p.cache.Stage()
	defer func() { _ = os.RemoveAll(staged) }() // a later clean-up removes what is left
	shown, asked := job.pkg.Redacted(), time.Now()
	p.events.emit(FetchStarted{Package: shown})
	pkg, err := p.downloadTo(ctx, job, staged)
	if err != nil {
		return nil, sharedAnswer{}, err
	}
	for _, warning := range append(pkg.FetchWarnings, pkg.Warnings...) {
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
		return nil, sharedAnswer{}, fmt.Errorf("%s: %w", shown, err)
	}
	p.events.emit(FetchDone{Package: shown, Bytes: pkg.Bytes})
	return newFetched(tree, pkg), job.answer(pkg, tree.T1(), asked), nil
}

// downloadTo fetches a package into dir, which does not exist yet.
func (p *packages) downloadTo(ctx context.Context, job fetchJob, dir string) (*getmodules.Package, error) {
	if job.hosted {
		return p.downloadHosted(ctx, job.at, dir)
	}
	shown := job.pkg.Redacted()
	req := p.withCache(job.request())
	req.NoCache = req.NoCache || job.fresh
	req.Dir, req.Allow = dir, p.rules.allow
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
		if within(link.Path, dir) {
			link.Path = strings.TrimPrefix(link.Path, dir+"/")
			below = append(below, link)
		}
	}
	return below
}

// checkHashes compares what was fetched with an entry of the lock. former is the
// tree of the entry; nil if it is not known.
func checkHashes(entry lockfile.Module, got *fetched, former *pkgtree.Tree) error {
	mismatch := &HashMismatchError{Key: entry.Key, Package: got.resolved.Redacted(), Gitlinks: got.gitlinks}
	for _, want := range entry.Hashes {
		have := got.tree.Hash(want.Scheme())
		if have != "" && have != want {
			mismatch.Want = append(mismatch.Want, want)
			mismatch.Got = append(mismatch.Got, have)
		}
	}
	if mismatch.Want == nil {
		return nil
	}
	if former != nil {
		mismatch.Changes = hashing.Diff(former.Tree, got.tree.Tree)
	}
	return mismatch
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
				return "", fmt.Errorf("%w: %q is no valid pattern: %w", ErrNoSubdir, pattern, err)
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
