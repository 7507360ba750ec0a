package cotter_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/ocilayout"
	"github.com/cotterpin/cotter/lockfile"
)

// bundled is an installed project and its bundle.
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
	p.mustInstall(t, cotter.Request{})
	var bundle bytes.Buffer
	if _, err := p.installer().CreateBundle(t.Context(), []string{p.dir}, cotter.Request{}, nil, &bundle); err != nil {
		t.Fatal(err)
	}
	return p, bundle.Bytes()
}

// openBundle opens a bundle in a file.
func openBundle(t *testing.T, text []byte) *cotter.Bundle {
	t.Helper()
	name := filepath.Join(t.TempDir(), "bundle.tar")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	bundle, err := cotter.OpenBundle(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bundle.Close() })
	return bundle
}

// freshInstaller is an installer of a user who has nothing yet, with a store.
func freshInstaller(t *testing.T, p *project, store cotter.PackageStore) *cotter.Installer {
	t.Helper()
	in := p.installer()
	in.CacheDir, in.StateDir = t.TempDir(), t.TempDir()
	if store != nil {
		in.Stores = []cotter.PackageStore{store}
	}
	p.remove(t, ".terraform")
	return in
}

// A bundle takes the place of all origins.
func TestBundleInstall(t *testing.T) {
	t.Parallel()
	p, text := bundled(t)
	lock := p.file(".terraform.lock.hcl")
	in := freshInstaller(t, p, openBundle(t, text))
	p.world.ResetRequests()
	if _, err := in.Install(t.Context(), cotter.Request{Dir: p.dir, Locked: true, Offline: true}); err != nil {
		t.Fatal(err)
	}
	if n := len(p.world.Requests()); n > 0 || p.file(".terraform.lock.hcl") != lock {
		t.Errorf("%d requests were sent, or the lock has changed", n)
	}
	p.mustVerify(t, cotter.Request{Dir: p.dir})
}

// Damaged packages are not imported, and say so; the others are.
func TestBundleDamaged(t *testing.T) {
	t.Parallel()
	p, text := bundled(t)
	damaged := bytes.Clone(text) // in the first archive
	at := bytes.Index(damaged, []byte("PK\x03\x04"))
	damaged[at+40] ^= 1
	in := freshInstaller(t, p, nil)
	entries, err := in.ImportBundle(t.Context(), openBundle(t, damaged))
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, entry := range entries {
		if entry.Err != nil {
			failed++
			if !errors.Is(entry.Err, cotter.ErrBundle) {
				t.Errorf("%s: error is %v, want ErrBundle", entry.Source, entry.Err)
			}
		}
	}
	if failed != 1 || len(entries) != 3 {
		t.Errorf("%d of %d entries failed, want 1 of 3", failed, len(entries))
	}
	// The origin has what the bundle has damaged.
	in.Stores = []cotter.PackageStore{openBundle(t, damaged)}
	if _, err := in.Install(t.Context(), cotter.Request{Dir: p.dir, Locked: true}); err != nil {
		t.Error(err)
	}
	// Without origins it is an error.
	in = freshInstaller(t, p, openBundle(t, damaged))
	if _, err := in.Install(t.Context(), cotter.Request{Dir: p.dir, Locked: true, Offline: true}); !errors.Is(err, cotter.ErrOffline) {
		t.Errorf("with a damaged bundle and offline: error is %v, want ErrOffline", err)
	}
}

// What a bundle says of an entry does not make other files those of the entry.
func TestBundleWithOtherContent(t *testing.T) {
	t.Parallel()
	p, text := bundled(t)
	lock, diags := lockfile.Parse([]byte(p.file(".terraform.lock.hcl")), "")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	victim, _ := lock.Module("tar")
	names, _ := lock.Module("net.names")
	forged := forge(t, text, modpkg.StatementOf(names), modpkg.StatementOf(victim))
	entries, err := p.installer().VerifyBundle(t.Context(), openBundle(t, forged))
	if err != nil {
		t.Fatal(err)
	}
	var mismatch *cotter.HashMismatchError
	if len(entries) != 1 || !errors.As(entries[0].Err, &mismatch) {
		t.Errorf("VerifyBundle: %v, want a *HashMismatchError", entries)
	}
	in := freshInstaller(t, p, nil)
	if _, err := in.ImportBundle(t.Context(), openBundle(t, forged)); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Install(t.Context(), cotter.Request{Dir: p.dir, Locked: true, Offline: true}); !errors.Is(err, cotter.ErrOffline) {
		t.Errorf("after the import: error is %v, want ErrOffline", err)
	}
	in.Stores = []cotter.PackageStore{openBundle(t, forged)}
	if _, err := in.Install(t.Context(), cotter.Request{Dir: p.dir, Locked: true}); err != nil {
		t.Errorf("with the origin behind the bundle: %v", err)
	}
	if got := p.file(".terraform/modules/tar/main.tf"); got != "# tar\n" {
		t.Errorf("installed is %q", got)
	}
}

// forge returns a bundle in which the entry of another statement has the content of one.
func forge(t *testing.T, text []byte, content, other modpkg.Statement) []byte {
	t.Helper()
	bundle := openBundle(t, text)
	manifest, err := bundle.Manifest(t.Context(), content.Tag())
	if err != nil {
		t.Fatal(err)
	}
	artifact, err := modpkg.ParseManifest(manifest)
	if err != nil {
		t.Fatal(err)
	}
	layer, err := os.Create(filepath.Join(t.TempDir(), "layer"))
	if err != nil {
		t.Fatal(err)
	}
	defer layer.Close()
	if err := bundle.Blob(t.Context(), artifact.Layer, artifact.Size, layer); err != nil {
		t.Fatal(err)
	}
	artifact.Statement = other
	if manifest, err = artifact.Manifest(); err != nil {
		t.Fatal(err)
	}
	var forged bytes.Buffer
	err = ocilayout.Write(&forged, []ocilayout.Ref{{Tag: other.Tag(), Manifest: ocilayout.Describe(manifest)}}, []ocilayout.Blob{
		{Descriptor: ocilayout.Describe(manifest), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(manifest)), nil
		}},
		{Descriptor: ocilayout.Descriptor{Digest: artifact.Layer, Size: artifact.Size}, Open: func() (io.ReadCloser, error) {
			return os.Open(layer.Name())
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return forged.Bytes()
}

// An artifact under the tag of another entry confirms nothing.
func TestBundleWithOtherTag(t *testing.T) {
	t.Parallel()
	p, text := bundled(t)
	lock, _ := lockfile.Parse([]byte(p.file(".terraform.lock.hcl")), "")
	victim, _ := lock.Module("tar")
	names, _ := lock.Module("net.names")
	moved := bytes.Replace(text, []byte(modpkg.StatementOf(victim).Tag()), []byte("entry-unused"+strings.Repeat("0", 58)), 1)
	moved = bytes.Replace(moved, []byte(modpkg.StatementOf(names).Tag()), []byte(modpkg.StatementOf(victim).Tag()), 1)
	in := freshInstaller(t, p, openBundle(t, moved))
	var warnings []string
	in.OnEvent = func(event cotter.Event) {
		if warning, ok := event.(cotter.Warning); ok {
			warnings = append(warnings, warning.Message)
		}
	}
	_, err := in.Install(t.Context(), cotter.Request{Dir: p.dir, Locked: true, Offline: true})
	if !errors.Is(err, cotter.ErrOffline) || !strings.Contains(strings.Join(warnings, "\n"), "artifact of another entry") {
		t.Errorf("error is %v, warnings are %q", err, warnings)
	}
}
