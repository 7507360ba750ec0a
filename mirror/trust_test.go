package mirror_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/ocistore"
)

// If a mirror confirms an entry, its origin is not queried.
func TestTrust(t *testing.T) {
	t.Parallel()
	for _, trusted := range []bool{true, false} {
		t.Run(fmt.Sprint(trusted), func(t *testing.T) {
			t.Parallel()
			w, in, dir, m := open(t)
			if _, err := mirror.Push(t.Context(), in, []installer.Project{{Dir: dir}}, installer.LockedOptions{}, m); err != nil {
				t.Fatal(err)
			}
			m.Trusted = trusted
			var warnings []string
			fresh := with(w.Installer(), func(o *installer.Options) {
				o.CacheDir, o.StateDir, o.Stores = t.TempDir(), t.TempDir(), []installer.PackageStore{m}
			})
			fresh = with(fresh, func(o *installer.Options) {
				o.OnEvent = func(ev installer.Event) {
					if warning, ok := ev.(event.Warning); ok {
						warnings = append(warnings, warning.Message)
					}
				}
			})
			w.ResetRequests()
			testenv.Must(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
			if _, err := fresh.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{Locked: true}); err != nil {
				t.Fatal(err)
			}
			asked := false
			for _, request := range w.Requests() {
				asked = asked || !strings.HasPrefix(request.Path, "/v2/")
			}
			if asked == trusted {
				t.Errorf("the origins were asked: %t, want %t", asked, !trusted)
			}
			if len(warnings) > 0 {
				t.Errorf("warnings are %q", warnings)
			}
			entries, err := in.VerifyStore(t.Context(), m)
			if err != nil || len(entries) != 2 || (entries[0].Err == nil) != trusted {
				t.Errorf("VerifyStore = %v, %v", entries, err)
			}
		})
	}
}

// A mirror that confirms nothing still delivers packages that were confirmed before.
func TestUntrustedMirrorDelivers(t *testing.T) {
	t.Parallel()
	w, in, dir, m := open(t)
	if _, err := mirror.Push(t.Context(), in, []installer.Project{{Dir: dir}}, installer.LockedOptions{}, m); err != nil {
		t.Fatal(err)
	}
	m.Trusted = false
	in = with(in, func(o *installer.Options) { o.Stores, o.CacheDir = []installer.PackageStore{m}, t.TempDir() })
	for _, name := range []string{"net", "tar"} {
		testenv.Must(t, os.RemoveAll(filepath.Join(dir, ".terraform", "modules", name)))
	}
	w.ResetRequests()
	if _, err := in.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, request := range w.Requests() {
		if !strings.HasPrefix(request.Path, "/v2/") {
			t.Errorf("asked for %s", request)
		}
	}
}

// A store can be imported only if it confirms its entries.
func TestImportUntrusted(t *testing.T) {
	t.Parallel()
	w, in, dir, m := open(t)
	if _, err := mirror.Push(t.Context(), in, []installer.Project{{Dir: dir}}, installer.LockedOptions{}, m); err != nil {
		t.Fatal(err)
	}
	m.Trusted = false
	fresh := with(w.Installer(), func(o *installer.Options) { o.CacheDir, o.StateDir = t.TempDir(), t.TempDir() })
	entries, err := fresh.ImportStore(t.Context(), m)
	if err != nil || len(entries) != 2 || !errors.Is(entries[0].Err, ocistore.ErrDeliversOnly) {
		t.Errorf("ImportStore = %v, %v, want ErrDeliversOnly", entries, err)
	}
	testenv.Must(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
	if _, err := fresh.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{Offline: true}); !errors.Is(err, installer.ErrOffline) {
		t.Errorf("after the import: %v, want ErrOffline", err)
	}
}
