package getmodules

import (
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/treewriter"
)

// The reasons why a package could not be fetched, for all kinds of sources. Errors of Fetch and
// ExtractArchive wrap them.
var (
	// ErrUnsupportedScheme means that there is no getter for this kind of address.
	ErrUnsupportedScheme = errors.New("unsupported kind of address")
	// ErrRefusedLocation means that a package's own configuration, or a server's answer, points
	// to a location that is not allowed there.
	ErrRefusedLocation = git.ErrRefused
	// ErrNotArchive means that the received file is not an archive of the
	// expected format.
	ErrNotArchive = errors.New("not an archive of the expected kind")
	// ErrUnsupportedArchive means that the format of an archive, or a feature that it uses, is
	// not supported.
	ErrUnsupportedArchive = errors.New("unsupported archive format")
	// ErrUnsafeArchive means that an archive is damaged, or that programs can
	// read it in different ways.
	ErrUnsafeArchive = errors.New("the archive is damaged or ambiguous")
	// ErrUnsafeEntry means that a package contains an entry that is refused: an unsafe name, a
	// hard link, a device. Package cotter returns it for a module that needs one of the links
	// in [Package].LeftOut.
	ErrUnsafeEntry = errors.New("the package holds an entry that is refused")
	// ErrEmpty means that a package has no files.
	ErrEmpty = errors.New("the package has no files")
	// ErrTooLarge means that a package exceeds one of its [Limits].
	ErrTooLarge = git.ErrTooLarge
	// ErrChecksum means that an archive does not match the checksum argument of
	// its address.
	ErrChecksum = errors.New("the archive does not match the checksum of its address")
	// ErrNoLocation means that a web page does not name the location of a package; see the
	// package comment.
	ErrNoLocation = errors.New("the page names no module package")
)

// FetchError is returned if a package could not be fetched.
type FetchError struct {
	// Package is the requested address, redacted. It is "" for [ExtractArchive], which has no
	// address.
	Package string
	Err     error
}

// maxShownAddress bounds the length of an address in a message, in characters.
const maxShownAddress = 1024

func (e *FetchError) Error() string {
	if e.Package == "" {
		return fmt.Sprint(e.Err)
	}
	return fmt.Sprintf("cannot fetch %.*q: %v", maxShownAddress, e.Package, e.Err)
}

func (e *FetchError) Unwrap() error { return e.Err }

// PageError is the part of a [FetchError] about an address that the user did not write, because a web
// page pointed to it.
type PageError struct {
	// Page is the address of the page, and Package the address that it points to, redacted.
	Page, Package string
	Err           error
}

func (e *PageError) Error() string { return fmt.Sprintf("the page points to %q: %v", e.Package, e.Err) }

func (e *PageError) Unwrap() error { return e.Err }

// fetchError returns a *FetchError. It wraps errors of package treewriter in the sentinels of
// this package.
func fetchError(shown string, err error) error {
	var unsafe *treewriter.PathError
	var large *treewriter.LimitError
	switch {
	case errors.As(err, &unsafe):
		err = fmt.Errorf("%w: %w", ErrUnsafeEntry, err)
	case errors.As(err, &large):
		err = fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return &FetchError{Package: shown, Err: err}
}

// SubmoduleError means that a module is in a git submodule that was not fetched, because
// [Request].Submodules was not set.
type SubmoduleError struct {
	// Path is the submodule's path in its repository.
	Path string
}

func (e *SubmoduleError) Error() string {
	return fmt.Sprintf("%q in the repository is a git submodule, and submodules were not fetched", e.Path)
}
