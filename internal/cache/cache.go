package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/userkey"
)

// Cache is a user's cache, in the directory that [installer.Installer].CacheDir names. Everything in it
// can be fetched again, so all of it may be removed at any time, even while other processes
// use it.
//
// Projects have links to provider packages in the cache. Installations record in the cache
// which projects these are, for the user whose key StateDir or StateKey names. Without that
// key no project is known.
type Cache struct {
	Dir string
	// StateDir and StateKey are as in [installer.Installer].
	StateDir, StateKey string
}

// CheckKey reads the key that proves which files this user has written: StateKey, or the key in
// StateDir. The error wraps [installer.ErrShortStateKey] for a secret that is too short, and
// fs.ErrNotExist if no key exists yet.
func (c Cache) CheckKey() error {
	if c.StateKey != "" {
		_, err := userkey.FromSecret(c.StateKey)
		return err
	}
	_, err := userkey.Read(c.StateDir)
	return err
}

// ExposedError says which directories expose the cache or the state to other users.
type ExposedError = pathsafe.ExposedError

// Check returns a *[ExposedError] if other users can exchange what is in Dir or StateDir.
// Installations do not use such a directory.
func (c Cache) Check() error {
	if c.StateKey != "" {
		return pathsafe.CheckOwners(c.Dir)
	}
	return pathsafe.CheckOwners(c.Dir, c.StateDir)
}

// key returns the user's key, or a random one if the user has no key yet. A key that cannot be used is an
// error, because the user's projects would not be recognized.
func (c Cache) key() (*userkey.Key, error) {
	switch {
	case c.StateKey != "":
		return userkey.FromSecret(c.StateKey)
	case c.StateDir == "":
		return userkey.Random(), nil
	}
	key, err := userkey.Read(c.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return userkey.Random(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("the user's key in %s cannot be used, so the projects with links to the cache are not known: %w", c.StateDir, err)
	}
	return key, nil
}

// Usage is what a cache has, or what was removed from it.
type Usage = store.Usage

// Size measures the cache. A directory that does not exist counts as an empty cache. If the
// user's key cannot be used, LinkedProviders is 0, and Projects returns the error.
func (c Cache) Size(ctx context.Context) (Usage, error) {
	key, err := c.key()
	if err != nil {
		key = userkey.Random() // Projects returns the error
	}
	return store.UsageOf(ctx, c.Dir, key)
}

// Verify hashes every package in the cache, sets aside those that do not match their names,
// and returns the names of these. Installations check each package that they take out of
// the cache in any case.
func (c Cache) Verify(ctx context.Context) (damaged []string, err error) {
	return store.Verify(ctx, c.Dir)
}

// Project is a project of this user that has links to provider packages in the cache.
type Project = store.Project

// Projects returns the projects of this user with links to provider packages that have not been
// used for olderThan, in the order of their directories. foreign is the number of recorded
// projects that other users of the cache have installed, or this user with another key. They are
// not looked at.
func (c Cache) Projects(ctx context.Context, olderThan time.Duration) (projects []Project, foreign int, err error) {
	key, err := c.key()
	if err != nil {
		return nil, 0, err
	}
	return store.Projects(ctx, c.Dir, key, olderThan)
}

// Clean removes everything that has not been used for olderThan; 0 removes everything. It
// keeps packages that a process is using, and provider packages that projects of this user
// link to. A project that no longer exists, or was moved or copied since its last installation,
// does not count. Damaged packages are always removed.
func (c Cache) Clean(ctx context.Context, olderThan time.Duration) (freed Usage, err error) {
	return c.clean(ctx, store.Cleaning{OlderThan: olderThan})
}

// CleanAll is like Clean, but also removes provider packages that projects link to. Stock tools
// cannot use these projects until they are installed again; see Projects. It does not need the
// user's key.
func (c Cache) CleanAll(ctx context.Context, olderThan time.Duration) (freed Usage, err error) {
	return c.clean(ctx, store.Cleaning{OlderThan: olderThan, All: true})
}

func (c Cache) clean(ctx context.Context, cleaning store.Cleaning) (freed Usage, err error) {
	if cleaning.Key, err = c.key(); err != nil && !cleaning.All {
		return freed, err
	} else if err != nil {
		cleaning.Key = userkey.Random() // no project has to be known
	}
	return store.Clean(ctx, c.Dir, cleaning)
}
