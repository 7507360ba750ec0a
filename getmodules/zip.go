package getmodules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cotterpin/cotter/internal/disk/zipfile"
)

// maxDirectory is in bytes: one of 500,000 entries with names of 200 bytes fits.
const maxDirectory = 128 << 20

func (a *unpacking) unzip() error {
	archive, err := zipfile.Open(canceledAt{a.ctx, a.file}, a.size, zipfile.Limits{
		Entries:        a.limits.Entries,
		DirectoryBytes: maxDirectory,
		Grow:           func(entries int64) error { return a.limits.Share.Grow(a.ctx, entries) },
	})
	if err == nil {
		err = archive.Check()
	}
	if err != nil {
		return zipError(err)
	}
	if err := checkZipNames(archive.Entries); err != nil {
		return damaged("zip: %w", err)
	}
	sum := int64(0)
	for _, entry := range archive.Entries {
		sum = min(sum+min(entry.Size(), a.limits.TreeBytes), a.limits.TreeBytes)
	}
	if err := a.w.Expect(sum); err != nil {
		return err
	}
	for _, entry := range archive.Entries {
		if err := a.unzipEntry(archive, entry); err != nil {
			return err
		}
	}
	return nil
}

// checkZipNames refuses two entries with the same name.
func checkZipNames(entries []*zipfile.Entry) error {
	names := make(map[string]bool)
	for _, entry := range entries {
		name := entryName(entry.Name, entry.Mode.IsDir())
		if names[name] {
			return fmt.Errorf("it has two entries %q", entry.Name)
		}
		names[name] = true
	}
	return nil
}

func zipError(err error) error {
	if isOverLimit(err) || isCancelled(err) {
		return err
	}
	if errors.Is(err, zipfile.ErrLargeDirectory) {
		return fmt.Errorf("%w: zip: %w", ErrTooLarge, err)
	}
	if refused, ok := errors.AsType[*zipfile.Error](err); ok && refused.Unsupported {
		return fmt.Errorf("%w: zip: %w", ErrUnsupportedArchive, err)
	}
	return damaged("zip: %w", err)
}

func (a *unpacking) unzipEntry(archive *zipfile.Archive, entry *zipfile.Entry) error {
	r := a.bounded(archive.Content(entry))
	target := ""
	switch entry.Mode.Type() {
	case fs.ModeDir:
		if entry.Size() != 0 {
			return damaged("zip: %q: a directory with content", entry.Name)
		}
		// Only for the checks: a compressed empty content has bytes.
		if _, err := io.Copy(io.Discard, r); err != nil {
			return fmt.Errorf("%q: %w", entry.Name, err)
		}
	case fs.ModeSymlink:
		text, err := io.ReadAll(io.LimitReader(r, maxLinkTarget+1))
		if err != nil {
			return fmt.Errorf("%q: %w", entry.Name, err)
		}
		target = string(text)
	case 0:
	default:
		return fmt.Errorf("%w: %q is a %s, and not a file, directory or link", ErrUnsafeEntry, entry.Name, entry.Mode.Type())
	}
	return a.add(entryName(entry.Name, entry.Mode.IsDir()), entry.Mode, target, r)
}

// canceledAt fails after ctx is done.
type canceledAt struct {
	ctx context.Context
	io.ReaderAt
}

func (c canceledAt) ReadAt(p []byte, offset int64) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.ReaderAt.ReadAt(p, offset)
}
