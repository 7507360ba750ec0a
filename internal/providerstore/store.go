package providerstore

import (
	"context"
	"errors"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/userkey"
)

// Store is an open store. It must be closed. It is safe for concurrent use.
type Store struct{}

// Open opens the store in the user's cache directory, and makes it if it is absent. A
// store that cannot be written is used for reading; what is not in it is staged in
// scratch, a directory that is made when it is needed. The same holds if cacheDir is "".
func Open(cacheDir, scratch string, key *userkey.Key) (*Store, error) { panic("unfinished") }

// Close releases the packages in use and removes what is staged.
func (s *Store) Close() error { panic("unfinished") }

// Writable reports whether packages are kept in the store.
func (s *Store) Writable() bool { panic("unfinished") }

// ErrDamaged is returned if a package in the store does not have the hash of its name.
// It was moved to quarantine.
var ErrDamaged = errors.New("the stored package does not have the hash of its name")

// Package is an unpacked package, in the store or on the stage.
type Package struct {
	H1 hashing.Hash
	// Dir is its directory.
	Dir string
}

// Find returns the stored package that has one of these hashes (h1 or zh; others are
// ignored), or nil. Its content was checked against the hash: by its record if no file
// has changed since, or else in full.
func (s *Store) Find(ctx context.Context, hashes []hashing.Hash) (*Package, error) {
	panic("unfinished")
}

// UnpacksTo returns the h1 of what the archive with this zh holds, if this user has
// unpacked it once; otherwise "".
func (s *Store) UnpacksTo(zh hashing.Hash) hashing.Hash { panic("unfinished") }

// Matches returns the hash, of those that a lock has, that a package with this h1
// matches: the h1 itself, or the zh of an archive that holds it. "" means none.
func (s *Store) Matches(h1 hashing.Hash, locked []hashing.Hash) hashing.Hash { panic("unfinished") }

// Entry is a package in the store.
type Entry struct {
	// Name is its file name.
	Name  string
	Bytes int64
	// Used is when it was last placed in a project, to the hour.
	Used time.Time
}

// Entries returns the packages of the store in a cache directory, sorted by name.
func Entries(cacheDir string) ([]Entry, error) { panic("unfinished") }

// Remove removes a package unless a process uses it, and reports whether it did.
// Projects that have links to it have to install it again.
func (s *Store) Remove(name string) (bool, error) { panic("unfinished") }

// Check hashes a package in full. The error wraps [ErrDamaged] if it is not what its
// name says.
func (s *Store) Check(ctx context.Context, name string) error { panic("unfinished") }
