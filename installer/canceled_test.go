package installer_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/installerinternal"
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
	mustInstall(t, in, installer.Project{Dir: dir}, installer.InstallOptions{})
	cause := errors.New("the user pressed a button")
	ended, end := context.WithCancelCause(t.Context())
	end(cause)
	req := request{Project: installer.Project{Dir: dir}}
	for name, run := range map[string]func() error{
		"Install":    func() error { _, err := in.Install(ended, req.Project, req.InstallOptions); return err },
		"InstallAll": func() error { _, err := in.InstallAll(ended, projects(dir), req.InstallOptions); return err },
		"Load":       func() error { _, err := in.Load(ended, req.Project, req.load()); return err },
		"Verify":     func() error { _, err := in.Verify(ended, req.Project, installer.VerifyOptions{}); return err },
		"VerifyRemote": func() error {
			_, err := in.VerifyRemote(ended, req.Project, installer.OriginOptions{})
			return err
		},
		"Outdated": func() error {
			_, err := in.Outdated(ended, req.Project, installer.OriginOptions{})
			return err
		},
		"Pins": func() error {
			_, err := in.Pins(ended, req.Project, installer.PinOptions{})
			return err
		},
		"Restore": func() error { _, err := installerinternal.Restore(ended, in, req.Project, nil); return err },
		"LockedPackages": func() error {
			return installerinternal.LockedPackages(ended, in, projects(dir), installer.LockedOptions{}, installerinternal.LockedFuncs{})
		},
		"DiffInterfaces": func() error {
			_, err := installerinternal.DiffInterfaces(ended, in, req.Project, false, nil, nil)
			return err
		},
		"ReadLock":         func() error { _, err := installer.ReadLock(ended, req.Project); return err },
		"HasConfiguration": func() error { _, err := repository.HasConfiguration(ended, req.Project); return err },
	} {
		if err := run(); !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
			t.Errorf("%s = %v, want the error of the context and its cause", name, err)
		}
	}

	world.SetFaults(modtest.Fault{Path: "/archives/", Delay: 1 << 40})
	world.ResetRequests()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-world.Requested(); cancel(cause) }()
	if _, err := world.Installer().Install(ctx, installer.Project{Dir: world.Dir(t, "config")}, installer.InstallOptions{}); !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
		t.Errorf("Install, canceled while it waits: %v", err)
	}
}

// A missing directory is an error, not a root module without calls.
func TestMissingDirectory(t *testing.T) {
	t.Parallel()
	req := request{Project: installer.Project{Dir: filepath.Join(t.TempDir(), "missing")}}
	var in installer.Installer
	if _, err := in.Load(t.Context(), req.Project, req.load()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load = %v", err)
	}
	if _, err := in.Verify(t.Context(), req.Project, installer.VerifyOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Verify = %v", err)
	}
	if _, err := in.Pins(t.Context(), req.Project, installer.PinOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Pins = %v", err)
	}
	if r, err := in.Load(t.Context(), installer.Project{Dir: t.TempDir()}, installer.LoadOptions{}); err != nil || len(r.Modules) != 0 {
		t.Errorf("Load of an empty directory = %v, %v", r, err)
	}
}

// A nil result, as of a run that failed early, has no modules.
func TestNilResult(t *testing.T) {
	t.Parallel()
	var r *installer.Result
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
	for name, at := range map[string]func(installer.Event) bool{
		"a fetch":         func(ev installer.Event) bool { _, ok := ev.(event.FetchStarted); return ok },
		"a ready module":  func(ev installer.Event) bool { _, ok := ev.(event.ModuleReady); return ok },
		"a ready package": func(ev installer.Event) bool { _, ok := ev.(event.ProviderReady); return ok },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := world.Dir(t, "config")
			ctx, cancel := context.WithCancel(t.Context())
			_, err := world.Installer().Install(ctx, installer.Project{Dir: dir, OnEvent: func(ev installer.Event) {
				if at(ev) {
					cancel()
				}
			}}, installer.InstallOptions{Scope: installer.ScopeAll})
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
