package installer_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/bundle"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/store/storefetch"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/modtest"
)

func bundled(t *testing.T) (*project, []byte) {
	t.Helper()
	p := world(t, `
-- config/main.tf --
module "net" {
  source = "MODTEST_HOST/acme/net/aws//modules/vpc"
}
module "tar" {
  source = "https://MODTEST_HOST/archives/tar.tar.gz"
}
-- registry/acme/net/aws/1.2.0/modules/vpc/main.tf --
module "names" {
  source = "git::https://MODTEST_HOST/git/names.git?ref=v1.0.0"
}
-- registry/acme/net/aws/1.2.0/README.md --
The net.
-- git/names.git/v1.0.0/main.tf --
# names
-- archives/tar.tar.gz/main.tf --
# tar
`)
	p.mustInstall(t, request{})
	var text bytes.Buffer
	if _, err := bundle.Create(t.Context(), p.installer(), projects(p.dir), installer.LockedOptions{}, &text); err != nil {
		t.Fatal(err)
	}
	return p, text.Bytes()
}

// bundleOf returns a bundle of what the lock of a project has.
func bundleOf(t *testing.T, in *installer.Installer, p *project) *bundle.Bundle {
	t.Helper()
	var text bytes.Buffer
	if _, err := bundle.Create(t.Context(), in, projects(p.dir), installer.LockedOptions{}, &text); err != nil {
		t.Fatal(err)
	}
	return openBundle(t, text.Bytes())
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

// freshInstaller returns an installer with an empty cache and state, which uses a store.
func freshInstaller(t *testing.T, p *project, store installer.PackageStore) *installer.Installer {
	t.Helper()
	in := with(p.installer(), func(o *installer.Options) { o.CacheDir, o.StateDir = t.TempDir(), t.TempDir() })
	if store != nil {
		in = with(in, func(o *installer.Options) { o.Stores = []installer.PackageStore{store} })
	}
	p.remove(t, ".terraform")
	return in
}

// Damaged packages in a bundle are reported and not imported. The others are imported.
func TestBundleDamaged(t *testing.T) {
	t.Parallel()
	p, text := bundled(t)
	damaged := bytes.Clone(text) // inside the first archive
	at := bytes.Index(damaged, []byte("PK\x03\x04"))
	damaged[at+40] ^= 1
	entries, err := installerinternal.ImportStore(t.Context(), freshInstaller(t, p, nil), openBundle(t, damaged))
	testenv.Must(t, err)
	failed := 0
	for _, entry := range entries {
		if entry.Err != nil {
			failed++
			if !errors.Is(entry.Err, bundle.ErrBundle) {
				t.Errorf("%s: error is %v, want ErrBundle", entry.Source, entry.Err)
			}
		}
	}
	if failed != 1 || len(entries) != 3 {
		t.Errorf("%d of %d entries failed, want 1 of 3", failed, len(entries))
	}
}

// A bundle cannot give an entry other content by changing the statement about it.
func TestBundleWithOtherContent(t *testing.T) {
	t.Parallel()
	p, text := bundled(t)
	lock := p.lockOf(t)
	victim, _ := lock.Module("tar")
	names, _ := lock.Module("net.names")
	forged := forge(t, text, artifact.StatementOf(names), artifact.StatementOf(victim))
	entries, err := installerinternal.VerifyStore(t.Context(), p.installer(), openBundle(t, forged))
	testenv.Must(t, err)
	var mismatch *installer.HashMismatchError
	if len(entries) != 1 || !errors.As(entries[0].Err, &mismatch) {
		t.Errorf("VerifyStore: %v, want a *HashMismatchError", entries)
	}
	in := freshInstaller(t, p, nil)
	if _, err := installerinternal.ImportStore(t.Context(), in, openBundle(t, forged)); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true, Offline: true}); !errors.Is(err, installer.ErrOffline) {
		t.Errorf("after the import: error is %v, want ErrOffline", err)
	}
	in = with(in, func(o *installer.Options) { o.Stores = []installer.PackageStore{openBundle(t, forged)} })
	if _, err := in.Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true}); err != nil {
		t.Errorf("with the origin behind the bundle: %v", err)
	}
	if got := p.file(".terraform/modules/tar/main.tf"); got != "# tar\n" {
		t.Errorf("installed is %q", got)
	}
}

