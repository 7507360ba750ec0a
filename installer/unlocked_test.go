package installer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/testenv"
)

const twoCalls = `
-- config/main.tf --
module "locked" {
  source  = "MODTEST_HOST/acme/network/aws"
  version = "~> 1.0"
}
module "free" {
  source  = "MODTEST_HOST/acme/vpc/aws"
  version = "~> 1.0"
}
-- registry/acme/network/aws/1.0.0/main.tf --
-- registry/acme/vpc/aws/1.0.0/main.tf --
module "zone" {
  source = "MODTEST_HOST/acme/zone/aws"
}
-- registry/acme/zone/aws/1.0.0/main.tf --
`

// unlocking is a reader that does not lock the calls of some names, wherever they are.
type unlocking struct {
	installer.ConfigReader
	names string
}

func (r unlocking) ReadModule(ctx context.Context, dir config.Dir) (config.Module, hcl.Diagnostics) {
	m, diags := r.ConfigReader.ReadModule(ctx, dir)
	for i, c := range m.Calls {
		m.Calls[i].Unlocked = strings.Contains(r.names, c.Name)
	}
	return m, diags
}

func (p *project) unlocking(t *testing.T, names string) *installer.Installer {
	reader, err := installer.DefaultConfigReader(installer.Project{Dir: p.dir})
	testenv.Must(t, err)
	return with(p.installer(), func(o *installer.Options) { o.Config = unlocking{reader, names} })
}

func lockedKeys(t *testing.T, dir string) (keys []string) {
	lock, err := installer.ReadLock(t.Context(), installer.Project{Dir: dir})
	testenv.Must(t, err)
	for _, m := range lock.Modules() {
		keys = append(keys, m.Key)
	}
	return keys
}

// A call that a program does not lock is installed like the others, but neither it nor what is below it is in the lock.
func TestUnlockedCalls(t *testing.T) {
	t.Parallel()
	p := world(t, twoCalls)
	in, at := p.unlocking(t, "free"), installer.Project{Dir: p.dir}
	result, err := in.Install(t.Context(), at, installer.InstallOptions{})
	testenv.Must(t, err)
	var unlocked []string
	for _, m := range result.Modules {
		if m.Call.Unlocked {
			unlocked = append(unlocked, m.Path.String())
		}
	}
	if diff := cmp.Diff([]string{"free", "free.zone"}, unlocked); diff != "" {
		t.Errorf("unlocked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"locked"}, lockedKeys(t, p.dir)); diff != "" {
		t.Errorf("the lock (-want +got):\n%s", diff)
	}

	report, err := in.Verify(t.Context(), at, installer.VerifyOptions{})
	testenv.Must(t, err)
	if !report.OK() || len(report.Unlocked) != 1 || report.Unlocked[0].String() != "free" {
		t.Errorf("Verify: %v, unlocked %v", report.Problems(), report.Unlocked)
	}
	for _, pkg := range report.Packages {
		if want := pkg.Path.String() == "locked"; (pkg.Status == installer.StatusVerified) != want {
			t.Errorf("%s is %s", pkg.Path, pkg.Status)
		}
	}
	remote, err := in.VerifyRemote(t.Context(), at, installer.OriginOptions{})
	testenv.Must(t, err)
	if !remote.OK() || len(remote.Modules) != 1 {
		t.Errorf("VerifyRemote: %+v", remote.Modules)
	}
	var copied []string
	testenv.Must(t, installerinternal.LockedPackages(t.Context(), in, projects(p.dir), installer.LockedOptions{}, installerinternal.LockedFuncs{
		Module: func(_ context.Context, m installerinternal.LockedModule) error {
			copied = append(copied, m.Entry.Key)
			return nil
		},
	}))
	if diff := cmp.Diff([]string{"locked"}, copied); diff != "" {
		t.Errorf("copied to bundles (-want +got):\n%s", diff)
	}
	// Other programs, which lock everything, do not take them for verified.
	report, err = p.installer().Verify(t.Context(), at, installer.VerifyOptions{})
	testenv.Must(t, err)
	if report.OK() {
		t.Error("Verify of a program that locks all calls is OK")
	}

	// A locked run installs what the lock says, and the others as they are or anew.
	for _, options := range []installer.InstallOptions{{Locked: true}, {}} {
		if options.Locked {
			p.remove(t, ".terraform")
		}
		again, err := in.Install(t.Context(), at, options)
		testenv.Must(t, err)
		if len(again.Modules) != 3 || len(again.LockChanges) > 0 {
			t.Errorf("%+v: %d modules, changes %v", options, len(again.Modules), again.LockChanges)
		}
	}
}

// The installed version of an unlocked call stays while it fits, also in a locked run, until it is updated.
func TestVersionOfUnlockedCall(t *testing.T) {
	t.Parallel()
	p := world(t, "-- registry/acme/vpc/aws/1.0.0/main.tf --\n-- registry/acme/vpc/aws/1.5.0/main.tf --\n-- config/main.tf --\n")
	at := installer.Project{Dir: p.dir}
	for _, step := range []struct {
		constraint string
		options    installer.InstallOptions
		want       string
	}{
		{"1.0.0", installer.InstallOptions{}, "1.0.0"},
		{"~> 1.0", installer.InstallOptions{}, "1.0.0"},
		{"~> 1.0", installer.InstallOptions{Locked: true}, "1.0.0"},
		{"~> 1.0", installer.InstallOptions{Update: installer.Update{Keys: []addrs.Module{{"free"}}}}, "1.5.0"},
	} {
		testenv.WriteFile(t, filepath.Join(p.dir, "main.tf"), fmt.Sprintf("module \"free\" {\n  source  = \"%s/acme/vpc/aws\"\n  version = %q\n}\n", p.world.Host(), step.constraint))
		result, err := p.unlocking(t, "free").Install(t.Context(), at, step.options)
		testenv.Must(t, err)
		if got := result.Modules[0].Version.String(); got != step.want {
			t.Errorf("%s, %+v: installed %s, want %s", step.constraint, step.options, got, step.want)
		}
	}
}

// A package cannot make its own calls unlocked.
func TestUnlockedInPackage(t *testing.T) {
	t.Parallel()
	p := world(t, twoCalls)
	in := p.unlocking(t, "zone")
	_, err := in.Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{})
	testenv.Must(t, err)
	if diff := cmp.Diff([]string{"free", "free.zone", "locked"}, lockedKeys(t, p.dir)); diff != "" {
		t.Errorf("the lock (-want +got):\n%s", diff)
	}
}

