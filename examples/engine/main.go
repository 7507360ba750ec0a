// Command engine shows how an engine that asks for one module at a time uses a session of Cotter, in
// the shape of OpenTofu's next engine: ModuleConfig gets a source, the allowed versions and the path
// of a call, and returns the module's files. The program walks a configuration with it, and prints the
// modules.
//
//	engine DIR
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/versions"
)

func main() {
	if err := run(context.Background(), http.DefaultClient, os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type engine struct {
	session *installer.Session
	root    fs.FS
	mu      sync.Mutex
	// sources are the resolved sources of the modules so far, by path.
	sources map[string]addrs.ModuleSource
}

func newEngine(session *installer.Session, dir string) *engine {
	return &engine{session: session, root: os.DirFS(dir), sources: map[string]addrs.ModuleSource{"": addrs.ModuleSourceLocal("./")}}
}

// versionSet is a set of versions, as an engine has it. The zero value has all.
type versionSet struct {
	has func(versions.Version) bool
	// text is the version constraint from which the set was made; "" if it was made otherwise.
	text string
}

// ModuleConfig returns the files of the module of a call, or those of the root module for an empty path. The
// engine hands over sources that are resolved: a relative one is a directory in the same package as that of
// the calling module. It asks for each instance of a call; if their sources differ, the error names both.
//
// The set decides which version is selected. Its text decides nothing: the lock records it, for people and for tools that
// read the lock.
func (e *engine) ModuleConfig(ctx context.Context, source addrs.ModuleSource, allowed versionSet, path addrs.Module) (fs.FS, error) {
	if path.IsRoot() {
		return e.root, nil
	}
	caller := path[:len(path)-1]
	e.mu.Lock()
	written := relative(e.sources[caller.String()], source)
	e.mu.Unlock()
	call := config.Call{Name: path[len(path)-1], Source: written, SourceComputed: true, Allowed: allowed.has, Constraints: allowed.text}
	m, err := e.session.Module(ctx, caller, call)
	if err == nil {
		e.mu.Lock()
		e.sources[path.String()] = source
		e.mu.Unlock()
	}
	return m.Files, err
}

// relative returns a source as a session wants it, which is as it is written: relative to the caller
// if both are in one package.
func relative(caller, source addrs.ModuleSource) string {
	inCaller, ofCaller := split(caller)
	inSource, ofSource := split(source)
	below, err := filepath.Rel("./"+inCaller, "./"+inSource)
	if err != nil || ofCaller != ofSource {
		return source.String()
	}
	return "./" + filepath.ToSlash(below)
}

// split returns the directory of a source in its package, and the package; "" is the project itself.
func split(source addrs.ModuleSource) (subdir, pkg string) {
	switch s := source.(type) {
	case addrs.ModuleSourceRegistry:
		return s.Subdir, s.Package.String()
	case addrs.ModuleSourceRemote:
		return s.Subdir, s.Package.String()
	case addrs.ModuleSourceLocal:
		return string(s), ""
	}
	return "", ""
}

func run(ctx context.Context, client *http.Client, out io.Writer, dir string) (err error) {
	env := cliconfig.OSEnvironment()
	user, err := env.Load(ctx, cliconfig.Options{})
	if err != nil {
		return err
	}
	in := installer.New(installer.Options{HTTPClient: client, Credentials: user, Services: user.Services, CacheDir: env.CacheDir(), StateDir: env.StateDir()})
	session, err := in.Begin(ctx, installer.Project{Dir: dir}, installer.InstallOptions{})
	if err != nil {
		return err
	}
	defer session.Close()
	e := newEngine(session, dir)
	root, err := e.ModuleConfig(ctx, nil, versionSet{}, nil)
	if err == nil {
		err = e.walk(ctx, nil, root)
	}
	if err != nil {
		return err
	}
	result, err := session.Commit(ctx, installer.CommitOptions{Complete: true})
	for m := range result.All() {
		fmt.Fprintf(out, "%q is in %s\n", m.Path, m.Dir)
	}
	return err
}

// walk is the engine's own work: it reads a module, here only the file main.tf.json, and asks for the
// modules of its calls.
func (e *engine) walk(ctx context.Context, at addrs.Module, files fs.FS) error {
	text, err := fs.ReadFile(files, "main.tf.json")
	if err != nil {
		return err
	}
	var module struct {
		Calls map[string]struct {
			Source  string `json:"source"`
			Version string `json:"version"`
		} `json:"module"`
	}
	if err := json.Unmarshal(text, &module); err != nil {
		return err
	}
	for name, call := range module.Calls {
		source, err := e.resolve(at, call.Source)
		if err != nil {
			return err
		}
		allowed, err := setOf(call.Version)
		if err != nil {
			return err
		}
		called := at.Child(name)
		below, err := e.ModuleConfig(ctx, source, allowed, called)
		if err == nil {
			err = e.walk(ctx, called, below)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setOf returns the versions that a constraint allows; "" allows all.
func setOf(constraint string) (versionSet, error) {
	if constraint == "" {
		return versionSet{}, nil
	}
	want, err := versions.ParseConstraints(constraint)
	return versionSet{want.Allows, constraint}, err
}

// resolve returns a source in the form in which OpenTofu hands it over.
func (e *engine) resolve(caller addrs.Module, text string) (addrs.ModuleSource, error) {
	source, err := addrs.ParseModuleSource(text)
	local, ok := source.(addrs.ModuleSourceLocal)
	if err != nil || !ok {
		return source, err
	}
	subdir, _ := split(e.sources[caller.String()])
	joined := path.Join(subdir, string(local))
	switch s := e.sources[caller.String()].(type) {
	case addrs.ModuleSourceRegistry:
		s.Subdir = joined
		return s, nil
	case addrs.ModuleSourceRemote:
		s.Subdir = joined
		return s, nil
	}
	return addrs.ModuleSourceLocal("./" + joined), nil
}
