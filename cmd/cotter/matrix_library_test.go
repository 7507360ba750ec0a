//go:build linux || darwin

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// library calls what commands are made of, as a program does that embeds package installer: with the cache, the
// key and the settings of the user.
func (s *matrixState) library(t *testing.T) {
	t.Helper()
	in, p := s.embedded(t)
	complete := s.state != freshCheckout
	loaded, err := in.Load(t.Context(), p, installer.LoadOptions{Providers: true, FromLock: !complete})
	s.ended(t, "Load", err)
	if err == nil {
		s.facts.result(t, s.name("Load"), loaded)
	}
	outdated, err := in.Outdated(t.Context(), p, installer.OriginOptions{})
	s.ended(t, "Outdated", err)
	if err == nil {
		s.facts.outdated(t, s.name("Outdated"), outdated)
	}
	if s.state == justInstalled {
		report, err := in.Verify(t.Context(), p, installer.VerifyOptions{})
		if err == nil && (!report.OK() || len(report.Unread) > 0) {
			err = errors.Join(append(report.Problems(), report.Unread...)...)
		}
		s.ended(t, "Verify", err)
		result, err := walkSession(t, in, p, loaded)
		s.ended(t, "Session", err)
		if err == nil {
			s.facts.result(t, s.name("Session"), result)
		}
	}
	if s.lock != nil && s.state != installedByStock {
		s.diff(t, in, p)
	}
}

func (s *matrixState) diff(t *testing.T, in *installer.Installer, p installer.Project) {
	t.Helper()
	diffs, err := installerinternal.DiffInterfaces(t.Context(), in, p, false, pinnedLock(s.lock), s.lock)
	for _, d := range diffs {
		err = errors.Join(err, d.Err)
		if len(d.Changes) > 0 {
			t.Errorf("%s: the same package of %s has the changes %v", s.name("DiffInterfaces"), d.Path, d.Changes)
		}
	}
	s.ended(t, "DiffInterfaces", err)
}

// embedded returns an installer like that of the command, and the project with its settings.
func (s *matrixState) embedded(t *testing.T) (*installer.Installer, installer.Project) {
	t.Helper()
	values := make(map[string]string)
	for _, entry := range s.user.environment() {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	env := func(name string) string { return values[name] }
	req := request{Project: installer.Project{Dir: s.dir, DataDir: s.root.dataDir, Tools: tools(env)}}
	req.Inputs.Environment = make(map[string]string)
	for name, value := range values {
		if name, ok := strings.CutPrefix(name, "TF_VAR_"); ok {
			req.Inputs.Environment[name] = value
		}
	}
	req, err := applySettings(&invocation{Command: installCommand(&output{})}, env, req)
	testenv.Must(t, err)
	world := s.root.world
	return installer.New(installer.Options{
		HTTPClient: world.HTTPClient(), Services: matrixServices(world),
		Fetcher:  &getmodules.Fetcher{Git: getmodules.Git{Env: s.user.environment()}},
		CacheDir: s.user.cache, StateDir: s.user.locate("@state"),
	}), req.Project
}

// walkSession asks a session for every module, reads the files that it gives, and ends with the result of a run
// that may change nothing.
func walkSession(t *testing.T, in *installer.Installer, p installer.Project, loaded *installer.Result) (_ *installer.Result, err error) {
	t.Helper()
	p.Dialect = loaded.Dialect
	s, err := in.Begin(t.Context(), p, installer.InstallOptions{Locked: true, DryRun: true, Scope: installer.ScopeModules})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	reader, err := installer.DefaultConfigReader(p)
	if err != nil {
		return nil, err
	}
	var walking sync.WaitGroup
	var mu sync.Mutex
	var failed error
	fail := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failed = errors.Join(failed, err)
	}
	var below func(ctx context.Context, path addrs.Module, dir config.Dir)
	below = func(ctx context.Context, path addrs.Module, dir config.Dir) {
		dir.Path, dir.Terraform = path, p.Dialect == installer.DialectTerraform
		found, diags := reader.ReadModule(ctx, dir)
		if diags.HasErrors() {
			fail(diags)
		}
		s.Expect(path, found.Calls...)
		for _, c := range found.Calls {
			walking.Go(func() {
				m, err := s.Module(ctx, path, c)
				if err != nil {
					fail(err)
					return
				}
				copied, err := copyModule(t, m.Files)
				if err != nil {
					fail(err)
					return
				}
				below(ctx, m.Path, config.Dir{Dir: copied, Display: m.Dir})
			})
		}
	}
	below(t.Context(), nil, config.Dir{Dir: p.Dir, Display: "."})
	walking.Wait()
	if failed != nil {
		return nil, failed
	}
	return s.Commit(t.Context(), installer.CommitOptions{Complete: true})
}

// copyModule copies the files of a module, but none below it, to a directory.
func copyModule(t *testing.T, files fs.FS) (string, error) {
	dir := t.TempDir()
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		info, err := fs.Stat(files, entry.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // a link to what was left out
		}
		if err != nil {
			return "", err
		}
		if !info.Mode().IsRegular() {
			continue
		}
		text, err := fs.ReadFile(files, entry.Name())
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(dir+"/"+entry.Name(), text, 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// pinnedLock returns a lock in which each module has the address of its package as the source: the same files from
// another source, so their interfaces are compared.
func pinnedLock(lock *lockfile.File) *lockfile.File {
	pinned := lock.Clone()
	for _, m := range lock.Modules() {
		if m.Package.IsZero() {
			continue
		}
		source := m.Package
		switch from := m.Source.(type) {
		case addrs.ModuleSourceRegistry:
			source.Subdir = path.Join(source.Subdir, from.Subdir)
		case addrs.ModuleSourceRemote:
			source.Subdir = path.Join(source.Subdir, from.Subdir)
		}
		m.Source, m.Package.Subdir = source, ""
		m.Version, m.Constraints = versions.Version{}, versions.Constraints{}
		pinned.SetModule(m)
	}
	return pinned
}