// Entries of calls that are not locked any more are removed, which a locked run refuses.
func TestEntryOfUnlockedCall(t *testing.T) {
	t.Parallel()
	p := world(t, twoCalls)
	in, at := p.unlocking(t, "free"), installer.Project{Dir: p.dir}
	p.mustInstall(t, request{})
	loaded, err := in.Load(t.Context(), at, installer.LoadOptions{})
	testenv.Must(t, err)
	if m := loaded.Modules[0]; m.Version.String() != "1.0.0" || len(m.Hashes) > 0 || !m.Evidence.IsZero() {
		t.Errorf("Load: %+v", m)
	}
	_, err = in.Install(t.Context(), at, installer.InstallOptions{Locked: true})
	if locked, ok := errors.AsType[*installer.LockedError](err); !ok || len(locked.Reasons) != 2 || !strings.Contains(locked.Reasons[0].Reason, "does not lock") {
		t.Errorf("a locked run: %v, want a LockedError", err)
	}
	report, err := in.Verify(t.Context(), at, installer.VerifyOptions{})
	testenv.Must(t, err)
	if report.OK() {
		t.Error("Verify is OK")
	}
	_, err = in.Install(t.Context(), at, installer.InstallOptions{})
	testenv.Must(t, err)
	if diff := cmp.Diff([]string{"locked"}, lockedKeys(t, p.dir)); diff != "" {
		t.Errorf("the lock (-want +got):\n%s", diff)
	}
}

// A session takes the word of the program for its own calls.
func TestUnlockedInSession(t *testing.T) {
	t.Parallel()
	p := world(t, twoCalls)
	s, err := p.installer().Begin(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{})
	testenv.Must(t, err)
	defer s.Close()
	source := func(name string) string { return p.world.Host().String() + "/acme/" + name + "/aws" }
	free, err := s.Module(t.Context(), nil, config.Call{Name: "free", Source: source("vpc"), Unlocked: true})
	testenv.Must(t, err)
	below, err := s.Module(t.Context(), addrs.Module{"free"}, config.Call{Name: "zone", Source: source("zone")})
	testenv.Must(t, err)
	_, err = s.Commit(t.Context(), installer.CommitOptions{Complete: true})
	testenv.Must(t, err)
	if keys := lockedKeys(t, p.dir); !free.Call.Unlocked || !below.Call.Unlocked || keys != nil {
		t.Errorf("unlocked: %t, %t; the lock has %v", free.Call.Unlocked, below.Call.Unlocked, keys)
	}
}
