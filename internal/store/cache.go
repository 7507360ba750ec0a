package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/internal/store/userkey"
)

type content interface {
	Entries() ([]Entry, error)
	Check(ctx context.Context, name string) error
	QuarantineSize() (int64, error)
	Close() error
}

// kinds are in the order in which they are verified. open is for changes.
var kinds = []struct {
	view func(dir string) content
	open func(dir string) (content, error)
}{
	{
		view: func(dir string) content { return ViewProviders(dir, userkey.Random()) },
		open: func(dir string) (content, error) { return OpenProviders(dir, "", userkey.Random()), nil },
	},
	{
		view: func(dir string) content { return ViewModules(dir, userkey.Random()) },
		open: func(dir string) (content, error) { return OpenModules(dir, userkey.Random()) },
	},
}

// Usage is what a cache has, or what was removed from it.
type Usage struct {
	// Git are bare git repositories.
	Modules, Git, Providers Count
	// Linked are the provider packages that projects link to, in the result of Clean those that were kept
	// for this.
	Linked Count
	// QuarantineBytes is the size of damaged packages.
	QuarantineBytes int64
}

func (u Usage) Bytes() int64 {
	return u.Modules.Bytes + u.Git.Bytes + u.Providers.Bytes + u.QuarantineBytes
}

// Count also has the size of the files.
type Count struct {
	Number int
	Bytes  int64
}

func (c *Count) add(bytes int64) {
	c.Number++
	c.Bytes += bytes
}

func countOf(entries []Entry, counts func(Entry) bool) (c Count) {
	for _, entry := range entries {
		if counts(entry) {
			c.add(entry.Bytes)
		}
	}
	return c
}

func every(Entry) bool { return true }

// Cache is a user's cache. Everything in it can be fetched again, so all of it may be removed at any time,
// even while other processes use it.
//
// Projects have links to provider packages in the cache. Installations record these projects in the cache,
// sealed with the user's key. Without that key no project is known.
type Cache struct {
	Dir string
	// StateKey is the secret of the user's key, or "" if the key is in StateDir.
	StateDir, StateKey string
}

// CheckKey reads the user's key. The error wraps [userkey.ErrShortSecret] for a secret that is too short,
// and fs.ErrNotExist if there is no key yet.
func (c Cache) CheckKey() error {
	_, err := c.readKey()
	return err
}

func (c Cache) readKey() (*userkey.Key, error) {
	if c.StateKey != "" {
		return userkey.FromSecret(c.StateKey)
	}
	return userkey.Read(c.StateDir)
}

// key returns the user's key, or a random one if the user has no key yet. A key that cannot be used is an
// error, because the user's projects would not be recognized.
func (c Cache) key() (*userkey.Key, error) {
	if c.StateKey == "" && c.StateDir == "" {
		return userkey.Random(), nil
	}
	key, err := c.readKey()
	switch {
	case err == nil || c.StateKey != "":
		return key, err
	case errors.Is(err, fs.ErrNotExist):
		return userkey.Random(), nil
	}
	return nil, fmt.Errorf("the user's key in %s cannot be used, so the projects with links to the cache are not known: %w", c.StateDir, err)
}

// Check returns a *[pathsafe.ExposedError] if other users can exchange what is in Dir or StateDir.
// Installations do not use such a directory.
func (c Cache) Check() error {
	if c.StateKey != "" {
		return pathsafe.CheckOwners(c.Dir)
	}
	return pathsafe.CheckOwners(c.Dir, c.StateDir)
}

// Size measures the cache, which is empty if its directory does not exist. If the user's key cannot be
// used, nothing is Linked, and Projects returns the error.
func (c Cache) Size(ctx context.Context) (u Usage, err error) {
	key, err := c.key()
	if err != nil {
		key = userkey.Random() // Projects returns the error
	}
	modules, moduleErr := ViewModules(c.Dir, key).Entries()
	repositories, gitErr := gitexec.CachedStores(c.Dir)
	for _, r := range repositories {
		bytes, err := Size(r.Dir)
		u.Git.add(bytes)
		gitErr = cmp.Or(gitErr, err)
	}
	stored := ViewProviders(c.Dir, key)
	providers, providerErr := stored.Entries()
	links, linksErr := stored.Links(ctx)
	u.Modules, u.Providers, u.Linked = countOf(modules, every), countOf(providers, every), countOf(providers, links.has)
	u.QuarantineBytes, err = quarantined(c.Dir)
	return u, errors.Join(moduleErr, gitErr, providerErr, linksErr, err)
}

func quarantined(dir string) (sum int64, err error) {
	for _, k := range kinds {
		size, sizeErr := k.view(dir).QuarantineSize()
		sum += size
		err = errors.Join(err, sizeErr)
	}
	return sum, err
}

// Verify hashes every package in the cache. It moves packages whose hash differs from their name
// to quarantine and returns their names. Installations verify the packages that they use in any
// case.
func (c Cache) Verify(ctx context.Context) (damaged []string, err error) {
	for _, k := range kinds {
		entries, err := k.view(c.Dir).Entries()
		if err != nil {
			return damaged, err
		}
		if len(entries) == 0 {
			continue // opening would create directories
		}
		opened, err := k.open(c.Dir)
		if err != nil {
			return damaged, err
		}
		for _, entry := range entries {
			checkErr := cmp.Or(ctx.Err(), opened.Check(ctx, entry.Name))
			switch {
			case errors.Is(checkErr, ErrDamaged):
				damaged = append(damaged, entry.Name)
			case !errors.Is(checkErr, fs.ErrNotExist):
				err = cmp.Or(err, checkErr)
			}
		}
		if err := errors.Join(err, opened.Close()); err != nil {
			return damaged, err
		}
	}
	return damaged, nil
}

