package mirror_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/modtest"
)

const providerWorld = `
-- providers/acme/cloud/1.2.0/PLATFORM/terraform-provider-cloud_v1.2.0 --
cloud
-- providers/acme/cloud/1.2.0/plan9_arm/terraform-provider-cloud_v1.2.0 --
cloud for plan9
`

type providerProject struct {
	w   *modtest.World
	in  *installer.Installer
	dir string
	// platforms are those of the provider whose packages are wanted.
	platforms []addrs.Platform
}

// projects returns the project, options what installs it, and locked what copies its packages.
func (p *providerProject) projects() []installer.Project {
	return []installer.Project{{Dir: p.dir, Platforms: p.platforms}}
}
func (p *providerProject) options() installer.InstallOptions {
	return installer.InstallOptions{Scope: installer.ScopeAll}
}
func (p *providerProject) locked() installer.LockedOptions {
	return installer.LockedOptions{Scope: installer.ScopeAll, Platforms: p.platforms}
}

// openProvider returns a project and an empty mirror in the world's registry.
func openProvider(t *testing.T) (*providerProject, *mirror.Mirror) {
	t.Helper()
	p := &providerProject{dir: t.TempDir()}
	p.w = modtest.New(t, modtest.Txtar(strings.ReplaceAll(providerWorld, "PLATFORM", addrs.CurrentPlatform().String())))
	p.in = p.w.Installer()
	text := "terraform {\n  required_providers {\n    cloud = {\n      source = \"" + string(p.w.Host()) + "/acme/cloud\"\n    }\n  }\n}\n"
	testenv.Must(t, os.WriteFile(filepath.Join(p.dir, "main.tf"), []byte(text), 0o600))
	testenv.Must(t, p.install(t, p.in))
	fetcher := p.in.Options().Fetcher.(*getmodules.Fetcher)
	fetcher.Backoff = noWait
	m, err := mirror.Open(fetcher, "oci://"+string(p.w.Host())+"/corp/mirror")
	testenv.Must(t, err)
	return p, m
}

func (p *providerProject) install(t *testing.T, in *installer.Installer) error {
	t.Helper()
	_, err := in.Install(t.Context(), p.projects()[0], p.options())
	return err
}

// installFresh installs on a machine that has only the lock and a mirror. It returns the warnings
// and the requests to the provider registry.
func (p *providerProject) installFresh(t *testing.T, m *mirror.Mirror) (warnings, asked []string) {
	t.Helper()
	testenv.Must(t, os.RemoveAll(filepath.Join(p.dir, ".terraform")))
	in := with(p.w.Installer(), func(o *installer.Options) {
		o.CacheDir, o.StateDir, o.Stores = t.TempDir(), t.TempDir(), []installer.PackageStore{m}
	})
	in = with(in, func(o *installer.Options) {
		o.OnEvent = func(ev installer.Event) {
			if warning, ok := ev.(event.Warning); ok {
				warnings = append(warnings, warning.Message)
			}
		}
	})
	p.w.ResetRequests()
	o := p.options()
	o.Locked = true
	if _, err := in.Install(t.Context(), p.projects()[0], o); err != nil {
		t.Fatal(err)
	}
	for _, request := range p.w.Requests() {
		if !strings.HasPrefix(request.Path, "/v2/") {
			asked = append(asked, request.Path)
		}
	}
	return warnings, asked
}

func (p *providerProject) push(t *testing.T, m *mirror.Mirror, want mirror.Result) {
	t.Helper()
	result, err := mirror.Push(t.Context(), p.in, p.projects(), p.locked(), m)
	testenv.Must(t, err)
	if result.Bytes = 0; *result != want {
		t.Errorf("Push = %+v, want %+v", *result, want)
	}
}

func (p *providerProject) changeHashes(t *testing.T, change func([]hashing.Hash) []hashing.Hash) {
	t.Helper()
	locked, err := installer.ReadLockedProviders(t.Context(), p.projects()[0])
	testenv.Must(t, err)
	locked[0].Hashes = change(locked[0].Hashes)
	lock := &lockfile.File{}
	lock.SetProvider(locked[0])
	testenv.Must(t, os.WriteFile(filepath.Join(p.dir, ".terraform.lock.hcl"), lock.Bytes(), 0o600))
}

