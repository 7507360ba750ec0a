package getmodules

import (
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/git"
)

// The reasons why a package could not be fetched, for all kinds of sources.
var (
	ErrUnsupportedScheme = errors.New("unsupported kind of address")
	// ErrRefusedLocation means that a package or a server's answer points to where it must not.
	ErrRefusedLocation = git.ErrRefused
	// ErrNotArchive means that a file is not an archive of the expected format.
	ErrNotArchive = errors.New("not an archive of the expected kind")
	// ErrUnsupportedArchive means that a format, or a feature that an archive uses, is not supported.
	ErrUnsupportedArchive = errors.New("unsupported archive format")
	// ErrUnsafeArchive means that an archive is damaged, or that programs can read it in different ways.
	ErrUnsafeArchive = errors.New("the archive is damaged or ambiguous")
	// ErrUnsafeEntry means that an entry is refused: an unsafe name, a hard link, a device, or a link in
	// [Package].LeftOut that a module needs.
	ErrUnsafeEntry = pathsafe.ErrUnsafeEntry
	ErrEmpty       = errors.New("the package has no files")
	ErrTooLarge    = git.ErrTooLarge
	// ErrChecksum means that an archive does not match the checksum argument of its address.
	ErrChecksum = errors.New("the archive does not match the checksum of its address")
	// ErrNoLocation means that a web page names no location of a package.
	ErrNoLocation = errors.New("the page names no module package")
)

// FetchError is returned if a package could not be fetched.
type FetchError struct {
	// Package is the requested address, redacted; "" for [ExtractArchive].
	Package string
	Err     error
}

// maxShownAddress is in characters.
const maxShownAddress = 1024

func (e *FetchError) Error() string {
	if e.Package == "" {
		return fmt.Sprint(e.Err)
	}
	return fmt.Sprintf("cannot fetch %.*q: %v", maxShownAddress, e.Package, e.Err)
}

func (e *FetchError) Unwrap() error { return e.Err }

// PageError is the part of a [FetchError] about an address to which a web page pointed.
type PageError struct {
	// Page and Package are redacted.
	Page, Package string
	Err           error
}

func (e *PageError) Error() string { return fmt.Sprintf("%q: %v%s", e.Package, e.Err, e.Suffix()) }

// Suffix returns the end of the error's text, which names the page.
func (e *PageError) Suffix() string { return fmt.Sprintf("; the page %s points there", e.Page) }

func (e *PageError) Unwrap() error { return e.Err }

// LimitError says which of the [Limits] a package exceeds, and by how much if that is known. It wraps nothing; a
// [FetchError] that has one also has [ErrTooLarge], unless it is [LimitRun].
type LimitError = packagelimits.Error

// The limits of a [LimitError] that can be raised: [Limits.DownloadBytes], TreeBytes and Entries, and what all packages of
// a run of package installer may write to disk together.
const (
	LimitDownload = packagelimits.OfDownload
	LimitTree     = packagelimits.OfTree
	LimitEntries  = packagelimits.OfEntries
	LimitRun      = packagelimits.OfRun
)

// isTooLarge reports whether a package exceeds a limit alone.
func isTooLarge(err error) bool {
	over, ok := errors.AsType[*LimitError](err)
	return ok && over.Limit != LimitRun
}

func isOverLimit(err error) bool {
	_, over := errors.AsType[*LimitError](err)
	return over
}

// fetchError adds the sentinels of this package to errors about entries and limits.
func fetchError(shown string, err error) error {
	var unsafe *treewriter.PathError
	switch {
	case errors.As(err, &unsafe):
		err = fmt.Errorf("%w: %w", ErrUnsafeEntry, err)
	case isTooLarge(err) && !errors.Is(err, ErrTooLarge):
		err = fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return &FetchError{Package: shown, Err: err}
}

// SubmoduleError means that a module is in a git submodule, without [Request].Submodules.
type SubmoduleError struct {
	// Path is relative to the repository.
	Path string
}

func (e *SubmoduleError) Error() string {
	return fmt.Sprintf("%q in the repository is a git submodule, and submodules were not fetched", e.Path)
}
