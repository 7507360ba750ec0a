package getmodules

import (
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/treewriter"
)

// Why a package could not be fetched, whatever it came from. errors.Is finds
// them in what Fetch and ExtractArchive return.
var (
	// ErrUnsupportedScheme says that nothing here fetches from such addresses.
	ErrUnsupportedScheme = errors.New("unsupported kind of address")
	// ErrRefusedLocation says that a package's own configuration, or a
	// server's answer, points to a location that it must not point to.
	ErrRefusedLocation = git.ErrRefused
	// ErrNotArchive says that what was received is not an archive of the expected
	// format.
	ErrNotArchive = errors.New("not an archive of the expected kind")
	// ErrUnsupportedArchive says that an archive is in a format, or uses a
	// feature of its format, that is not read here.
	ErrUnsupportedArchive = errors.New("unsupported archive format")
	// ErrUnsafeArchive says that an archive is damaged, or made in a way that
	// programs read in different ways.
	ErrUnsafeArchive = errors.New("the archive is damaged or ambiguous")
	// ErrUnsafeEntry says that a package holds what it must not: unsafe names,
	// hard links, devices. Package cotter returns it for a module that needs one of
	// the links in [Package].LeftOut.
	ErrUnsafeEntry = errors.New("the package holds an entry that is refused")
	// ErrEmpty says that a package has no files.
	ErrEmpty = errors.New("the package has no files")
	// ErrTooLarge says that a package is over one of its [Limits].
	ErrTooLarge = git.ErrTooLarge
	// ErrChecksum says that an archive is not what the address's checksum
	// argument says.
	ErrChecksum = errors.New("the archive does not match the checksum of its address")
	// ErrNoLocation says that a web page named no package. Only pages in
	// directory mode do; see the package comment.
	ErrNoLocation = errors.New("the page names no module package")
)

// FetchError is a package that could not be fetched.
type FetchError struct {
	// Package is the address that was to be fetched, redacted. It is "" for
	// [ExtractArchive], which knows none.
	Package string
	Err     error
}

// maxShownAddress is how many characters of an address a message repeats.
const maxShownAddress = 1024

func (e *FetchError) Error() string {
	if e.Package == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("cannot fetch %.*q: %s", maxShownAddress, e.Package, e.Err)
}

func (e *FetchError) Unwrap() error { return e.Err }

// fetchError makes a *FetchError, in which the errors of treewriter are found
// by our sentinels.
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
