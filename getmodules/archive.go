package getmodules

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
)

// ExtractArchive calls [Fetcher.ExtractArchive] on a Fetcher with these limits.
func ExtractArchive(ctx context.Context, file *os.File, kind, dir string, limits Limits) (*Package, error) {
	f := Fetcher{Limits: limits}
	return f.ExtractArchive(ctx, file, kind, dir)
}

// ExtractArchive extracts an archive to dir, which must not exist, and does not exist after an error. The
// kind is "zip", "tar.gz", "tar.bz2" or, with f.XZ, "tar.xz"; "" means that the first bytes decide. The
// result has ArchiveSum, Bytes, LeftOut and Warnings. The error is a *[FetchError].
func (f *Fetcher) ExtractArchive(ctx context.Context, file *os.File, kind, dir string) (*Package, error) {
	pkg, err := f.extract(ctx, file, kind, dir)
	if err != nil {
		return nil, fetchError("", ctxerr.With(ctx, err))
	}
	return pkg, nil
}

// extractVerified extracts an archive to req.Dir after it was compared with its checksum.
func (f *Fetcher) extractVerified(ctx context.Context, req Request, addr *archiveAddress, file *os.File) (*Package, error) {
	if err := f.verifyChecksum(ctx, req, addr, file); err != nil {
		return nil, err
	}
	return f.extract(ctx, file, addr.format.names[0], req.Dir)
}

// extract does not wrap errors in a *FetchError.
func (f *Fetcher) extract(ctx context.Context, file *os.File, kind, dir string) (*Package, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := f.Limits.checkDownload(info.Size()); err != nil {
		return nil, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, readerAt(ctx, file, 0, info.Size())); err != nil {
		return nil, err
	}
	format, err := f.sniff(file, kind)
	if err != nil {
		return nil, err
	}
	var share packagelimits.Share
	defer share.Close()
	w, err := f.unpack(ctx, file, info.Size(), format, dir, &share)
	if err != nil {
		return nil, err
	}
	tree, err := w.Tree()
	if err != nil {
		return nil, err
	}
	return &Package{
		Tree:       tree,
		ArchiveSum: "zh:" + hex.EncodeToString(sum.Sum(nil)),
		Bytes:      info.Size(),
		LeftOut:    leftOut(w),
		Warnings:   w.Warnings(),
	}, nil
}

type unpacking struct {
	ctx    context.Context
	file   io.ReaderAt
	size   int64
	w      *treewriter.Writer
	limits treewriter.Limits
	xz     Decompressor
	// produced is the number of bytes so far, which is compared with size.
	produced int64
}

func (f *Fetcher) unpack(ctx context.Context, file io.ReaderAt, size int64, format *archiveFormat, dir string, share *packagelimits.Share) (*treewriter.Writer, error) {
	limits := f.Limits.tree()
	limits.Share = share
	w, err := treewriter.Create(ctx, dir, limits)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	w.Sum()
	a := &unpacking{ctx: ctx, file: file, size: size, w: w, limits: limits, xz: f.XZ}
	if err := format.unpack(a); err != nil {
		return nil, err
	}
	if err := finish(w, dir); err != nil {
		return nil, err
	}
	return w, nil
}

// bounded limits a source of unpacked bytes: reads fail after ctx is done, and over maxRatio above
// ratioFloor.
func (a *unpacking) bounded(r io.Reader) io.Reader {
	return &boundedReader{a, &decodedReader{ctxerr.Reader(a.ctx, r)}}
}

type boundedReader struct {
	a *unpacking
	r io.Reader
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.a.produced += int64(n)
	if b.a.produced > ratioFloor && b.a.produced/maxRatio > b.a.size {
		return 0, fmt.Errorf("%w: the archive expands to more than %d times its size", ErrTooLarge, maxRatio)
	}
	return n, err
}

// decodedReader wraps a decoder's errors in ErrUnsafeArchive.
type decodedReader struct{ r io.Reader }

func (d *decodedReader) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = damaged("%w", err)
	}
	return n, err
}

// readerAt returns a reader of a section. Reads fail after ctx is done.
func readerAt(ctx context.Context, file io.ReaderAt, offset, size int64) io.Reader {
	return ctxerr.Reader(ctx, io.NewSectionReader(file, offset, size))
}

// damaged wraps ErrUnsafeArchive, unless the error has another sentinel of this package or is a context's.
func damaged(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	for _, other := range []error{ErrTooLarge, ErrUnsafeArchive, ErrUnsafeEntry, ErrUnsupportedArchive} {
		if errors.Is(err, other) {
			return err
		}
	}
	if isCancelled(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnsafeArchive, err)
}

// maxLinkTarget is the limit of paths in a tree. Zip archives store targets as content.
const maxLinkTarget = 1024

// entryName returns the path of an entry in the tree, without tar's "./" and the final slash of a
// directory; "" for the root itself.
func entryName(raw string, isDir bool) string {
	if isDir {
		raw = strings.TrimSuffix(raw, "/")
	}
	if isDir && raw == "." {
		return ""
	}
	return strings.TrimPrefix(raw, "./")
}

// add reads r only for a file.
func (a *unpacking) add(name string, mode fs.FileMode, target string, r io.Reader) error {
	switch mode.Type() {
	case fs.ModeDir:
		if name == "" {
			return nil
		}
		return a.w.Dir(name)
	case fs.ModeSymlink:
		return a.w.Symlink(name, target)
	case 0:
		return a.w.File(name, mode&0o100 != 0, r)
	}
	return errors.New("add of a type that was not checked")
}
