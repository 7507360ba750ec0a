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
	"github.com/cotterpin/cotter/internal/signing"
)

// Kinds of failure, for errors.Is.
var (
	// ErrNotFound means that the source does not have the provider or the version.
	ErrNotFound = errors.New("not found")
	// ErrUnsupportedPlatform means that the version has no package for the platform.
	ErrUnsupportedPlatform = errors.New("no package for this platform")
)

// Why a registry does not prove a package, for errors.Is. The error is an *[AuthenticationError].
var (
	// ErrNoKeys means that the registry offers no key to check the signature with.
	ErrNoKeys = signing.ErrNoKeys
	// ErrUnknownKey means that none of the offered keys made the signature.
	ErrUnknownKey = signing.ErrUnknownKey
	// ErrInvalidSignature means that the signature does not match the document of sums, or has an
	// unsupported form. ErrMalformedSignature means that it cannot be read at all.
	ErrInvalidSignature   = signing.ErrInvalid
	ErrMalformedSignature = signing.ErrMalformed
	// ErrRevokedKey means that the owner of the key has revoked it.
	ErrRevokedKey = signing.ErrRevoked
	// ErrExpiredKey means that the key or the signature has expired, and that this is refused.
	ErrExpiredKey = signing.ErrExpired
	// ErrWeakSignature means that the signature can be forged with some effort.
	ErrWeakSignature = signing.ErrWeak
	// ErrOtherSum means that the signed document has a different sum for the archive, and ErrNoSum
	// that it has none.
	ErrOtherSum = signing.ErrOtherSum
	ErrNoSum    = signing.ErrNoSum
)

// RenamedError is returned for a provider that its registry does not have, if the registry knows
// which provider replaces it. It wraps [ErrNotFound].
type RenamedError struct {
	Provider, Now addrs.Provider
	// Err is the registry's error about Provider.
	Err error
}

func (e *RenamedError) Error() string {
	return fmt.Sprintf("%v; the registry has it as %s now", e.Err, e.Now.ForDisplay())
}

// Unwrap returns the registry's error.
func (e *RenamedError) Unwrap() error { return e.Err }

// MismatchError is returned if the hash of a package differs from the announced or locked hashes.
type MismatchError struct {
	// Location is where the package comes from; see [Package.Location].
	Location string
	// Want are the expected hashes, one of which should have matched. Got is the hash of the
	// content.
	Want []string
	Got  string
	// Locked reports whether Want are the hashes of the lock.
	Locked bool
}

func (e *MismatchError) Error() string {
	by := "announced"
	if e.Locked {
		by = "locked"
	}
	return fmt.Sprintf("%s: the package has the hash %s, not the %s %s", e.Location, e.Got, by, strings.Join(e.Want, ", "))
}

// archiveHash returns the zh of an archive with this SHA-256 sum.
func archiveHash(sum hash.Hash) hashing.Hash {
	return hashing.Hash(fmt.Sprintf("zh:%x", sum.Sum(nil)))
}

// checkSum returns a *[MismatchError] if an archive has none of the wanted hashes, if there are any.
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
	// Location is where the package comes from; see [Package.Location].
	Location string
	// Evidence is the evidence that the package has. It is zero if nothing confirms it.
	Evidence evidence.Evidence
}

func (e *UnconfirmedError) Error() string {
	if e.Evidence.Kind == evidence.Project {
		return e.Location + ": the package is from the project's own repository, and no origin has confirmed it"
	}
	return e.Location + ": no origin has confirmed the package"
}

// MissingPlatformError says that a store has a version of a provider, but not for the wanted
// platform.
type MissingPlatformError struct {
	// Store is the name of the store.
	Store    string
	Platform addrs.Platform
	// Platforms are the platforms for which the store has the version.
	Platforms []addrs.Platform
}

func (e *MissingPlatformError) Error() string {
	var names []string
	for _, platform := range e.Platforms {
		names = append(names, platform.String())
	}
	return fmt.Sprintf("%s does not have it for %s, only for %s", e.Store, e.Platform, strings.Join(names, ", "))
}
