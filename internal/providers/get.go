package providers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/internal/providerzip"
)

// Get gets a package. The source is not asked if the store has a package with one of the
// locked hashes, and the source has vouched for it before; nor if Offers or PluginCache
// have one.
// If the lock has an h1 or a zh, and the package has none of them, the error is a
// *[getproviders.MismatchError], and nothing is kept of the package.
func (g *Getter) Get(ctx context.Context, want Want) (*Got, error) {
	found, err := g.confirmed(ctx, want)
	if found != nil || err != nil {
		return found, err
	}
	got, deliver, reasons := g.fromOffers(ctx, want)
	if got != nil {
		return got, nil
	}
	pkg, err := g.locate(ctx, want)
	if errors.Is(err, ErrNotAtHand) {
		return nil, notAtHand(reasons)
	}
	if err != nil {
		return nil, err
	}
	return newJob(g, want, g.delivered(want, pkg, deliver)).run(ctx)
}

// locate finds a package in the plugin cache of stock tools, or at the source.
func (g *Getter) locate(ctx context.Context, want Want) (getproviders.Package, error) {
	if g.PluginCache.Dir != "" && len(want.Locked) > 0 {
		pkg, err := g.PluginCache.Package(ctx, want.Provider, want.Version, want.Platform, want.Locked)
		if err == nil || ctx.Err() != nil {
			return pkg, err
		}
	}
	if g.Offline {
		return nil, ErrNotAtHand
	}
	return g.Source.Package(ctx, want.Provider, want.Version, want.Platform)
}

// confirmed finds a package in the store by a locked hash. It counts only if this user
// has got it before as the package of this very release: a lock can come with a
// repository, and name the content of another provider.
func (g *Getter) confirmed(ctx context.Context, want Want) (*Got, error) {
	release, ok := g.Store.Release(want.Provider, want.Version, want.Platform)
	if !ok || g.Store.Matches(release.H1, want.Locked) == "" {
		return nil, nil
	}
	found, err := g.find(ctx, want, []hashing.Hash{release.H1})
	if found == nil || err != nil {
		return nil, err
	}
	auth := authentication(release)
	if err := g.accept(auth); err != nil {
		return nil, err
	}
	return &Got{Package: found, Proof: Proof{
		Archive: release.Archive, H1: found.H1, Hashes: []hashing.Hash{found.H1}, Matched: g.Store.Matches(found.H1, want.Locked),
		Authentication: auth,
	}}, nil
}

// authentication returns how a package was proven when this user got it.
func authentication(r providerstore.Release) getproviders.Authentication {
	return getproviders.Authentication{Signed: r.Signed, KeyID: r.KeyID, Key: r.Key, Weak: r.Weak, Hashes: r.Hashes}
}

// find looks for a package in the store. A damaged one is as good as none.
func (g *Getter) find(ctx context.Context, want Want, hashes []hashing.Hash) (*providerstore.Package, error) {
	found, err := g.Store.Find(ctx, hashes)
	if errors.Is(err, providerstore.ErrDamaged) {
		g.tell(Event{Want: want, Kind: Damaged})
		return nil, nil
	}
	return found, err
}

// job is a package on its way from the source.
type job struct {
	*Getter
	want Want
	pkg  getproviders.Package
	// offered says that the package comes from a bundle or a mirror.
	offered bool
	// proven is closed when the source has proven the package, as auth says.
	proven chan struct{}
	auth   getproviders.Authentication
	// archive is its hash, and bytes what was transferred.
	archive hashing.Hash
	bytes   int64
}

func newJob(g *Getter, want Want, pkg getproviders.Package) *job {
	return &job{Getter: g, want: want, pkg: pkg, proven: make(chan struct{}), archive: pkg.Archive()}
}

