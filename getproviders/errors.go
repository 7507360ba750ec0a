package getproviders

import (
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/provider/signing"
)

// Kinds of failure, for errors.Is.
var (
	// ErrNotFound means that the source does not have the provider or the version.
	ErrNotFound = errors.New("not found")
	// ErrUnsupportedPlatform means that the version has no package for the platform.
	ErrUnsupportedPlatform = errors.New("no package for this platform")
)

// Why a registry does not prove a package; the error is an *[AuthenticationError].
var (
	ErrNoKeys     = signing.ErrNoKeys
	ErrUnknownKey = signing.ErrUnknownKey
	// ErrInvalidSignature also means an unsupported form, and ErrMalformedSignature that it cannot be read.
	ErrInvalidSignature   = signing.ErrInvalid
	ErrMalformedSignature = signing.ErrMalformed
	ErrRevokedKey         = signing.ErrRevoked
	// ErrExpiredKey means that the key or the signature has expired, and that this is refused.
	ErrExpiredKey = signing.ErrExpired
	// ErrWeakSignature means that the signature can be forged with some effort.
	ErrWeakSignature = signing.ErrWeak
	// ErrOtherSum means that the signed document has another sum for the archive, and ErrNoSum that it has
	// none.
	ErrOtherSum = signing.ErrOtherSum
	ErrNoSum    = signing.ErrNoSum
)

// RenamedError is returned if a registry does not have a provider, but knows which one replaces it. It
// wraps [ErrNotFound].
type RenamedError struct {
	Provider, Now addrs.Provider
	// Err is the registry's error about Provider.
	Err error
}

func (e *RenamedError) Error() string {
	return fmt.Sprintf("%v; the registry has it as %s now", e.Err, e.Now.ForDisplay())
}

func (e *RenamedError) Unwrap() error { return e.Err }

// MismatchError is returned if a package does not have the announced or locked hashes.
type MismatchError struct {
	// Location is that of [Package.Location].
	Location string
	// Want are the hashes of which Got, that of the content, should have been one.
	Want []string
	Got  string
	// Locked says that Want are those of the lock.
	Locked bool
	// OtherPlatforms says that Want may be hashes of packages for other platforms: they are not the complete list
	// that a registry signs, and hashes do not name their platform.
	OtherPlatforms bool
}

func (e *MismatchError) Error() string {
	by := "announced"
	if e.Locked {
		by = "locked"
	}
	return fmt.Sprintf("%s: the package has the hash %s, not the %s %s", e.Location, e.Got, by, strings.Join(e.Want, ", "))
}

func archiveHash(sum hash.Hash) hashing.Hash {
	return hashing.Hash(fmt.Sprintf("zh:%x", sum.Sum(nil)))
}

// checkSum returns a *[MismatchError] if an archive has none of the wanted hashes, if any.
func checkSum(location string, sum hash.Hash, want ...hashing.Hash) error {
	got := archiveHash(sum)
	if len(want) == 0 || slices.Contains(want, got) {
		return nil
	}
	e := &MismatchError{Location: location, Got: string(got)}
	for _, h := range want {
		e.Want = append(e.Want, string(h))
	}
	return e
}

// UnconfirmedError is returned for a package whose evidence is not enough for a run.
type UnconfirmedError struct {
	// Location is that of [Package.Location].
	Location string
	// Evidence is zero if nothing confirms the package.
	Evidence evidence.Evidence
}

func (e *UnconfirmedError) Error() string {
	if e.Evidence.Kind == evidence.Project {
		return e.Location + ": the package is from the project's own repository, and no origin has confirmed it"
	}
	return e.Location + ": no origin has confirmed the package"
}

// MissingPlatformError says that a store has a version, but not for the wanted platform.
type MissingPlatformError struct {
	Store     string
	Platform  addrs.Platform
	Platforms []addrs.Platform
}

func (e *MissingPlatformError) Error() string {
	var names []string
	for _, platform := range e.Platforms {
		names = append(names, platform.String())
	}
	return fmt.Sprintf("%s does not have it for %s, only for %s", e.Store, e.Platform, strings.Join(names, ", "))
}
