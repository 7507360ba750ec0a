package mirror_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/ocistore"
)

// If a trusted mirror has the packages, their origins are not asked. An untrusted mirror delivers what an
// origin confirms, such as the archive of a provider that its registry proves.
func TestTrust(t *testing.T) {
	t.Parallel()
	for _, trusted := range []bool{true, false} {
		t.Run(fmt.Sprint(trusted), func(t *testing.T) {
			t.Parallel()
			p, m := open(t)
			p.push(t, m, mirror.Result{Entries: 2, Providers: 1, Pushed: 3})
			m.Trusted = trusted
			warnings, asked, err := p.installFrom(t, m, false)
			testenv.Must(t, err)
			if (len(asked) == 0) != trusted || has(asked, ".zip") {
				t.Errorf("the origins were asked for %q", asked)
			}
			if len(warnings) > 0 {
				t.Errorf("warnings are %q", warnings)
			}
			if n := p.missing(t, m); n != 0 {
				t.Errorf("%d entries are missing", n)
			}
			entries, err := installerinternal.VerifyStore(t.Context(), p.in, m)
			if err != nil || len(entries) != 3 || (entries[0].Err == nil) != trusted {
				t.Errorf("VerifyStore = %v, %v", entries, err)
			}
		})
	}
}

// A mirror that confirms nothing still delivers modules that were confirmed before.
func TestUntrustedMirrorDelivers(t *testing.T) {
	t.Parallel()
	p, m := open(t)
	p.push(t, m, mirror.Result{Entries: 2, Providers: 1, Pushed: 3})
	m.Trusted = false
	in := with(p.in, func(o *installer.Options) { o.Stores, o.CacheDir = []installer.PackageStore{m}, t.TempDir() })
	p.uninstall(t, "modules/net")
	p.uninstall(t, "modules/tar")
	p.w.ResetRequests()
	_, err := in.Install(t.Context(), p.projects()[0], installer.InstallOptions{})
	testenv.Must(t, err)
	for _, request := range p.w.Requests() {
		if !strings.HasPrefix(request.Path, "/v2/") {
			t.Errorf("asked for %s", request)
		}
	}
}

// A store can be imported only if it confirms its entries.
func TestImportUntrusted(t *testing.T) {
	t.Parallel()
	p, m := open(t)
	p.push(t, m, mirror.Result{Entries: 2, Providers: 1, Pushed: 3})
	m.Trusted = false
	fresh := with(p.w.Installer(), func(o *installer.Options) { o.CacheDir, o.StateDir = t.TempDir(), t.TempDir() })
	entries, err := installerinternal.ImportStore(t.Context(), fresh, m)
	if err != nil || len(entries) != 3 || !errors.Is(entries[0].Err, ocistore.ErrDeliversOnly) {
		t.Errorf("ImportStore = %v, %v, want ErrDeliversOnly", entries, err)
	}
	p.uninstall(t, "")
	if _, err := fresh.Install(t.Context(), p.projects()[0], installer.InstallOptions{Offline: true}); !errors.Is(err, installer.ErrOffline) {
		t.Errorf("after the import: %v, want ErrOffline", err)
	}
}

// If the mirror has damaged the archive of a provider, or has it only for other platforms, it comes from the
// provider's registry.
func TestProviderFallback(t *testing.T) {
	t.Parallel()
	p, m := open(t)
	p.platforms = []addrs.Platform{plan9}
	p.push(t, m, mirror.Result{Entries: 2, Providers: 1, Pushed: 3})
	p.platforms = nil
	if warnings, asked, err := p.installFrom(t, m, false); err != nil || len(warnings) > 0 || !has(asked, ".zip") {
		t.Errorf("for another platform: %v, warnings are %q, asked for %q", err, warnings, asked)
	}
	p.push(t, m, mirror.Result{Entries: 2, Providers: 1, Pushed: 1})
	p.w.SetFaults(modtest.Fault{Path: p.providerPath() + "blobs/", Status: http.StatusOK, Body: "damaged"})
	for _, trusted := range []bool{true, false} {
		m.Trusted = trusted
		warnings, asked, err := p.installFrom(t, m, false)
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "its archive in the mirror") || !has(asked, ".zip") {
			t.Errorf("trusted %t: %v, warnings are %q, asked for %q", trusted, err, warnings, asked)
		}
	}
}