// Project is a project of the user that has links to provider packages in the cache.
type Project struct {
	// Dir is the absolute path of the root module.
	Dir string `json:"dir"`
	// Providers is the number of packages that it links to.
	Providers int   `json:"providers"`
	Bytes     int64 `json:"bytes"`
}

// Projects returns the projects of the user that link to provider packages that were not used for the
// given time, sorted by directory. foreign is the number of recorded projects that this user has not
// installed. They are not looked at.
func (c Cache) Projects(ctx context.Context, olderThan time.Duration) (projects []Project, foreign int, err error) {
	key, err := c.key()
	if err != nil {
		return nil, 0, err
	}
	stored := ViewProviders(c.Dir, key)
	links, err := stored.Links(ctx)
	if err != nil {
		return nil, 0, err
	}
	entries, err := stored.Entries()
	if err != nil {
		return nil, 0, err
	}
	limit := time.Now().Add(-olderThan)
	for _, p := range links.known {
		used := countOf(entries, func(e Entry) bool { return slices.Contains(p.packages, e.Name) && !e.Used.After(limit) })
		if used.Number > 0 {
			projects = append(projects, Project{p.root, used.Number, used.Bytes})
		}
		if p.foreign {
			foreign++
		}
	}
	slices.SortFunc(projects, func(a, b Project) int { return strings.Compare(a.Dir, b.Dir) })
	return projects, foreign, nil
}

// Clean removes everything that was not used for a time, except for provider packages that projects of this
// user link to. A project that no longer exists, or was moved or copied since its last installation, does
// not count. Packages that a process is using are kept. Damaged packages are always removed.
//
// If all is set, Clean removes the linked packages too, and does not need the user's key. Stock tools cannot
// use these projects until they are installed again; see Projects.
func (c Cache) Clean(ctx context.Context, olderThan time.Duration, all bool) (freed Usage, err error) {
	key, err := c.key()
	switch {
	case err != nil && !all:
		return freed, err
	case err != nil:
		key = userkey.Random() // no project has to be known
	}
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		return freed, nil //nolint:nilerr // there is no cache
	}
	limit := time.Now().Add(-olderThan)
	if freed.QuarantineBytes, err = quarantined(c.Dir); err != nil {
		return freed, err
	}
	if err := cleanProviders(ctx, c.Dir, key, limit, all, &freed); err != nil {
		return freed, err
	}
	if err := cleanModules(ctx, c.Dir, limit, &freed); err != nil {
		return freed, err
	}
	repositories, err := gitexec.CachedStores(c.Dir)
	for _, r := range repositories {
		if r.Used.After(limit) {
			continue
		}
		bytes, _ := Size(r.Dir) // even if it cannot be measured, it can often be removed
		if err := r.Remove(); err != nil {
			return freed, err
		}
		freed.Git.add(bytes)
	}
	return freed, err
}

func cleanModules(ctx context.Context, dir string, limit time.Time, freed *Usage) (err error) {
	modules, err := OpenModules(dir, userkey.Random())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, modules.Close()) }()
	entries, listErr := modules.Entries()
	if freed.Modules, _, err = clean(ctx, entries, limit, modules.Remove); err != nil {
		return err
	}
	return errors.Join(listErr, modules.Forget(limit), modules.RemoveQuarantine())
}

func cleanProviders(ctx context.Context, dir string, key *userkey.Key, limit time.Time, all bool, freed *Usage) (err error) {
	stored := ViewProviders(dir, key)
	entries, err := stored.Entries()
	if err != nil {
		return err
	}
	if damaged, err := stored.QuarantineSize(); len(entries) == 0 && damaged == 0 {
		return err // there may be no store of providers
	}
	providers := OpenProviders(dir, "", key)
	defer func() { err = errors.Join(err, providers.Close()) }()
	links, err := providers.Links(ctx)
	if err != nil {
		return err
	}
	var kept []Entry
	freed.Providers, kept, err = clean(ctx, entries, limit, func(name string) (bool, error) {
		if all {
			return providers.Remove(name)
		}
		return providers.RemoveUnlinked(ctx, name, links)
	})
	if err != nil {
		return err
	}
	needed := make(map[string]bool) // packages whose memos are kept
	if !all {
		freed.Linked = countOf(kept, links.has)
		for _, entry := range kept {
			needed[entry.Name] = links.has(entry)
		}
	}
	return errors.Join(providers.Forget(limit, needed), providers.ForgetProjects(links), providers.RemoveQuarantine())
}

// clean calls remove for entries that were not used since a time, and returns what was removed and kept.
func clean(ctx context.Context, entries []Entry, limit time.Time, remove func(name string) (bool, error)) (removed Count, kept []Entry, err error) {
	for _, entry := range entries {
		if entry.Used.After(limit) {
			continue
		}
		ok, err := remove(entry.Name)
		switch err := errors.Join(ctx.Err(), err); {
		case err != nil:
			return removed, kept, err
		case ok:
			removed.add(entry.Bytes)
		default:
			kept = append(kept, entry)
		}
	}
	return removed, kept, nil
}
