package mirror_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/modtest"
)

// missing returns how many of the entries Status reports as missing.
func (p *project) missing(t *testing.T, m *mirror.Mirror) (n int) {
	t.Helper()
	found, err := mirror.Status(t.Context(), m, p.projects(), installer.ScopeAll, p.platforms...)
	if err != nil || len(found) != 3 {
		t.Fatalf("Status = %v, %v, want 3 entries", found, err)
	}
	for _, entry := range found {
		if entry.Missing {
			n++
		}
	}
	return n
}

func (p *project) push(t *testing.T, m *mirror.Mirror, want mirror.Result) {
	t.Helper()
	result, err := mirror.Push(t.Context(), p.in, append(p.projects(), p.projects()...), p.locked(), m)
	testenv.Must(t, err)
	if (result.Bytes > 0) != (result.Pushed+result.Replaced > 0) {
		t.Errorf("Push = %+v, with so many bytes", *result)
	}
	if result.Bytes = 0; *result != want {
		t.Errorf("Push = %+v, want %+v", *result, want)
	}
}

// Entries that the mirror lacks are listed and pushed once. Damage in the mirror is detected.
func TestPushStatusAndVerify(t *testing.T) {
	t.Parallel()
	p, m := open(t)
	if n := p.missing(t, m); n != 3 {
		t.Errorf("%d entries are missing in an empty mirror, want 3", n)
	}
	if entries, err := installerinternal.VerifyStore(t.Context(), p.in, m); err != nil || len(entries) > 0 {
		t.Errorf("VerifyStore of an empty mirror = %v, %v", entries, err)
	}
	p.push(t, m, mirror.Result{Entries: 2, Providers: 1, Pushed: 3})
	p.push(t, m, mirror.Result{Entries: 2, Providers: 1})
	if n := p.missing(t, m); n != 0 {
		t.Errorf("%d entries are missing after a push", n)
	}
	p.w.SetFaults(
		modtest.Fault{Path: "/v2/corp/modules/blobs/", Status: http.StatusOK, Body: "damaged"},
		modtest.Fault{Path: p.providerPath() + "blobs/", Status: http.StatusOK, Body: "damaged"},
	)
	entries, err := installerinternal.VerifyStore(t.Context(), p.in, m)
	if err != nil || len(entries) != 3 {
		t.Fatalf("VerifyStore = %v, %v, want 3 entries", entries, err)
	}
	for _, entry := range entries {
		if entry.Err == nil {
			t.Errorf("%s is damaged, and VerifyStore has no error", entry.Source)
		}
	}
	p.w.SetFaults(modtest.Fault{Path: "/v2/", Status: http.StatusForbidden})
	found, err := mirror.Status(t.Context(), m, p.projects(), installer.ScopeAll)
	if slices.ContainsFunc(found, func(e mirror.Entry) bool { return e.Checked || e.Missing }) {
		t.Errorf("Status = %+v, want entries that are not checked", found)
	}
	if !errors.Is(err, getmodules.ErrAuthentication) {
		t.Errorf("Status of a closed mirror: %v", err)
	}
	if _, err := mirror.Push(t.Context(), p.in, p.projects(), p.locked(), m); !errors.Is(err, getmodules.ErrAuthentication) {
		t.Errorf("Push to a closed mirror: %v", err)
	}
}

// providerPath is the path of requests for the provider's repository in the mirror.
func (p *project) providerPath() string {
	return "/v2/corp/modules/providers/" + strings.ReplaceAll(string(p.w.Host()), ":", "_") + "/acme/cloud/"
}

// If a project fails, the others are pushed nevertheless.
func TestPushWithoutLock(t *testing.T) {
	t.Parallel()
	p, m := open(t)
	unlocked := p.w.Dir(t, "config")
	result, err := mirror.Push(t.Context(), p.in, append([]installer.Project{{Dir: unlocked}}, p.projects()...), p.locked(), m)
	var failed *installer.ProjectError
	var locked *installer.LockedError
	if !errors.As(err, &failed) || failed.Dir != unlocked || !errors.As(err, &locked) || result.Pushed != 3 {
		t.Errorf("Push = %+v, %v, want 3 pushed and a *LockedError of %s", result, err, unlocked)
	}
}

// A mirror cannot have two packages of the same version and platform. A published archive
// replaces one that was packed.
func TestPushOtherProvider(t *testing.T) {
	t.Parallel()
	p, m := open(t)
	var both []hashing.Hash
	p.changeHashes(t, func(all []hashing.Hash) []hashing.Hash { both = all; return withScheme("h1")(all) })
	p.push(t, m, mirror.Result{Entries: 2, Providers: 1, Pushed: 3})
	p.changeHashes(t, func([]hashing.Hash) []hashing.Hash { return both })
	p.push(t, m, mirror.Result{Entries: 2, Providers: 1})
	p.changeHashes(t, withScheme("zh"))
	p.push(t, m, mirror.Result{Entries: 2, Providers: 1, Replaced: 1})
	p.changeHashes(t, func([]hashing.Hash) []hashing.Hash { return withScheme("h1")(both) })
	if _, err := mirror.Repair(t.Context(), p.in, p.projects(), p.locked(), m); err == nil || !strings.Contains(err.Error(), "no zh hash") {
		t.Errorf("Repair = %v, want an error: it would replace the published archive by one that it packs", err)
	}
	p.changeHashes(t, ofAnotherPackage)
	found, err := mirror.Status(t.Context(), m, p.projects(), installer.ScopeAll)
	if err != nil || len(found) != 3 || !found[2].Other {
		t.Errorf("Status = %+v, %v, want another package", found, err)
	}
	_, err = mirror.Push(t.Context(), p.in, p.projects(), p.locked(), m)
	if mismatch, ok := errors.AsType[*getproviders.MismatchError](err); !ok || !mismatch.Locked {
		t.Errorf("Push = %v, want a *MismatchError", err)
	}
}

func TestOpenRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"", "oci://", "oci://r.example.com", "r.example.com/a", "https://r.example.com/a",
		"oci://r.example.com/A", "oci://r.example.com/a?tag=b", "oci://u:p@r.example.com/a", "oci://r.example.com/a:b",
	} {
		if _, err := mirror.Open(&getmodules.Fetcher{}, address); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("Open(%q): error is %v", address, err)
		}
	}
}