// forge returns a bundle in which the artifact for the statement other contains the package of
// the statement content.
func forge(t *testing.T, text []byte, content, other artifact.Statement) []byte {
	t.Helper()
	opened := openBundle(t, text)
	manifest, err := storefetch.Manifest(t.Context(), opened, content.Tag())
	testenv.Must(t, err)
	forgery, err := artifact.ParseModule(manifest)
	testenv.Must(t, err)
	layer, err := os.Create(filepath.Join(t.TempDir(), "layer"))
	testenv.Must(t, err)
	defer layer.Close()
	repository, err := opened.Repository(t.Context(), addrs.Provider{})
	testenv.Must(t, err)
	testenv.Must(t, oci.Download(t.Context(), repository, forgery.Layer, layer, nil))
	forgery.Statement = other
	if manifest, err = forgery.Manifest(); err != nil {
		t.Fatal(err)
	}
	var forged bytes.Buffer
	err = oci.WriteLayout(&forged, []oci.Ref{{Tag: other.Tag(), Manifest: oci.Describe(manifest)}}, []oci.Blob{
		{Descriptor: oci.Describe(manifest), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(manifest)), nil
		}},
		{Descriptor: forgery.Layer, Open: func() (io.ReadCloser, error) {
			return os.Open(layer.Name())
		}},
	})
	testenv.Must(t, err)
	return forged.Bytes()
}

// An artifact that has the tag of another entry does not confirm that entry.
func TestBundleWithOtherTag(t *testing.T) {
	t.Parallel()
	p, text := bundled(t)
	lock := p.lockOf(t)
	victim, _ := lock.Module("tar")
	names, _ := lock.Module("net.names")
	moved := bytes.Replace(text, []byte(artifact.StatementOf(victim).Tag()), []byte("entry-unused"+strings.Repeat("0", 58)), 1)
	moved = bytes.Replace(moved, []byte(artifact.StatementOf(names).Tag()), []byte(artifact.StatementOf(victim).Tag()), 1)
	in := freshInstaller(t, p, openBundle(t, moved))
	_, err := in.Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true, Offline: true})
	if !errors.Is(err, installer.ErrOffline) {
		t.Errorf("error is %v, want ErrOffline", err)
	}
	p.checkWarned(t, "artifact of another entry")
}

func mirrored(t *testing.T) (*project, *mirror.Mirror) {
	t.Helper()
	p, _ := bundled(t)
	to, err := mirror.Open(p.installer().Options().Fetcher.(*getmodules.Fetcher), "oci://"+string(p.world.Host())+"/corp/modules")
	testenv.Must(t, err)
	result, err := mirror.Push(t.Context(), p.installer(), projects(p.dir), installer.LockedOptions{}, to)
	testenv.Must(t, err)
	if result.Entries != 3 || result.Pushed != 3 || result.Bytes == 0 {
		t.Errorf("mirror.Push = %+v, want 3 entries, all pushed", result)
	}
	return p, to
}

// What a mirror has confirmed counts in later runs of the same user without asking it again, but only while the
// user names it.
func TestMirrorRemembered(t *testing.T) {
	t.Parallel()
	p, from := mirrored(t)
	in := freshInstaller(t, p, from)
	mustInstall(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true})
	p.mustVerify(t, request{Project: installer.Project{Dir: p.dir}})
	p.remove(t, ".terraform")
	mustInstall(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true, Offline: true})
	in = with(in, func(o *installer.Options) { o.Stores = nil })
	p.remove(t, ".terraform")
	if _, err := in.Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true, Offline: true}); !errors.Is(err, installer.ErrOffline) {
		t.Errorf("without the mirror: %v", err)
	}
}

// If a mirror fails or has bad content, the packages come from their origins.
func TestMirrorFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		fault   modtest.Fault
		warning string
	}{
		{"is down", modtest.Fault{Path: "/v2/", Status: http.StatusBadGateway}, "cannot be used, so the origins are asked"},
		{"denies", modtest.Fault{Path: "/v2/", Status: http.StatusForbidden}, "cannot be used, so the origins are asked"},
		{"is empty", modtest.Fault{Path: "/v2/", Status: http.StatusNotFound}, ""},
		{"has lost the blobs", modtest.Fault{Path: "/v2/corp/modules/blobs/", Status: http.StatusNotFound}, "404"},
		{"has damaged blobs", modtest.Fault{Path: "/v2/corp/modules/blobs/", Status: http.StatusOK, Body: "damaged"}, "its package in the mirror"},
		{"cuts off blobs", modtest.Fault{Path: "/v2/corp/modules/blobs/", Truncate: true}, "its package in the mirror"},
		{"has other manifests", modtest.Fault{Path: "/v2/corp/modules/manifests/", Status: http.StatusOK, Body: "{}"}, ""},
		{"is unsteady", modtest.Fault{Path: "/v2/", Status: http.StatusServiceUnavailable, Times: 2}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, from := mirrored(t)
			in := freshInstaller(t, p, from)
			p.log = nil
			p.world.SetFaults(test.fault)
			mustInstall(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true})
			if log := p.events(); !strings.Contains(log, test.warning) {
				t.Errorf("no warning has %q:\n%s", test.warning, log)
			}
			p.mustVerify(t, request{Project: installer.Project{Dir: p.dir}})
		})
	}
}