func has(paths []string, suffix string) bool {
	for _, path := range paths {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return false
}

// If a trusted mirror has the package, the provider's registry is not queried. An untrusted
// mirror only delivers the archive that the registry proves.
func TestProviderTrust(t *testing.T) {
	t.Parallel()
	p, m := openProvider(t)
	p.push(t, m, mirror.Result{Providers: 1, Pushed: 1})
	p.push(t, m, mirror.Result{Providers: 1})
	for _, trusted := range []bool{true, false} {
		m.Trusted = trusted
		warnings, asked := p.installFresh(t, m)
		if (len(asked) == 0) != trusted || has(asked, ".zip") {
			t.Errorf("trusted %t: the registry was asked for %q", trusted, asked)
		}
		if len(warnings) > 0 {
			t.Errorf("trusted %t: warnings are %q", trusted, warnings)
		}
		found, err := mirror.Status(t.Context(), m, p.projects(), installer.ScopeAll, p.platforms...)
		if err != nil || len(found) != 1 || !found[0].OK() {
			t.Errorf("trusted %t: Status = %+v, %v", trusted, found, err)
		}
	}
}

// If the mirror has damaged an archive, or has it only for other platforms, it comes from the
// provider's registry.
func TestProviderFallback(t *testing.T) {
	t.Parallel()
	p, m := openProvider(t)
	p.platforms = []addrs.Platform{{OS: "plan9", Arch: "arm"}}
	p.push(t, m, mirror.Result{Providers: 1, Pushed: 1})
	p.platforms = nil
	if warnings, asked := p.installFresh(t, m); len(warnings) > 0 || !has(asked, ".zip") {
		t.Errorf("for another platform: warnings are %q, asked for %q", warnings, asked)
	}
	p.push(t, m, mirror.Result{Providers: 1, Pushed: 1})
	for _, trusted := range []bool{true, false} {
		m.Trusted = trusted
		repository := "/v2/corp/mirror/providers/" + strings.ReplaceAll(string(p.w.Host()), ":", "_") + "/acme/cloud"
		p.w.SetFaults(modtest.Fault{Path: repository + "/blobs/", Status: http.StatusOK, Body: "damaged"})
		warnings, asked := p.installFresh(t, m)
		if len(warnings) != 1 || !strings.Contains(warnings[0], "its archive in the mirror") || !has(asked, ".zip") {
			t.Errorf("trusted %t: warnings are %q, asked for %q", trusted, warnings, asked)
		}
	}
}

// A mirror cannot have two packages of the same version and platform. A published archive
// replaces one that was packed.
func TestPushOtherProvider(t *testing.T) {
	t.Parallel()
	p, m := openProvider(t)
	scheme := func(scheme string) func([]hashing.Hash) []hashing.Hash {
		return func(all []hashing.Hash) (some []hashing.Hash) {
			for _, h := range all {
				if h.Scheme() == scheme {
					some = append(some, h)
				}
			}
			return some
		}
	}
	var both []hashing.Hash
	p.changeHashes(t, func(all []hashing.Hash) []hashing.Hash { both = all; return scheme("h1")(all) })
	p.push(t, m, mirror.Result{Providers: 1, Pushed: 1})
	p.changeHashes(t, func([]hashing.Hash) []hashing.Hash { return both })
	p.push(t, m, mirror.Result{Providers: 1})
	p.changeHashes(t, scheme("zh"))
	p.push(t, m, mirror.Result{Providers: 1, Replaced: 1})
	p.changeHashes(t, func([]hashing.Hash) []hashing.Hash {
		return []hashing.Hash{hashing.Hash("zh:" + strings.Repeat("a", 64))}
	})
	found, err := mirror.Status(t.Context(), m, p.projects(), installer.ScopeAll, p.platforms...)
	if err != nil || len(found) != 1 || !found[0].Other {
		t.Errorf("Status = %+v, %v, want another package", found, err)
	}
	_, err = mirror.Push(t.Context(), p.in, p.projects(), p.locked(), m)
	if mismatch, ok := errors.AsType[*getproviders.MismatchError](err); !ok || !mismatch.Locked {
		t.Errorf("Push = %v, want a *MismatchError", err)
	}
}

// An independent registry implementation has the packages of several platforms. If it has damaged
// an archive, the package comes from the origin. The archive cannot be replaced in the mirror,
// because a published archive has only one digest, and Distribution does not store a blob again
// that it already has.
func TestProviderDockerRegistry(t *testing.T) {
	t.Parallel()
	registry, m := startDocker(t)
	p, _ := openProvider(t)
	p.push(t, m, mirror.Result{Providers: 1, Pushed: 1})
	both := []addrs.Platform{{OS: "plan9", Arch: "arm"}, addrs.CurrentPlatform()}
	p.platforms = both
	p.push(t, m, mirror.Result{Providers: 2, Pushed: 1})
	p.push(t, m, mirror.Result{Providers: 2})
	entries, err := p.in.VerifyStore(t.Context(), m)
	if err != nil || len(entries) != 2 || entries[0].Err != nil || entries[1].Err != nil {
		t.Fatalf("VerifyStore = %+v, %v, want 2 entries", entries, err)
	}
	p.platforms = nil
	if warnings, asked := p.installFresh(t, m); len(warnings)+len(asked) > 0 {
		t.Errorf("warnings are %q, asked for %q", warnings, asked)
	}
	for _, entry := range entries {
		if entry.Platform == addrs.CurrentPlatform() {
			testenv.Must(t, registry.Damage("sha256:"+strings.TrimPrefix(string(entry.Hashes[1]), "zh:")))
		}
	}
	if warnings, asked := p.installFresh(t, m); len(warnings) != 1 || !has(asked, ".zip") {
		t.Errorf("with a damaged archive: warnings are %q, asked for %q", warnings, asked)
	}
	entries, err = p.in.VerifyStore(t.Context(), m)
	if err != nil || len(entries) != 2 || (entries[0].Err == nil) == (entries[1].Err == nil) {
		t.Errorf("VerifyStore = %+v, %v, want one damaged of 2 entries", entries, err)
	}
	if _, err := mirror.Repair(t.Context(), p.in, p.projects(), p.locked(), m); !errors.Is(err, mirror.ErrNotRepaired) {
		t.Errorf("Repair = %v, want ErrNotRepaired", err)
	}
}

func with(in *installer.Installer, change func(*installer.Options)) *installer.Installer {
	o := in.Options()
	change(&o)
	return installer.New(o)
}
