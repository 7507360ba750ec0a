package packagelimits

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// Disk is what one run may write to disk: downloads, unpacked packages, and copies of packages in projects. Each
// package alone is within its own limits, but a configuration can name any number of them. What is removed again still
// counts, because it was on the disk. A nil Disk has no limit. It is safe for concurrent use.
type Disk struct {
	max    int64
	used   atomic.Int64
	listed atomic.Int64
}

// NewDisk returns a Disk for one run; 0 means [RunBytes].
func NewDisk(limit int64) *Disk {
	if limit <= 0 {
		limit = RunBytes
	}
	return &Disk{max: min(limit, MaxRunBytes)}
}

type diskKey struct{}

// In returns a context for the work of the run.
func (d *Disk) In(ctx context.Context) context.Context { return context.WithValue(ctx, diskKey{}, d) }

// DiskOf returns the Disk of the context's run, or nil if the work belongs to no run.
func DiskOf(ctx context.Context) *Disk {
	d, _ := ctx.Value(diskKey{}).(*Disk)
	return d
}

// Take counts bytes before they are written. If the run may not write as many, it returns an *[Error].
func (d *Disk) Take(bytes int64) error {
	if d == nil || d.used.Add(bytes) <= d.max {
		return nil
	}
	d.used.Add(-bytes)
	return &Error{Limit: OfRun, Max: d.max}
}

// List counts versions, their platforms, protocols and hashes, tags, or [Values] that a server lists: they are in memory until
// the run ends, where the disk is of no help. Over [RunVersions], it returns an *[Error].
func (d *Disk) List(n int) error {
	if d == nil || d.listed.Add(int64(n)) <= RunVersions {
		return nil
	}
	return &Error{Limit: OfVersions, Max: RunVersions}
}

// Values is how many values of [Disk.List] a text with sums or keys counts as: one for each 64 bytes, the length of a sum.
func Values(bytes int) int { return bytes / 64 }

// Writer returns a writer that takes what it gets before w gets it.
func (d *Disk) Writer(w io.Writer) io.Writer { return counted{d, w} }

type counted struct {
	disk *Disk
	w    io.Writer
}

func (c counted) Write(p []byte) (int, error) {
	if err := c.disk.Take(int64(len(p))); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// Grown takes what files have grown by since their size was before, which it then sets to size. Other programs write them,
// so that only their size is known.
func (d *Disk) Grown(before *int64, size int64) error {
	if size > *before {
		if err := d.Take(size - *before); err != nil {
			return err
		}
	}
	*before = size
	return nil
}

// Expect checks, before a package of at least this size is written to a directory, that the run may write it, and that
// the file system has the space. The error is an *[Error] or a *[SpaceError].
func (d *Disk) Expect(dir string, bytes int64) error {
	if d != nil {
		if sum := d.used.Load() + bytes; sum > d.max {
			return &Error{Limit: OfRun, Size: sum, Max: d.max}
		}
	}
	if free, ok := freeSpace(dir); ok && free < bytes {
		return &SpaceError{Dir: filepath.Dir(dir), Need: bytes, Free: free}
	}
	return nil
}

// SpaceError says that a file system has too little space for a package.
type SpaceError struct {
	// Dir is on the file system.
	Dir string
	// Need is what at least is written, and Free what this user may write, in bytes.
	Need, Free int64
}

// Unwrap returns the error that writing would end with.
func (e *SpaceError) Unwrap() error { return syscall.ENOSPC }

func (e *SpaceError) Error() string {
	return fmt.Sprintf("the package needs %s on disk, and %s are free in %q", roundedUp(e.Need), roundedDown(e.Free), e.Dir)
}

// roundedUp and roundedDown use units of MiB, so that the smaller of two sizes is not shown as the larger one.
func roundedUp(n int64) string   { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }
func roundedDown(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
