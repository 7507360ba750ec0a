package providerfetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/store/artifact"
)

type Archive struct {
	// Hashes are the archive's own, sorted: the h1 of its content, and its zh if the lock has it.
	Hashes []hashing.Hash
	Size   int64

	file *os.File
}

func (a *Archive) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, io.NewSectionReader(a.file, 0, a.Size))
}

// Close removes the archive.
func (a *Archive) Close() error { return errors.Join(a.file.Close(), os.Remove(a.file.Name())) }

// Archive gets the archive of a package of which the lock has a hash.
func (g *Getter) Archive(ctx context.Context, want Want) (*Archive, error) {
	if !hasScheme(want.Locked, "zh") {
		found, ok, err := g.confirmed(ctx, want)
		if err != nil {
			return nil, err
		}
		if ok {
			return g.pack(ctx, found.Package.Dir(), found.H1)
		}
	}
	pkg, err := g.find(ctx, want)
	if err != nil {
		return nil, err
	}
	j := newJob(g, want, pkg)
	if err := j.checkArchive(); err != nil {
		return nil, err
	}
	var made *Archive
	err = j.proveBeside(ctx, func(ctx context.Context) (err error) {
		if dir := pkg.Dir(); dir != "" {
			made, err = j.packDir(ctx, dir)
		} else {
			made, err = j.keepArchive(ctx)
		}
		return err
	})
	if err == nil {
		err = j.checkReported(j.proof(made.h1()))
	}
	if err != nil && made != nil {
		err = errors.Join(err, made.Close())
	}
	if err != nil {
		return nil, err
	}
	return made, nil
}

func (g *Getter) confirmed(ctx context.Context, want Want) (*Got, bool, error) {
	s := &search{Getter: g, want: want}
	if s.remember(ctx).IsZero() {
		return nil, false, nil
	}
	if err := s.checkRemembered(ctx, s.release.Evidence); err != nil {
		return nil, false, err
	}
	return s.fromStore(ctx)
}

func (a *Archive) h1() hashing.Hash { return a.Hashes[0] } // h1 sorts before zh

func (j *job) packDir(ctx context.Context, dir string) (*Archive, error) {
	found, err := j.fromDir(ctx, dir)
	if err != nil {
		return nil, err
	}
	return j.pack(ctx, dir, found.H1)
}

func (j *job) keepArchive(ctx context.Context) (_ *Archive, err error) {
	file, err := j.download(ctx)
	if err != nil {
		return nil, err
	}
	published := &Archive{Size: j.bytes, file: file}
	if err = j.awaitProof(ctx); err == nil {
		published.Hashes, err = j.hashesOf(ctx, file)
	}
	if err != nil {
		return nil, errors.Join(err, published.Close())
	}
	if len(published.Hashes) > 1 {
		return published, nil
	}
	repacked, err := j.repack(ctx, published)
	return repacked, errors.Join(err, published.Close())
}

func (j *job) hashesOf(ctx context.Context, file *os.File) ([]hashing.Hash, error) {
	h1, err := j.hashArchive(ctx, file)
	if err != nil {
		return nil, err
	}
	if err := j.checkContent(h1); err != nil {
		return nil, err
	}
	if slices.Contains(j.want.Locked, j.archive) {
		return []hashing.Hash{h1, j.archive}, nil
	}
	return []hashing.Hash{h1}, nil
}

func (j *job) repack(ctx context.Context, published *Archive) (*Archive, error) {
	archive, err := providerzip.Open(published.file, published.Size, j.want.Provider.Type)
	if err != nil {
		return nil, err
	}
	dir, err := j.Store.Stage()
	if err != nil {
		return nil, err
	}
	if _, err := archive.Unpack(ctx, dir); err != nil {
		return nil, err
	}
	made, err := j.pack(ctx, dir, published.h1())
	return made, errors.Join(err, os.RemoveAll(dir))
}

var errChanged = errors.New("the package changed while it was packed")

// pack gives the same bytes for the same files.
func (g *Getter) pack(ctx context.Context, dir string, h1 hashing.Hash) (_ *Archive, err error) {
	done, err := g.slot(ctx, unpacking)
	if err != nil {
		return nil, err
	}
	defer done()
	root, err := pathsafe.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	fsys := hashing.RootFS(root)
	tree, err := providerzip.ReadRoot(ctx, root)
	if err != nil {
		return nil, err
	}
	tree.Entries = slices.DeleteFunc(tree.Entries, func(e hashing.Entry) bool { return e.Kind == hashing.EmptyDir })
	if tree.H1() != h1 {
		return nil, fmt.Errorf("%s: %w", dir, errChanged)
	}
	file, err := g.stagedFile()
	if err != nil {
		return nil, err
	}
	made := &Archive{Hashes: []hashing.Hash{h1}, file: file}
	if err = artifact.WriteZip(ctx, file, fsys, tree, 0); err == nil {
		made.Size, err = file.Seek(0, io.SeekCurrent)
	}
	if err != nil {
		return nil, errors.Join(err, made.Close())
	}
	return made, nil
}
