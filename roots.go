package cotter

import (
	"context"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
)

// Roots finds the root modules at and below a directory: the directories whose
// configuration has module calls and which no other one below dir calls by a
// local path. They are what InstallAll is for. Directories whose names begin
// with a dot are passed over, .terraform among them, and links are not
// followed. The paths begin with dir and are sorted.
//
// Configuration that cannot be read makes its directory a root: Install says
// what is wrong with it. The error is about directories that cannot be listed,
// or ctx's.
func (in *Installer) Roots(ctx context.Context, dir string, dialect Dialect) ([]string, error) {
	dirs, err := directories(ctx, dir)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	calls, called := map[string]bool{}, map[string]bool{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * runtime.GOMAXPROCS(0)) // reading is work for processors
	for _, dir := range dirs {
		group.Go(func() error {
			config, err := in.config(Request{Dir: dir})
			if err != nil {
				return err
			}
			found, diags := config.ReadCalls(ctx, ConfigDir{Dir: dir, Display: dir, Dialect: dialect})
			mu.Lock()
			defer mu.Unlock()
			calls[dir] = len(found) > 0 || diags.HasErrors()
			for _, call := range found {
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
	return slices.DeleteFunc(dirs, func(dir string) bool { return !calls[dir] || called[filepath.Clean(dir)] }), nil
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
