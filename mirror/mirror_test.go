package mirror_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/modtest"
)

const world = `
-- registry/acme/net/aws/1.2.0/main.tf --
# net
-- archives/tar.tar.gz/main.tf --
# tar
`

const config = `
module "net" {
  source = "HOST/acme/net/aws"
}
module "tar" {
  source = "https://HOST/archives/tar.tar.gz"
}
`

func open(t *testing.T) (w *modtest.World, in *installer.Installer, dir string, m *mirror.Mirror) {
	t.Helper()
	w = modtest.New(t, modtest.Txtar(world))
	in, dir = w.Installer(), t.TempDir()
	text := strings.ReplaceAll(config, "HOST", string(w.Host()))
	testenv.Must(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(text), 0o600))
	if _, err := in.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{}); err != nil {
		t.Fatal(err)
	}
	m, err := mirror.Open(in.Options().Fetcher.(*getmodules.Fetcher), "oci://"+string(w.Host())+"/corp/modules")
	testenv.Must(t, err)
	return w, in, dir, m
}

// missing returns how many of the two entries Status reports as missing.
func missing(t *testing.T, m *mirror.Mirror, dir string) (n int) {
	t.Helper()
	found, err := mirror.Status(t.Context(), m, []installer.Project{{Dir: dir}}, installer.ScopeModules)
	if err != nil || len(found) != 2 {
		t.Fatalf("Status = %v, %v, want 2 entries", found, err)
	}
	for _, entry := range found {
		if entry.Missing {
			n++
		}
	}
	return n
}

// Entries that the mirror lacks are listed and pushed once. Damage in the mirror is detected.
func TestPushStatusAndVerify(t *testing.T) {
	t.Parallel()
	w, in, dir, m := open(t)
	if n := missing(t, m, dir); n != 2 {
		t.Errorf("%d entries are missing in an empty mirror, want 2", n)
	}
	if entries, err := in.VerifyStore(t.Context(), m); err != nil || len(entries) > 0 {
		t.Errorf("VerifyStore of an empty mirror = %v, %v", entries, err)
	}
	for _, pushed := range []int{2, 0} {
		result, err := mirror.Push(t.Context(), in, []installer.Project{{Dir: dir}, {Dir: dir}}, installer.LockedOptions{}, m)
		if err != nil || result.Entries != 2 || result.Pushed != pushed || (result.Bytes > 0) != (pushed > 0) {
			t.Errorf("Push = %+v, %v, want 2 entries, %d pushed", result, err, pushed)
		}
	}
	if n := missing(t, m, dir); n != 0 {
		t.Errorf("%d entries are missing after a push", n)
	}
	w.SetFaults(modtest.Fault{Path: "/v2/corp/modules/blobs/", Status: http.StatusOK, Body: "damaged"})
	entries, err := in.VerifyStore(t.Context(), m)
	if err != nil || len(entries) != 2 {
		t.Fatalf("VerifyStore = %v, %v, want 2 entries", entries, err)
	}
	for _, entry := range entries {
		if entry.Err == nil {
			t.Errorf("%s is damaged, and VerifyStore has no error", entry.Source)
		}
	}
	w.SetFaults(modtest.Fault{Path: "/v2/", Status: http.StatusForbidden})
	found, err := mirror.Status(t.Context(), m, []installer.Project{{Dir: dir}}, installer.ScopeModules)
	if slices.ContainsFunc(found, func(e mirror.Entry) bool { return e.Checked || e.Missing }) {
		t.Errorf("Status = %+v, want entries that are not checked", found)
	}
	if !errors.Is(err, getmodules.ErrAuthentication) {
		t.Errorf("Status of a closed mirror: %v", err)
	}
	if _, err := mirror.Push(t.Context(), in, []installer.Project{{Dir: dir}}, installer.LockedOptions{}, m); !errors.Is(err, getmodules.ErrAuthentication) {
		t.Errorf("Push to a closed mirror: %v", err)
	}
}

// If a project fails, the others are pushed nevertheless.
func TestPushWithoutLock(t *testing.T) {
	t.Parallel()
	_, in, dir, m := open(t)
	unlocked := t.TempDir()
	text, err := os.ReadFile(filepath.Join(dir, "main.tf"))
	testenv.Must(t, err)
	testenv.Must(t, os.WriteFile(filepath.Join(unlocked, "main.tf"), text, 0o600))
	result, err := mirror.Push(t.Context(), in, []installer.Project{{Dir: unlocked}, {Dir: dir}}, installer.LockedOptions{}, m)
	var failed *installer.ProjectError
	var locked *installer.LockedError
	if !errors.As(err, &failed) || failed.Dir != unlocked || !errors.As(err, &locked) || result.Pushed != 2 {
		t.Errorf("Push = %+v, %v, want 2 pushed and a *LockedError of %s", result, err, unlocked)
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
