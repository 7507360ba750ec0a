package artifact

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/net/oci"
)

// ErrChanged means that a file does not match its sum in the tree.
var ErrChanged = errors.New("a file changed while it was read")

// modified is the earliest time in the zip format, for all entries.
var modified = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

// PackModule writes an archive to a new file in dir, as [WriteZip] does. open opens the directory of the
// tree.
func PackModule(ctx context.Context, dir string, open func() (*os.Root, error), tree *hashing.Tree, form int) (oci.File, error) {
	root, err := open()
	if err != nil {
		return oci.File{}, err
	}
	defer root.Close()
	return oci.CreateFile(dir, func(w io.Writer) error { return WriteZip(ctx, w, pathsafe.FS(root), tree, form) })
}

func PackProvider(ctx context.Context, dir string, archive io.WriterTo) (oci.File, error) {
	return oci.CreateFile(dir, func(w io.Writer) error {
		_, err := archive.WriteTo(packagelimits.DiskOf(ctx).Writer(w))
		return err
	})
}

// WriteZip writes the archive of a tree. fsys may have further files; those of the tree are compared with
// their sums. The same tree and form give the same bytes. form is 0 except in repairs. The archive counts for the run of
// ctx; see [packagelimits.Disk].
func WriteZip(ctx context.Context, w io.Writer, fsys fs.FS, tree *hashing.Tree, form int) error {
	archive := zip.NewWriter(packagelimits.DiskOf(ctx).Writer(w))
	one, err := flate.NewWriter(io.Discard, flate.DefaultCompression)
	if err != nil {
		return err
	}
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		one.Reset(w) // entries are written one after the other, and a new one takes longer than a small file
		return one, nil
	})
	if form > 0 {
		if err := archive.SetComment(fmt.Sprintf("form %d", form)); err != nil {
			return err
		}
	}
	for _, entry := range tree.Entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := writeEntry(archive, fsys, entry); err != nil {
			return fmt.Errorf("%q: %w", entry.Path, err)
		}
	}
	return archive.Close()
}

func writeEntry(archive *zip.Writer, fsys fs.FS, entry hashing.Entry) error {
	header := &zip.FileHeader{Name: entry.Path, Method: zip.Deflate, Modified: modified}
	switch entry.Kind {
	case hashing.EmptyDir:
		header.Name, header.Method = entry.Path+"/", zip.Store
		header.SetMode(fs.ModeDir | 0o755)
		_, err := archive.CreateHeader(header)
		return err
	case hashing.Link:
		header.Method = zip.Store
		header.SetMode(fs.ModeSymlink | 0o777)
		w, err := archive.CreateHeader(header)
		if err == nil {
			_, err = io.WriteString(w, entry.Target)
		}
		return err
	case hashing.ExecFile:
		header.SetMode(0o755)
	default:
		header.SetMode(0o644)
	}
	w, err := archive.CreateHeader(header)
	if err != nil {
		return err
	}
	return copyFile(w, fsys, entry)
}

func copyFile(w io.Writer, fsys fs.FS, entry hashing.Entry) (err error) {
	file, err := fsys.Open(entry.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(file, entry.Size+1))
	if err != nil {
		return err
	}
	if n != entry.Size || [32]byte(sum.Sum(nil)) != entry.Sum {
		return ErrChanged
	}
	return nil
}
