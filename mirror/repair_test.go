package mirror_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/artifact"
	"github.com/cotterpin/cotter/internal/stores"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/mirror"
)

func startDocker(t *testing.T) (*testenv.Registry, *mirror.Mirror) {
	t.Helper()
	registry := testenv.StartRegistry(t, "")
	m, err := mirror.Open(&getmodules.Fetcher{HTTPClient: registry.Client(), Backoff: noWait}, "oci://"+registry.Host()+"/corp/modules")
	testenv.Must(t, err)
	return registry, m
}

func noWait(int) time.Duration { return 0 }

// damaged returns the number of entries that VerifyStore finds damaged in a mirror.
func damaged(t *testing.T, in *installer.Installer, m *mirror.Mirror) (n int) {
	t.Helper()
	entries, err := in.VerifyStore(t.Context(), m)
	if err != nil || len(entries) != 2 {
		t.Fatalf("VerifyStore = %v, %v, want 2 entries", entries, err)
	}
	for _, entry := range entries {
		if entry.Err != nil {
			n++
		}
	}
	return n
}

// layerOf returns the digest of an entry's layer.
func layerOf(t *testing.T, in *installer.Installer, m *mirror.Mirror, source string) string {
	t.Helper()
	entries, err := in.VerifyStore(t.Context(), m)
	testenv.Must(t, err)
	for _, entry := range entries {
		if !strings.Contains(entry.Source, source) {
			continue
		}
		text, err := stores.Manifest(t.Context(), m, entry.Tag)
		testenv.Must(t, err)
		found, err := artifact.ParseModule(text)
		testenv.Must(t, err)
		return found.Layer.Digest
	}
	t.Fatalf("there is no entry of %s", source)
	return ""
}

// Distribution does not store a blob again that it already has, even if its copy is damaged. So
// a repair stores the same content with another digest, as often as necessary.
func TestRepairDockerRegistry(t *testing.T) {
	t.Parallel()
	registry, m := startDocker(t)
	_, in, dir, _ := open(t)
	run := func(name string, do func() (*mirror.Result, error), want mirror.Result) {
		t.Helper()
		got, err := do()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Bytes = 0; *got != want {
			t.Errorf("%s: %+v, want %+v", name, *got, want)
		}
	}
	push := func() (*mirror.Result, error) {
		return mirror.Push(t.Context(), in, []installer.Project{{Dir: dir}}, installer.LockedOptions{}, m)
	}
	repair := func() (*mirror.Result, error) {
		return mirror.Repair(t.Context(), in, []installer.Project{{Dir: dir}}, installer.LockedOptions{}, m)
	}
	run("Push", push, mirror.Result{Entries: 2, Pushed: 2})
	run("Repair of an undamaged mirror", repair, mirror.Result{Entries: 2})
	for range 2 {
		testenv.Must(t, registry.Damage(layerOf(t, in, m, "/net/")))
		if n := damaged(t, in, m); n != 1 {
			t.Fatalf("%d entries are damaged, want 1", n)
		}
		run("Push to a damaged mirror", push, mirror.Result{Entries: 2})
		run("Repair", repair, mirror.Result{Entries: 2, Replaced: 1})
		if n := damaged(t, in, m); n != 0 {
			t.Errorf("%d entries are damaged after a repair", n)
		}
	}
	testenv.Must(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
	in = with(in, func(o *installer.Options) { o.Stores, o.CacheDir = []installer.PackageStore{m}, t.TempDir() })
	if _, err := in.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{Locked: true}); err != nil {
		t.Error(err)
	}
}
