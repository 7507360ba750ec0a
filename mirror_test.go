package cotter_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/modtest"
)

// mirrored is an installed project whose packages are in a mirror.
func mirrored(t *testing.T) (*project, *cotter.Mirror) {
	t.Helper()
	p, _ := bundled(t)
	mirror := openMirror(t, p)
	result, err := p.installer().PushMirror(t.Context(), []string{p.dir}, cotter.Request{}, nil, mirror)
	if err != nil {
		t.Fatal(err)
	}
	if result.Entries != 3 || result.Pushed != 3 || result.Bytes == 0 {
		t.Errorf("PushMirror = %+v, want 3 entries, all pushed", result)
	}
	return p, mirror
}

func openMirror(t *testing.T, p *project) *cotter.Mirror {
	t.Helper()
	mirror, err := cotter.OpenMirror(p.installer().Fetcher.(*getmodules.Fetcher), "oci://"+string(p.world.Host())+"/corp/modules")
	if err != nil {
		t.Fatal(err)
	}
	return mirror
}

// A mirror takes the place of all origins: two requests a package.
func TestMirrorInstall(t *testing.T) {
	t.Parallel()
	p, mirror := mirrored(t)
	in := freshInstaller(t, p, mirror)
	p.world.ResetRequests()
	if _, err := in.Install(t.Context(), cotter.Request{Dir: p.dir, Locked: true}); err != nil {
		t.Fatal(err)
	}
	for _, request := range p.world.Requests() {
		if !strings.HasPrefix(request.Path, "/v2/corp/modules/") {
			t.Errorf("asked for %s", request)
		}
	}
	if n := len(p.world.Requests()); n != 2*3 {
		t.Errorf("%d requests, want 2 for each of 3 packages", n)
	}
	p.mustVerify(t, cotter.Request{Dir: p.dir})
	// Another run of this user needs no mirror.
	in.Stores = nil
	p.remove(t, ".terraform")
	if _, err := in.Install(t.Context(), cotter.Request{Dir: p.dir, Locked: true, Offline: true}); err != nil {
		t.Error(err)
	}
}

// Whatever a mirror does, the origins have the packages.
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
			p, mirror := mirrored(t)
			in := freshInstaller(t, p, mirror)
			p.log = nil
			p.world.SetFaults(test.fault)
			if _, err := in.Install(t.Context(), cotter.Request{Dir: p.dir, Locked: true}); err != nil {
				t.Fatal(err)
			}
			if log := p.events(); !strings.Contains(log, test.warning) {
				t.Errorf("no warning has %q:\n%s", test.warning, log)
			}
			p.mustVerify(t, cotter.Request{Dir: p.dir})
		})
	}
}

// Damage in the mirror is found, and what the mirror lacks is listed.
func TestMirrorStatusAndVerify(t *testing.T) {
	t.Parallel()
	p, mirror := mirrored(t)
	in := p.installer()
	found, err := in.MirrorStatus(t.Context(), []string{p.dir}, cotter.Request{}, mirror)
	if err != nil || len(found) != 3 {
		t.Fatalf("MirrorStatus = %v, %v, want 3 entries", found, err)
	}
	for _, entry := range found {
		if entry.Missing {
			t.Errorf("%s is missing", entry.Key)
		}
	}
	p.world.SetFaults(modtest.Fault{Path: "/v2/corp/modules/blobs/", Status: http.StatusOK, Body: "damaged"})
	entries, err := in.VerifyMirror(t.Context(), mirror)
	if err != nil || len(entries) != 3 {
		t.Fatalf("VerifyMirror = %v, %v, want 3 entries", entries, err)
	}
	for _, entry := range entries {
		if entry.Err == nil {
			t.Errorf("%s is damaged, and VerifyMirror has no error", entry.Source)
		}
	}
	p.world.SetFaults(modtest.Fault{Path: "/v2/", Status: http.StatusForbidden})
	if _, err := in.MirrorStatus(t.Context(), []string{p.dir}, cotter.Request{}, mirror); !errors.Is(err, getmodules.ErrAuthentication) {
		t.Errorf("MirrorStatus of a closed mirror: %v", err)
	}
	if _, err := in.PushMirror(t.Context(), []string{p.dir}, cotter.Request{}, nil, mirror); !errors.Is(err, getmodules.ErrAuthentication) {
		t.Errorf("PushMirror to a closed mirror: %v", err)
	}
}

func TestOpenMirrorRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "oci://", "oci://r.example.com", "r.example.com/a", "https://r.example.com/a", "oci://r.example.com/A", "oci://r.example.com/a?tag=b", "oci://u:p@r.example.com/a", "oci://r.example.com/a:b"} {
		if _, err := cotter.OpenMirror(&getmodules.Fetcher{}, address); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("OpenMirror(%q): error is %v", address, err)
		}
	}
}
