package getmodules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/git/gitpack"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/retryafter"
	"github.com/cotterpin/cotter/internal/treewriter"
)

// Limits of what is fetched in this process. What is over one is left to git,
// but for Limits.DownloadBytes, which is the user's.
const (
	// wireMemory is how much of a pack's content is kept in memory, for each of
	// the fetches that run at a time; the rest is in a temporary file.
	wireMemory = 8 << 20
	// wireObject bounds one object, of which several are in memory while a
	// delta is applied.
	wireObject = 16 << 20
	// wireOther is what a pack may have beside its files: directories, the
	// commit, and tags that lead to it.
	wireOther = 64 << 20
	// wireRefs bounds the refs that begin with a name.
	wireRefs = 10_000
)

var (
	errWireFormat = errors.New("only SHA-1 repositories are read in this process")
	errWireNoRef  = errors.New("no such ref was listed")
)

// runWire fetches in this process, without git. Whatever goes wrong is left to
// git, which knows more ways and has its own words for what is wrong, unless
// git could not change it either: done says that the fetch has ended.
func (g *gitFetch) runWire(ctx context.Context) (done bool, err error) {
	if g.wire == nil {
		return false, nil
	}
	err = g.fetchByWire(ctx)
	switch {
	case err == nil, isVerdict(err):
		return true, err
	case ctx.Err() != nil:
		return true, ctx.Err()
	}
	if err := g.longPause(err); err != nil {
		return true, err
	}
	g.wireErr = err
	g.wire.failed(err)
	g.pkg, g.chosen = Package{}, chosenRef{}
	return false, nil
}

// longPause is the error if a server asks for a longer pause than is kept to. Git
// would ask it again at once.
func (g *gitFetch) longPause(err error) error {
	status, ok := errors.AsType[*gitwire.StatusError](err)
	if !ok || !retryafter.Requested(status.RetryAfter).TooLong() {
		return nil
	}
	return &StatusError{
		URL: addrs.Redact(g.addr.remote.String()), StatusCode: status.StatusCode, retryAfter: retryafter.Requested(status.RetryAfter),
	}
}

// isVerdict reports whether an error is about the package itself.
func isVerdict(err error) bool {
	_, unsafe := errors.AsType[*treewriter.PathError](err)
	_, large := errors.AsType[*treewriter.LimitError](err)
	return unsafe || large || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrEmpty)
}

// fetchByWire fetches and writes one commit: one request if the commit is
// known, and one before it to find the commit of a ref. What has come is written
// while the rest is still to come.
func (g *gitFetch) fetchByWire(ctx context.Context) (err error) {
	want, err := g.wireWant(ctx)
	if err != nil {
		return err
	}
	objects, err := g.wire.client.Fetch(ctx, gitwire.Fetch{
		Want:     want,
		Bytes:    g.limits.download(),
		Limits:   g.wireLimits(),
		Dir:      g.scratch,
		Progress: g.wireProgress(),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, objects.Close()) }()
	if err := g.write(&wireSource{objects: objects}, want); errors.Is(err, gitwire.ErrTooLarge) {
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	} else if err != nil {
		return err
	}
	if g.pkg.Bytes, err = objects.Wait(); err != nil {
		return err
	}
	if g.req.Progress != nil {
		g.req.Progress(g.pkg.Bytes, 0)
	}
	return nil
}

func (g *gitFetch) wireLimits() gitpack.Limits {
	return gitpack.Limits{
		Objects:     cmp.Or(g.limits.Entries, treewriter.DefaultEntries) + maxGitDepth,
		ObjectBytes: wireObject,
		TotalBytes:  cmp.Or(g.limits.TreeBytes, treewriter.DefaultTreeBytes) + wireOther,
		MemoryBytes: wireMemory,
	}
}

// wireProgress reports at most every 100 ms.
func (g *gitFetch) wireProgress() func(int64) {
	if g.req.Progress == nil {
		return nil
	}
	last := time.Now()
	return func(bytes int64) {
		if now := time.Now(); now.Sub(last) >= gitProgressEvery {
			last = now
			g.req.Progress(bytes, 0)
		}
	}
}

// wireWant is the object to ask for: the commit that is known, or what the ref
// points to.
func (g *gitFetch) wireWant(ctx context.Context) (string, error) {
	if id := g.wanted(); id != "" {
		if len(id) != git.SHA1Len {
			return "", errWireFormat
		}
		return id, nil
	}
	refs, err := g.wire.refs(ctx, g.addr.ref)
	if err != nil {
		return "", err
	}
	if g.chosen = refs.choose(g.addr.ref); g.chosen.name == "" {
		return "", errWireNoRef
	}
	return g.chosen.id, nil
}

// refs lists the refs that a name may stand for, by one request.
func (w *gitWire) refs(ctx context.Context, name string) (remoteRefs, error) {
	refs, err := w.client.Refs(ctx, wireRefs, git.Candidates(name)...)
	if err != nil {
		return nil, err
	}
	return wiredRefs(refs), nil
}

// wireTags lists the tags without git, by one request. An empty list is left
// to git: a server that did not understand the question may give it.
func (g *gitFetch) wireTags(ctx context.Context) (tags []Tag, done bool, err error) {
	if g.wire == nil {
		return nil, false, nil
	}
	refs, err := g.wire.client.Refs(ctx, maxTags, "refs/tags/")
	if ctx.Err() != nil {
		return nil, true, ctx.Err()
	}
	if err := g.longPause(err); err != nil {
		return nil, true, err
	}
	if err != nil {
		g.wireErr = err
		g.wire.failed(err)
		return nil, false, nil
	}
	for _, ref := range refs {
		if name, ok := strings.CutPrefix(ref.Name, "refs/tags/"); ok {
			tags = append(tags, Tag{Name: name, Revision: cmp.Or(ref.Peeled, ref.ID)})
		}
	}
	return tags, len(tags) > 0, nil
}
