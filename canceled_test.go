package cotter_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/event"
	"github.com/cotterpin/cotter/modtest"
)

// Each method says that its context has ended, and why, before and during its work.
func TestCancelCause(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(`
-- archives/net.zip/main.tf --
-- config/main.tf --
module "net" {
  source = "https://MODTEST_HOST/archives/net.zip"
}
`), modtest.Options{})
	dir, in := world.Dir(t, "config"), world.Installer()
	if _, err := in.Install(t.Context(), cotter.Request{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("the user pressed a button")
	ended, end := context.WithCancelCause(t.Context())
	end(cause)
	req := cotter.Request{Dir: dir}
	for name, run := range map[string]func() error{
		"Install":        func() error { _, err := in.Install(ended, req); return err },
		"InstallAll":     func() error { _, err := in.InstallAll(ended, []string{dir}, cotter.Request{}, nil); return err },
		"Load":           func() error { _, err := in.Load(ended, req); return err },
		"Verify":         func() error { _, err := in.Verify(ended, req); return err },
		"VerifyRemote":   func() error { _, err := in.VerifyRemote(ended, req); return err },
		"Outdated":       func() error { _, err := in.Outdated(ended, req); return err },
		"Pins":           func() error { _, err := in.Pins(ended, req); return err },
		"Restore":        func() error { _, err := in.Restore(ended, req, nil); return err },
		"LockedPackages": func() error { return in.LockedPackages(ended, []string{dir}, req, nil, cotter.LockedFuncs{}) },
		"DiffInterfaces": func() error { _, err := in.DiffInterfaces(ended, req, nil, nil); return err },
		"ReadLock":       func() error { _, err := cotter.ReadLock(ended, req); return err },
	} {
		if err := run(); !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
			t.Errorf("%s = %v, want the error of the context and its cause", name, err)
		}
	}

	slow := modtest.NewWith(t, modtest.Txtar(`
-- archives/net.zip/main.tf --
-- config/main.tf --
module "net" {
  source = "https://MODTEST_HOST/archives/net.zip"
}
`), modtest.Options{Faults: []modtest.Fault{{Path: "/archives/", Delay: 1 << 40}}})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-slow.Requested(); cancel(cause) }()
	if _, err := slow.Installer().Install(ctx, cotter.Request{Dir: slow.Dir(t, "config")}); !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
		t.Errorf("Install, canceled while it waits: %v", err)
	}
}

// A missing directory is an error, not a root module without calls.
func TestMissingDirectory(t *testing.T) {
	t.Parallel()
	req := cotter.Request{Dir: filepath.Join(t.TempDir(), "missing")}
	var in cotter.Installer
	if _, err := in.Load(t.Context(), req); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load = %v", err)
	}
	if _, err := in.Verify(t.Context(), req); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Verify = %v", err)
	}
	if _, err := in.Pins(t.Context(), req); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Pins = %v", err)
	}
	if r, err := in.Load(t.Context(), cotter.Request{Dir: t.TempDir()}); err != nil || len(r.Modules) != 0 {
		t.Errorf("Load of an empty directory = %v, %v", r, err)
	}
}

// A nil result, as of a run that failed early, has no modules.
func TestNilResult(t *testing.T) {
	t.Parallel()
	var r *cotter.Result
	for m := range r.All() {
		t.Errorf("a nil result has %v", m)
	}
}

// A first run that is canceled leaves nothing in the project, whatever it was doing.
func TestCancelFirstRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove a lock that is open")
	}
	world := modtest.NewWith(t, modtest.Txtar(`
-- archives/net.zip/main.tf --
-- providers/acme/cloud/1.0.0/linux_amd64/terraform-provider-cloud --
provider
-- config/main.tf --
terraform {
  required_providers {
    cloud = { source = "MODTEST_HOST/acme/cloud" }
  }
}
module "net" {
  source = "https://MODTEST_HOST/archives/net.zip"
}
`), modtest.Options{})
	for name, at := range map[string]func(cotter.Event) bool{
		"a fetch":         func(ev cotter.Event) bool { _, ok := ev.(event.FetchStarted); return ok },
		"a ready module":  func(ev cotter.Event) bool { _, ok := ev.(event.ModuleReady); return ok },
		"a ready package": func(ev cotter.Event) bool { _, ok := ev.(event.ProviderReady); return ok },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := world.Dir(t, "config")
			ctx, cancel := context.WithCancel(t.Context())
			_, err := world.Installer().Install(ctx, cotter.Request{Dir: dir, Providers: &cotter.Providers{}, OnEvent: func(ev cotter.Event) {
				if at(ev) {
					cancel()
				}
			}})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("Install = %v, want context.Canceled", err)
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) != 1 || left[0].Name() != "main.tf" {
				t.Errorf("the project has %v, %v", left, err)
			}
		})
	}
}
