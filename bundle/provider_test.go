package bundle_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/bundle"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/oci"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
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

func newProviderProject(t *testing.T) *providerProject {
	t.Helper()
	p := &providerProject{dir: t.TempDir()}
	p.w = modtest.NewWith(t, modtest.Txtar(strings.ReplaceAll(providerWorld, "PLATFORM", addrs.CurrentPlatform().String())), modtest.Options{})
	p.in = p.w.Installer()
	text := `
terraform {
  required_providers {
    cloud = {
      source = "` + string(p.w.Host()) + `/acme/cloud"
    }
  }
}
`
	testenv.Must(t, os.WriteFile(filepath.Join(p.dir, "main.tf"), []byte(text), 0o600))
	if _, err := p.in.Install(t.Context(), p.projects()[0], p.options()); err != nil {
		t.Fatal(err)
	}
	return p
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

// bundle writes a bundle and returns the name of its file.
func (p *providerProject) bundle(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "bundle.tar")
	testenv.Must(t, os.WriteFile(name, p.bytes(t), 0o600))
	return name
}

func (p *providerProject) bytes(t *testing.T) []byte {
	t.Helper()
	var text bytes.Buffer
	result, err := bundle.Create(t.Context(), p.in, p.projects(), p.locked(), &text)
	if err != nil || result.Providers != 1 {
		t.Fatalf("Create = %+v, %v, want one package of a provider", result, err)
	}
	return text.Bytes()
}

func (p *providerProject) changeLock(t *testing.T, change func([]hashing.Hash) []hashing.Hash) {
	t.Helper()
	lock, err := installer.ReadLock(t.Context(), p.projects()[0])
	testenv.Must(t, err)
	entry := lock.Providers()[0]
	entry.Hashes = change(entry.Hashes)
	changed := &lockfile.File{}
	changed.SetProvider(entry)
	testenv.Must(t, os.WriteFile(filepath.Join(p.dir, ".terraform.lock.hcl"), changed.Bytes(), 0o600))
}

// installFrom installs from a bundle on a machine that has nothing else, and sends no requests.
func (p *providerProject) installFrom(t *testing.T, name string) error {
	t.Helper()
	testenv.Must(t, os.RemoveAll(filepath.Join(p.dir, ".terraform")))
	opened, err := bundle.Open(name)
	testenv.Must(t, err)
	defer opened.Close()
	o := p.options()
	o.Locked, o.Offline = true, true
	elsewhere := installer.New(installer.Options{Stores: []installer.PackageStore{opened}, CacheDir: t.TempDir(), StateDir: t.TempDir()})
	_, err = elsewhere.Install(t.Context(), p.projects()[0], o)
	if installed, _ := filepath.Glob(filepath.Join(p.dir, ".terraform", "providers", "*", "*", "*", "*", "*")); (err == nil) != (len(installed) == 1) {
		t.Errorf("Install = %v, and %q is installed", err, installed)
	}
	return err
}

func withScheme(scheme string) func([]hashing.Hash) []hashing.Hash {
	return func(all []hashing.Hash) (some []hashing.Hash) {
		for _, h := range all {
			if h.Scheme() == scheme {
				some = append(some, h)
			}
		}
		return some
	}
}

// One hash of the lock is enough, regardless of its scheme. A package is refused if the lock has
// none of its hashes.
func TestInstallProvidersFromBundle(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func([]hashing.Hash) []hashing.Hash
		refuse bool
	}{
		{"the lock of the bundle", nil, false},
		{"h1 alone", withScheme("h1"), false},
		{"zh alone", withScheme("zh"), false},
		{"another package", func([]hashing.Hash) []hashing.Hash {
			return []hashing.Hash{hashing.Hash("zh:" + strings.Repeat("a", 64))}
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newProviderProject(t)
			name := p.bundle(t)
			if test.change != nil {
				p.changeLock(t, test.change)
			}
			p.w.ResetRequests()
			err := p.installFrom(t, name)
			mismatch, isMismatch := errors.AsType[*getproviders.MismatchError](err)
			if (err != nil) != test.refuse || test.refuse && (!isMismatch || !mismatch.Locked) {
				t.Errorf("Install = %v", err)
			}
			if requests := p.w.Requests(); len(requests) > 0 {
				t.Errorf("servers got %v", requests)
			}
		})
	}
}

