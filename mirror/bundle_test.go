package mirror_test

// Bundles are the other store of locked packages. They are tested here with the project of the mirrors.

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
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/mirror"
)

// bundle returns the bytes of a bundle with everything that the lock of the project has.
func (p *project) bundle(t *testing.T, in *installer.Installer) []byte {
	t.Helper()
	var text bytes.Buffer
	result, err := bundle.Create(t.Context(), in, p.projects(), p.locked(), &text)
	testenv.Must(t, err)
	if want := (bundle.Result{Entries: 2, Packages: 2, Providers: 1, Bytes: int64(text.Len())}); *result != want {
		t.Fatalf("Create = %+v, want %+v", *result, want)
	}
	return text.Bytes()
}

func openBundle(t *testing.T, text []byte) *bundle.Bundle {
	t.Helper()
	name := filepath.Join(t.TempDir(), "bundle.tar")
	testenv.Must(t, os.WriteFile(name, text, 0o600))
	opened, err := bundle.Open(name)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}

// One hash of the lock is enough for the package of a provider, regardless of its scheme. A package is
// refused if the lock has none of its hashes. No origin is asked.
func TestHashesOfProvidersInStores(t *testing.T) {
	t.Parallel()
	for store, fill := range map[string]func(*project, *mirror.Mirror) installer.PackageStore{
		"bundle": func(p *project, _ *mirror.Mirror) installer.PackageStore { return openBundle(t, p.bundle(t, p.in)) },
		"mirror": func(p *project, m *mirror.Mirror) installer.PackageStore {
			p.push(t, m, mirror.Result{Entries: 2, Providers: 1, Pushed: 3})
			return m
		},
	} {
		for name, test := range map[string]struct {
			change func([]hashing.Hash) []hashing.Hash
			refuse bool
		}{
			"the lock of the store": {func(all []hashing.Hash) []hashing.Hash { return all }, false},
			"h1 alone":              {withScheme("h1"), false},
			"zh alone":              {withScheme("zh"), false},
			"another package":       {ofAnotherPackage, true},
		} {
			t.Run(store+"/"+name, func(t *testing.T) {
				t.Parallel()
				p, m := open(t)
				from := fill(p, m)
				p.changeHashes(t, test.change)
				_, asked, err := p.installFrom(t, from, store == "bundle")
				mismatch, isMismatch := errors.AsType[*getproviders.MismatchError](err)
				if (err != nil) != test.refuse || test.refuse && (!isMismatch || !mismatch.Locked) {
					t.Errorf("Install = %v", err)
				}
				if len(asked) > 0 && !test.refuse {
					t.Errorf("origins got %q", asked)
				}
			})
		}
	}
}

// A lock without zh hashes does not determine the archive of a provider. So the content is packed, and the
// bytes do not depend on where it comes from.
func TestBundleWithoutArchiveHash(t *testing.T) {
	t.Parallel()
	p, _ := open(t)
	published := p.bundle(t, p.in)
	p.changeHashes(t, withScheme("h1"))
	fromStore := p.bundle(t, p.in)
	p.uninstall(t, "")
	if fromOrigin := p.bundle(t, p.w.Installer()); !bytes.Equal(fromStore, fromOrigin) || bytes.Equal(fromStore, published) {
		t.Errorf("the bundle has %d bytes, from the origin %d, and with the archive that was published %d", len(fromStore), len(fromOrigin), len(published))
	}
	unpacked := t.TempDir()
	at := filepath.Join(unpacked, string(p.w.Host()), "acme", "cloud", "1.2.0", addrs.CurrentPlatform().String())
	testenv.Must(t, os.MkdirAll(at, 0o700))
	testenv.Must(t, os.WriteFile(filepath.Join(at, "terraform-provider-cloud_v1.2.0"), []byte("cloud\n"), 0o755)) //nolint:gosec // as it is to be
	in := with(p.w.Installer(), func(o *installer.Options) { o.Providers = getproviders.FilesystemMirror{Dir: unpacked} })
	if again := p.bundle(t, in); !bytes.Equal(fromStore, again) {
		t.Error("from an unpacked mirror the bytes differ")
	}
	_, _, err := p.installFrom(t, openBundle(t, fromStore), true)
	testenv.Must(t, err)
}

// The packages for other platforms are included only if the lock has their hashes.
func TestBundleForPlatforms(t *testing.T) {
	t.Parallel()
	p, _ := open(t)
	p.platforms = []addrs.Platform{plan9}
	text := p.bundle(t, p.in)
	_, _, err := p.installFrom(t, openBundle(t, text), true)
	missing, ok := errors.AsType[*getproviders.MissingPlatformError](err)
	if !ok || len(missing.Platforms) != 1 || missing.Platforms[0] != plan9 {
		t.Errorf("Install = %+v, want a *MissingPlatformError", missing)
	}
	p.changeHashes(t, withScheme("h1"))
	var none bytes.Buffer
	_, err = bundle.Create(t.Context(), p.in, p.projects(), p.locked(), &none)
	locked, ok := errors.AsType[*installer.LockedError](err)
	if !ok || none.Len() > 0 || !strings.Contains(locked.Reasons[0].Reason, "plan9_arm") {
		t.Errorf("Create without the hash = %v, want a *LockedError", err)
	}
}

// Damaged archives are refused, also by Verify.
func TestDamagedProviderInBundle(t *testing.T) {
	t.Parallel()
	p, _ := open(t)
	var text bytes.Buffer
	_, err := bundle.Create(t.Context(), p.in, p.projects(), installer.LockedOptions{Scope: installer.ScopeProviders}, &text)
	testenv.Must(t, err)
	damaged := text.Bytes()
	damaged[bytes.Index(damaged, []byte("PK\x03\x04"))+20] ^= 1
	opened := openBundle(t, damaged)
	entries, err := installerinternal.VerifyStore(t.Context(), p.in, opened)
	if err != nil || len(entries) != 1 || !errors.Is(entries[0].Err, oci.ErrLayout) || entries[0].Platform != addrs.CurrentPlatform() {
		t.Errorf("VerifyStore = %+v, %v", entries, err)
	}
	p.uninstall(t, "providers")
	fresh := with(p.w.Installer(), func(o *installer.Options) {
		o.CacheDir, o.StateDir, o.Stores = t.TempDir(), t.TempDir(), []installer.PackageStore{opened}
	})
	if _, err := fresh.Install(t.Context(), p.projects()[0], installer.InstallOptions{Scope: installer.ScopeProviders, Offline: true}); !errors.Is(err, oci.ErrLayout) {
		t.Errorf("Install = %v, want ErrLayout", err)
	}
}
