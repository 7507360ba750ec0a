package cotter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/configs"
)

// ProjectError is what failed in one of the configurations that InstallAll
// installs.
type ProjectError struct {
	// Dir is the root module's directory, as InstallAll got it.
	Dir string
	// Err is what Install returned.
	Err error
}

func (e *ProjectError) Error() string { return fmt.Sprintf("%s: %s", e.Dir, e.Err) }

func (e *ProjectError) Unwrap() error { return e.Err }

// InstallAll is Install for several root modules at once, each as req says but
// for its directory. Each version, tag and package is asked for once, whichever
// of them want it. A project that fails leaves the others alone: the results
// are in the order of dirs, nil where a project failed, and the error joins a
// *[ProjectError] for each of those. What req.Update names need not be in each of them.
//
// onEvent takes the place of in.OnEvent and is told whose event it is, "" for what
// concerns all of them; it is never called twice at once. nil is fine.
func (in *Installer) InstallAll(ctx context.Context, dirs []string, req Request, onEvent func(dir string, event Event)) ([]*Result, error) {
	results := make([]*Result, len(dirs))
	err := in.forEachProject(dirs, req, onEvent, func(i int, req Request, shared *session, events *events) error {
		req.Update = req.Update.ofSeveral()
		result, err := in.install(ctx, req, shared.key, shared, events)
		if err == nil {
			results[i] = result
		}
		return err
	})
	if err != nil {
		return results, err
	}
	return results, errors.Join(req.Update.missing(results)...)
}

// forEachProject calls work for several root modules side by side, with the number and
// the request of each and a session that all of them share. One that fails leaves the
// others alone; the error joins a *ProjectError for each of those.
func (in *Installer) forEachProject(dirs []string, req Request, onEvent func(string, Event), work func(int, Request, *session, *events) error) error {
	serial := serialEvents(onEvent)
	all := &events{fn: serial("")}
	key, err := in.userKey(all)
	if err != nil {
		return err
	}
	shared, done, err := in.sharedSession(key)
	if err != nil {
		return err
	}
	defer done()
	shared.warnOfCache(all)
	failures := make([]error, len(dirs))
	var group errgroup.Group
	group.SetLimit(in.parallel())
	for i, dir := range dirs {
		group.Go(func() error {
			req, err := req.inDir(dir)
			if err == nil {
				err = work(i, req, shared, &events{fn: serial(dir)})
			}
			if err != nil {
				failures[i] = &ProjectError{dir, err}
			}
			return nil // the others go on
		})
	}
	_ = group.Wait() // failures are kept one by one
	return errors.Join(failures...)
}

// inDir returns the request for one root module of several.
func (r Request) inDir(dir string) (Request, error) {
	r.Dir = dir
	if r.ForDir == nil {
		return r, nil
	}
	return r.ForDir(r)
}

// serialEvents makes callbacks for single projects out of the one for all.
func serialEvents(onEvent func(string, Event)) func(dir string) func(Event) {
	if onEvent == nil {
		return func(string) func(Event) { return nil }
	}
	var mu sync.Mutex
	return func(dir string) func(Event) {
		return func(event Event) {
			mu.Lock()
			defer mu.Unlock()
			onEvent(dir, event)
		}
	}
}

// Roots finds the root modules at and below a directory: the directories with module
// calls, the configuration of a provider, a backend or cloud block, or configuration
// beside a lock, which no other one below dir calls by a local path. They are what
// InstallAll is for. Directories whose names begin with a dot are passed over,
// .terraform among them, and links are not followed. The paths begin with dir and are
// sorted.
//
// Configuration that cannot be read makes its directory a root: Install says what is
// wrong with it. The error is about directories that cannot be listed, or ctx's.
func (in *Installer) Roots(ctx context.Context, dir string, dialect Dialect) ([]string, error) {
	dirs, err := directories(ctx, dir)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	isRoot, called := map[string]bool{}, map[string]bool{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * runtime.GOMAXPROCS(0)) // reading is work for processors
	for _, dir := range dirs {
		group.Go(func() error {
			config, err := in.config(Request{Dir: dir})
			if err != nil {
				return err
			}
			found, diags := config.ReadModule(ctx, ConfigDir{Dir: dir, Display: dir, Dialect: dialect})
			root := len(found.Calls) > 0 || diags.HasErrors() || installsProviders(ctx, dir, dialect)
			mu.Lock()
			defer mu.Unlock()
			isRoot[dir] = root
			for _, call := range found.Calls {
				if source, err := addrs.ParseModuleSource(call.Source); err == nil {
					if local, ok := source.(addrs.ModuleSourceLocal); ok {
						called[filepath.Join(dir, filepath.FromSlash(local.String()))] = true
					}
				}
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !isRoot[dir] || called[filepath.Clean(dir)] }), nil
}

// installsProviders reports whether a directory without module calls looks like a root
// module, of which the providers are to be installed.
func installsProviders(ctx context.Context, dir string, dialect Dialect) bool {
	reader, at := configs.Reader{Terraform: dialect == DialectTerraform}, configs.Dir{Path: dir}
	if exists(filepath.Join(dir, lockFileName)) {
		empty, err := reader.Empty(at)
		return err == nil && !empty
	}
	return reader.HasRootBlocks(ctx, at)
}

// directories are those at and below dir that may hold somebody's modules.
func directories(ctx context.Context, dir string) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return ctx.Err()
		case name != dir && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		}
		dirs = append(dirs, name)
		return nil
	})
	return dirs, err
}
