// A program outside of the repository. It uses the names of the API that are fixed, each with the
// type that it has: if a name or a type changes, it does not compile. When it runs, it checks what
// compiling cannot show.
package main

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"log"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Package addrs.
var (
	_ func(raw string) (addrs.ModuleSource, error) = addrs.ParseModuleSource
	_ func(raw string) (addrs.Provider, error)     = addrs.ParseProviderSource

	_ addrs.ModuleSource = addrs.ModuleSourceLocal("./net")
	_ addrs.ModuleSource = addrs.ModuleSourceRegistry{Package: addrs.ModuleRegistryPackage{}, Subdir: ""}
	_ addrs.ModuleSource = addrs.ModuleSourceRemote{Package: addrs.ModulePackage{}, Subdir: ""}

	_ interface {
		String() string
		ForDisplay() string
	} = addrs.ModuleSource(nil)

	_ = addrs.Provider{Hostname: addrs.Hostname("registry.opentofu.org"), Namespace: "hashicorp", Type: "null"}
)

// Package versions.
var (
	_ func(s string) (versions.Constraints, error)                                              = versions.ParseConstraints
	_ func(offered []versions.Candidate, want versions.Constraints) (versions.Candidate, error) = versions.Select

	_ error = (*versions.NoMatchError)(nil)
)

// Package hashing.
var (
	_ func(fsys fs.FS) (hashing.Hash, error)                      = hashing.FS
	_ func(ctx context.Context, dir string) (hashing.Hash, error) = hashing.Dir
)

// Package lockfile.
var (
	_ func(src []byte, filename string) (*lockfile.File, error) = lockfile.Parse

	_ = lockfile.Module{Key: "", Version: versions.Version{}, Source: addrs.ModuleSource(nil), Constraints: versions.Constraints{}, Package: addrs.ModuleSourceRemote{}, Hashes: []hashing.Hash{}, Range: hcl.Range{}}

	_ interface {
		Modules() []lockfile.Module
		SetModule(lockfile.Module)
		RemoveModule(key string)
		Bytes() []byte
	} = (*lockfile.File)(nil)
)

// Package installer.
var (
	_ = installer.Options{
		Registry: installer.Registry((*registryclient.Client)(nil)),
		Fetcher:  installer.Fetcher((*getmodules.Fetcher)(nil)),
		Config:   installer.ConfigReader(nil),
		CacheDir: "",
		Parallel: 0,
		OnEvent:  func(installer.Event) {},
	}
	_ func(opts installer.Options) *installer.Installer = installer.New

	_ interface {
		Install(ctx context.Context, p installer.Project, o installer.InstallOptions) (*installer.Result, error)
		Verify(ctx context.Context, p installer.Project, o installer.VerifyOptions) (*installer.Report, error)
		Load(ctx context.Context, p installer.Project, o installer.LoadOptions) (*installer.Result, error)
		Begin(ctx context.Context, p installer.Project, o installer.InstallOptions) (*installer.Session, error)
	} = (*installer.Installer)(nil)
	_ interface {
		Expect(caller addrs.Module, calls ...config.Call)
		Module(ctx context.Context, caller addrs.Module, c config.Call) (installer.Module, error)
		Commit(ctx context.Context, o installer.CommitOptions) (*installer.Result, error)
		Close() error
	} = (*installer.Session)(nil)
	_ fs.FS = installer.Module{Dir: ""}.Files
	_       = installer.CommitOptions{Complete: false}

	_ config.Reader = interface {
		ReadModule(ctx context.Context, dir config.Dir) (config.Module, hcl.Diagnostics)
	}(nil)
	_ = config.Call{Name: "", Source: "", Version: (*string)(nil), Allowed: func(versions.Version) bool { return true }}

	_ = installer.Project{Dir: "", OnEvent: func(event.Event) {}, LockFile: "", NoLock: false}
	_ = installer.InstallOptions{Locked: false, Offline: false, DryRun: false, LockOnly: false, Update: installer.Update{}}

	_ func(*installer.Result) iter.Seq[installer.Module] = (*installer.Result).All
	_ func(err error) iter.Seq[*installer.ModuleError]   = installer.ModuleErrors
	_ func(err error) iter.Seq[*installer.ProviderError] = installer.ProviderErrors

	_ bool = (&installer.Report{}).OK()

	_ error = &installer.ModuleError{Path: addrs.Module(nil), Range: hcl.Range{}, Err: error(nil)}
	_ error = (*installer.HashMismatchError)(nil)
	_ error = (*getmodules.FetchError)(nil)
	_ error = (*registryclient.RequestError)(nil)
)

const _ installer.Status = installer.StatusUnknown

var _ [0]struct{} = [installer.StatusUnknown]struct{}{} // compiles if it is 0

func main() {
	log.SetFlags(0)
	check := func(ok bool, what string) {
		if !ok {
			log.Fatal(what)
		}
	}
	provider, err := addrs.ParseProviderSource("null")
	check(err == nil && provider.String() == "registry.opentofu.org/hashicorp/null", "ParseProviderSource")
	source, err := addrs.ParseModuleSource("acme/net/aws")
	check(err == nil && source.String() == "registry.opentofu.org/acme/net/aws", "ParseModuleSource")

	want, err := versions.ParseConstraints("~> 1.0")
	check(err == nil, "ParseConstraints")
	_, err = versions.Select(nil, want)
	var none *versions.NoMatchError
	check(errors.As(err, &none), "Select returns no *NoMatchError")

	hash, err := hashing.FS(fstest.MapFS{"main.tf": {}})
	check(err == nil, "hashing.FS")
	lock, err := lockfile.Parse([]byte("# foreign\n"), "lock")
	check(err == nil, "lockfile.Parse")
	lock.SetModule(lockfile.Module{Key: "net", Source: source, Hashes: []hashing.Hash{hash}})
	check(len(lock.Modules()) == 1 && len(lock.Bytes()) > len("# foreign\n"), "SetModule")
	lock.RemoveModule("net")
	check(len(lock.Modules()) == 0, "RemoveModule")

	check(!(&installer.Report{}).OK(), "a zero Report is OK")
	modules := 0
	for m := range (&installer.Result{}).All() {
		modules++
		check(m.Path.IsRoot(), "the root module is not the first of Result.All")
	}
	check(modules == 1, "Result.All of a zero Result")
	failed := 0
	for range installer.ModuleErrors(errors.Join(&installer.ModuleError{Path: addrs.Module{"b"}}, errors.Join(&installer.ModuleError{Path: addrs.Module{"a"}}))) {
		failed++
	}
	for range installer.ProviderErrors(errors.Join(&installer.ProviderError{})) {
		failed++
	}
	check(failed == 3, "ModuleErrors and ProviderErrors")

	var in installer.Installer
	result, err := in.Install(context.Background(), installer.Project{Dir: "empty", NoLock: true}, installer.InstallOptions{})
	check(err == nil && len(result.Modules) == 0, "Install of an empty directory")
	_, err = in.Verify(context.Background(), installer.Project{Dir: "empty"}, installer.VerifyOptions{})
	check(err != nil, "Verify without a lock returns no error")
}