// A lock without zh hashes does not determine the archive. So the content is packed, and the
// bytes do not depend on where it comes from.
func TestProviderWithoutArchiveHash(t *testing.T) {
	t.Parallel()
	p := newProviderProject(t)
	published := p.bytes(t)
	p.changeLock(t, withScheme("h1"))
	fromStore := p.bundle(t)
	testenv.Must(t, os.RemoveAll(filepath.Join(p.dir, ".terraform")))
	fromOrigin := *p
	fromOrigin.in = p.w.Installer()
	text, err := os.ReadFile(fromStore)
	testenv.Must(t, err)
	if again := fromOrigin.bytes(t); !bytes.Equal(text, again) || bytes.Equal(text, published) {
		t.Errorf("the bundle has %d bytes, from the origin %d, and with the archive that was published %d", len(text), len(again), len(published))
	}
	mirror := *p
	mirror.in = p.w.Installer()
	mirror.in = with(mirror.in, func(o *installer.Options) { o.Providers = getproviders.FilesystemMirror{Dir: unpackedMirror(t, p)} })
	if again := mirror.bytes(t); !bytes.Equal(text, again) {
		t.Error("from an unpacked mirror the bytes differ")
	}
	if err := p.installFrom(t, fromStore); err != nil {
		t.Error(err)
	}
}

func unpackedMirror(t *testing.T, p *providerProject) string {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, string(p.w.Host()), "acme", "cloud", "1.2.0", addrs.CurrentPlatform().String())
	testenv.Must(t, os.MkdirAll(at, 0o700))
	if err := os.WriteFile(filepath.Join(at, "terraform-provider-cloud_v1.2.0"), []byte("cloud\n"), 0o755); err != nil { //nolint:gosec // as it is to be
		t.Fatal(err)
	}
	return dir
}

// The packages for other platforms are included only if the lock has their hashes.
func TestCreateForPlatforms(t *testing.T) {
	t.Parallel()
	p := newProviderProject(t)
	p.platforms = []addrs.Platform{{OS: "plan9", Arch: "arm"}}
	name := p.bundle(t)
	missing, ok := errors.AsType[*getproviders.MissingPlatformError](p.installFrom(t, name))
	if !ok || len(missing.Platforms) != 1 || missing.Platforms[0].String() != "plan9_arm" {
		t.Errorf("Install = %+v, want a *MissingPlatformError", missing)
	}
	p.changeLock(t, withScheme("h1"))
	_, err := bundle.Create(t.Context(), p.in, p.projects(), p.locked(), &bytes.Buffer{})
	locked, ok := errors.AsType[*installer.LockedError](err)
	if !ok || !strings.Contains(locked.Reasons[0].Reason, "plan9_arm") {
		t.Errorf("Create without the hash = %v, want a *LockedError", err)
	}
}

// Damaged archives are refused, also by Verify.
func TestDamagedProvider(t *testing.T) {
	t.Parallel()
	p := newProviderProject(t)
	name := p.bundle(t)
	text, err := os.ReadFile(name)
	testenv.Must(t, err)
	at := bytes.Index(text, []byte("PK\x03\x04"))
	text[at+20] ^= 1
	testenv.Must(t, os.WriteFile(name, text, 0o600))
	opened, err := bundle.Open(name)
	testenv.Must(t, err)
	defer opened.Close()
	entries, err := p.in.VerifyStore(t.Context(), opened)
	if err != nil || len(entries) != 1 || !errors.Is(entries[0].Err, oci.ErrLayout) || entries[0].Platform != addrs.CurrentPlatform() {
		t.Errorf("VerifyStore = %+v, %v", entries, err)
	}
	if err := p.installFrom(t, name); !errors.Is(err, oci.ErrLayout) {
		t.Errorf("Install = %v, want ErrLayout", err)
	}
}

func with(in *installer.Installer, change func(*installer.Options)) *installer.Installer {
	o := in.Options()
	change(&o)
	return installer.New(o)
}