// run proves the package and gets it at the same time.
func (j *job) run(ctx context.Context) (*Got, error) {
	if err := j.checkArchive(); err != nil {
		return nil, err
	}
	var found *providerstore.Package
	err := j.proveBeside(ctx, func(ctx context.Context) (err error) {
		if dir := j.pkg.Dir(); dir != "" {
			found, err = j.fromDir(ctx, dir)
		} else {
			found, err = j.fromArchive(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	got := &Got{Package: found, Proof: j.proof(found.H1)}
	if err := j.checkReported(got.Proof); err != nil {
		return nil, err
	}
	j.record(got.Proof)
	return got, nil
}

// proveBeside gets what the source has to prove the package, and lets [Getter.Accept]
// decide on it, while get runs, which ends if the package is not proven.
func (j *job) proveBeside(ctx context.Context, get func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		if j.auth, err = j.pkg.Authenticate(ctx); err == nil {
			err = j.accept(j.auth)
		}
		if err == nil {
			close(j.proven)
		}
		return err
	})
	group.Go(func() error { return get(ctx) })
	return group.Wait()
}

// awaitProof waits until the source has proven the package. What is not proven is not
// unpacked.
func (j *job) awaitProof(ctx context.Context) error {
	select {
	case <-j.proven:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fromDir returns a package that the source has unpacked.
func (j *job) fromDir(ctx context.Context, dir string) (*providerstore.Package, error) {
	done, err := j.slot(ctx, unpacking)
	if err != nil {
		return nil, err
	}
	defer done()
	found, err := j.Store.Foreign(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.pkg.Location(), err)
	}
	return found, j.checkContent(found.H1)
}

// fromArchive returns the package of an archive: from the store, or downloaded. One
// process at a time downloads an archive.
func (j *job) fromArchive(ctx context.Context) (*providerstore.Package, error) {
	if found, err := j.stored(ctx); found != nil || err != nil {
		return found, err
	}
	unlock, err := j.Store.LockArchive(ctx, j.archive, func() { j.tell(j.event(Waiting)) })
	if err != nil {
		return nil, err
	}
	defer unlock()
	if found, err := j.stored(ctx); found != nil || err != nil {
		return found, err
	}
	file, err := j.download(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }() // or the store removes it
	if j.pkg.Archive() == "" {                                               // only now its hash is known
		if found, err := j.stored(ctx); found != nil || err != nil {
			return found, err
		}
	}
	if err := j.awaitProof(ctx); err != nil {
		return nil, err
	}
	return j.unpack(ctx, file)
}

// stored looks for the content of the archive in the store.
func (j *job) stored(ctx context.Context) (*providerstore.Package, error) {
	if j.archive == "" {
		return nil, nil
	}
	found, err := j.find(ctx, j.want, []hashing.Hash{j.archive})
	if found == nil || err != nil {
		return nil, err
	}
	return found, j.checkContent(found.H1)
}

// download transfers the archive to a file on the stage, which is open for reading.
func (j *job) download(ctx context.Context) (_ *os.File, err error) {
	done, err := j.slot(ctx, transfer)
	if err != nil {
		return nil, err
	}
	defer done()
	name, err := j.Store.Stage()
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = errors.Join(file.Close(), os.Remove(name)) // or the store removes it
		}
	}()
	err = j.pkg.Download(ctx, file, func(done, total int64) {
		e := j.event(Downloading)
		e.Done, e.Total = done, total
		j.tell(e)
	})
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if j.bytes = info.Size(); j.archive == "" {
		j.archive, err = archiveHash(file)
	}
	return file, err
}

// archiveHash returns the zh of a file.
func archiveHash(file *os.File) (hashing.Hash, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hashing.Hash(fmt.Sprintf("zh:%x", sum.Sum(nil))), nil
}

// unpack unpacks an archive, and makes it a part of the store unless the lock refuses it.
func (j *job) unpack(ctx context.Context, file *os.File) (*providerstore.Package, error) {
	done, err := j.slot(ctx, unpacking)
	if err != nil {
		return nil, err
	}
	defer done()
	j.tell(j.event(Unpacking))
	dir, err := j.Store.Stage()
	if err != nil {
		return nil, err
	}
	archive, err := providerzip.Open(file, j.bytes, j.want.Provider.Type)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.pkg.Location(), err)
	}
	h1, err := archive.Unpack(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.pkg.Location(), err)
	}
	if err := j.checkContent(h1); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	j.Store.RecordArchive(j.archive, h1)
	return j.Store.Publish(ctx, dir, h1)
}

func (j *job) event(kind EventKind) Event {
	return Event{Want: j.want, Kind: kind, Location: j.pkg.Location(), Total: -1, Stored: j.offered}
}
