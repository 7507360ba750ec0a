package providerstore

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/dirstore"
	"github.com/cotterpin/cotter/internal/filelock"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/internal/userkey"
)

// The directories of the store.
const (
	storeName      = "provider"
	packagesName   = "package"
	stageName      = "stage"
	quarantineName = "quarantine"
	fetchName      = "fetch"
	memoName       = "memo"
	proofName      = "proof"
	projectsName   = "project"
)

// Store is an open store. It must be closed. It is safe for concurrent use.
type Store struct {
	dir      string // "" if there is no store
	key      *userkey.Key
	writable bool
	scratch  string

	stages  sync.Mutex
	stage   *dirstore.Stage // nil until it is needed, if the store is not writable
	checked singleflight.Group[string, *Package]
	inUse   dirstore.InUse // the packages that are used until Close
}

// steps is the prefix of the names of the steps that change a store; see package step.
const steps = "provider"

// Open opens the store in the user's cache directory and creates it if necessary. If the store is
// not writable, it is used only for reading, and new packages are staged in scratch, a directory
// that is created when it is needed. The same is true if cacheDir is "".
func Open(cacheDir, scratch string, key *userkey.Key) *Store {
	s := View(cacheDir, key)
	s.scratch = scratch
	s.writable = s.dir != "" && s.makeDirs() == nil
	return s
}

// View opens the store in the user's cache directory for reading. It creates and changes nothing,
// even if there is no store.
func View(cacheDir string, key *userkey.Key) *Store {
	s := &Store{key: key}
	// The path must be absolute, because projects have links to it.
	if dir, err := filepath.Abs(cacheDir); err == nil && cacheDir != "" {
		s.dir = filepath.Join(dir, storeName)
	}
	return s
}

// makeDirs creates the directories of the store and this process's staging directory. It fails if
// the store is not writable.
func (s *Store) makeDirs() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	for _, name := range []string{packagesName, stageName, quarantineName, fetchName, memoName, proofName, projectsName} {
		if err := dirstore.MakeDir(filepath.Join(s.dir, name), steps); err != nil {
			return err
		}
	}
	made, err := dirstore.NewStage(filepath.Join(s.dir, stageName), steps)
	if err != nil {
		return err
	}
	s.stage = made
	return nil
}

// Close releases the packages in use and removes the staging directory.
func (s *Store) Close() error {
	s.stages.Lock()
	defer s.stages.Unlock()
	var err error
	if s.stage != nil {
		err = s.stage.Close()
		if !s.writable {
			_ = os.Remove(s.scratch) // if it is empty
		}
		s.stage = nil
	}
	return errors.Join(err, s.inUse.Close())
}

// Writable reports whether packages are kept in the store.
func (s *Store) Writable() bool { return s.writable }

// errNoScratch is returned if the store is not writable and there is no scratch directory.
var errNoScratch = errors.New("there is no directory for packages on their way")

// Stage returns a new path in the staging directory. Nothing exists there yet.
func (s *Store) Stage() (string, error) {
	s.stages.Lock()
	defer s.stages.Unlock()
	if s.stage == nil {
		if s.scratch == "" {
			return "", errNoScratch
		}
		if err := os.MkdirAll(s.scratch, 0o755); err != nil {
			return "", err
		}
		made, err := dirstore.NewStage(s.scratch, steps)
		if err != nil {
			return "", err
		}
		s.stage = made
	}
	return s.stage.Path(), nil
}

// waitNotice is how long a process waits before it calls onWait.
const waitNotice = time.Second

// LockArchive waits until no other process downloads the archive with this hash, and then holds a
// lock on the archive until release is called. The wait ends early if ctx is done. LockArchive
// calls onWait once if it has waited for a second. If the store is not writable, there is no
// lock.
func (s *Store) LockArchive(ctx context.Context, zh hashing.Hash, onWait func()) (release func(), err error) {
	if !s.writable || zh == "" {
		return func() {}, nil
	}
	lock := filelock.File(filepath.Join(s.dir, fetchName, fileName(zh)))
	if err := lock.Exclusive(ctx, waitNotice, onWait); ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), lock.Release())
	} else if err != nil {
		return func() {}, nil //nolint:nilerr // files cannot be locked here; at worst the archive is downloaded twice
	}
	return func() { _ = lock.Release() }, nil
}

// fileName returns the file name for a hash: its value in hexadecimal.
func fileName(h hashing.Hash) string {
	_, value, _ := strings.Cut(string(h), ":")
	if raw, err := base64.StdEncoding.DecodeString(value); err == nil && h.Scheme() == "h1" {
		return hex.EncodeToString(raw)
	}
	return value
}

// hashOf returns the h1 that a file name stands for, or "" if it is not such a name.
func hashOf(name string) hashing.Hash {
	raw, err := hex.DecodeString(name)
	if err != nil {
		return ""
	}
	h, err := hashing.ParseHash("h1:" + base64.StdEncoding.EncodeToString(raw))
	if err != nil || fileName(h) != name {
		return ""
	}
	return h
}
