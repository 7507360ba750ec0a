package getmodules_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

func page(head string) http.HandlerFunc {
	return serve([]byte("<!DOCTYPE html><html><head>" + head + "</head><body>text</body></html>"))
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	site := newSite(t, map[string]http.HandlerFunc{"/a.zip": serve(sampleZip())})
	at := site.URL
	for path, route := range map[string]http.HandlerFunc{
		"/header": leadTo(at + "/a.zip"),
		"/meta":   page(`<META NAME="terraform-get" content=" ` + at + `/a.zip?x=1&amp;y=2 ">`),
		"/both": func(w http.ResponseWriter, r *http.Request) {
			leadTo(at+"/a.zip")(w, r)
			page(`<meta name="terraform-get" content="x">`)(w, r)
		},
		"/sub":       leadTo(at + "/a.zip//sub/dir"),
		"/pattern":   leadTo(at + "/a.zip//s*/d*r"),
		"/dot":       leadTo(at + "/a.zip//."),
		"/hop":       leadTo(at + "/sub2"),
		"/sub2":      leadTo(at + "/a.zip//sub"),
		"/nested":    leadTo(at + "/sub2//dir"),
		"/x.zip":     leadTo(at + "/a.zip"),
		"/moved":     redirectTo(302, "/header"),
		"/arguments": leadTo(at + "/a.zip?archive=zip&token=1"),
	} {
		site.routes[path] = route
	}
	tests := []struct{ address, first, subdir string }{
		{"/header", "/header?terraform-get=1", ""},
		{"/header?a=%20b", "/header?a=%20b&terraform-get=1", ""},
		{"/header?archive=no-such-kind", "/header?terraform-get=1", ""},
		{"/meta", "/meta?terraform-get=1", ""},
		{"/both", "/both?terraform-get=1", ""},
		{"/sub", "/sub?terraform-get=1", "sub/dir"},
		{"/pattern", "/pattern?terraform-get=1", "sub/dir"},
		{"/dot", "/dot?terraform-get=1", ""},
		{"/hop", "/hop?terraform-get=1", "sub"},
		{"/nested", "/nested?terraform-get=1", "sub/dir"},
		{"/x.zip?archive=false", "/x.zip?terraform-get=1", ""},
		{"/moved", "/moved?terraform-get=1", ""},
		{"/arguments", "/arguments?terraform-get=1", ""},
	}
	for _, test := range tests {
		before := len(site.asked())
		got, pkg, err := fetchURL(t, newHTTPFetcher(), at+test.address)
		if err != nil {
			t.Errorf("%s: %v", test.address, err)
			continue
		}
		if diff := cmp.Diff(sampleTree, got); diff != "" {
			t.Errorf("%s: tree differs (-want +got):\n%s", test.address, diff)
		}
		if first := site.asked()[before]; first != "GET "+test.first {
			t.Errorf("%s: asked for %q, want %q", test.address, first, test.first)
		}
		if pkg.Subdir != test.subdir || pkg.Resolved.String() != at+"/a.zip" {
			t.Errorf("%s: Subdir = %q, Resolved = %q, want %q and the archive", test.address, pkg.Subdir, pkg.Resolved, test.subdir)
		}
	}
}

func TestDiscoverRefused(t *testing.T) {
	t.Parallel()
	site := newSite(t, map[string]http.HandlerFunc{"/a.zip": serve(sampleZip())})
	// Package internal/hostile has more locations. These are relative ones, which registries may use.
	refused := []string{"/etc", "./x", "../x", "github.com/a/b", "git@github.com:a/b.git", "https://" + strings.Repeat("x", 9000)}
	for i, location := range refused {
		path := fmt.Sprintf("/refused%d", i)
		site.routes[path] = leadTo(location)
		if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+path); !errors.Is(err, getmodules.ErrRefusedLocation) {
			t.Errorf("X-Terraform-Get %.60q: error is %v, want ErrRefusedLocation", location, err)
		}
	}
	tests := map[string]struct {
		route http.HandlerFunc
		want  error
	}{
		"/nothing":   {page(""), getmodules.ErrNoLocation},
		"/in-body":   {serve([]byte(`<head></head><body><meta name="terraform-get" content="https://x/a.zip">`)), getmodules.ErrNoLocation},
		"/behind":    {serve([]byte(`</head><meta name="terraform-get" content="https://x/a.zip">`)), getmodules.ErrNoLocation},
		"/a.tar":     {serve(tarOf(t, tarFile("a", "1"))), getmodules.ErrNoLocation},
		"/long":      {serve(make([]byte, 1<<20+1)), getmodules.ErrTooLarge},
		"/loop":      {leadTo(site.URL + "/loop"), getmodules.ErrRefusedLocation},
		"/circle":    {leadTo(site.URL + "/circle2"), getmodules.ErrRefusedLocation},
		"/circle2":   {leadTo(site.URL + "/circle"), getmodules.ErrRefusedLocation},
		"/forbidden": {answer(403), getmodules.ErrAuthentication},
		"/oci":       {leadTo("oci://example.com/Upper"), getmodules.ErrOCIAddress},
	}
	for path, test := range tests {
		site.routes[path] = test.route
	}
	for path, test := range tests {
		if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+path); !errors.Is(err, test.want) {
			t.Errorf("%s: error is %v, want %v", path, err, test.want)
		}
	}
}

func TestDiscoverSubdirs(t *testing.T) {
	t.Parallel()
	site := newSite(t, map[string]http.HandlerFunc{"/a.zip": serve(newZip(rawFile("x/a", ""), rawFile("y/a", ""), rawFile("f", "")).bytes())})
	for i, subdir := range []string{"nothing", "f", "*", "z*", "f*", "[", "x/../..", "x/*"} {
		path := fmt.Sprintf("/sub%d", i)
		site.routes[path] = leadTo(site.URL + "/a.zip//" + subdir)
		if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+path); err == nil {
			t.Errorf("//%s is no error", subdir)
		}
	}
}

func TestDiscoverHops(t *testing.T) {
	t.Parallel()
	site := newSite(t, map[string]http.HandlerFunc{"/0": serve(sampleZip())})
	site.routes["/1"] = leadTo(site.URL + "/0?archive=zip")
	for i := 2; i <= 6; i++ {
		site.routes[fmt.Sprintf("/%d", i)] = leadTo(fmt.Sprintf("%s/%d", site.URL, i-1))
	}
	if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/5"); err != nil {
		t.Errorf("5 pages: %v", err)
	}
	if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/6"); !errors.Is(err, getmodules.ErrRefusedLocation) {
		t.Errorf("6 pages: error is %v, want ErrRefusedLocation", err)
	}
}

func FuzzMetaLocation(f *testing.F) {
	f.Add([]byte(`<head><meta name="terraform-get" content="https://example.com/a.zip"></head>`))
	f.Add([]byte(`<!-- <head> --><META name=terraform-get content='x'/>`))
	f.Add([]byte(`<body><meta name="terraform-get" content="x">`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got := getmodules.MetaLocation(text); len(got) > 3*len(text) {
			t.Errorf("MetaLocation(%q) = %q", text, got)
		}
	})
}

// TestDiscoverLinks checks that, if a page points to a subdirectory, that directory is the
// package: links from it into the rest of the archive are left out.
func TestDiscoverLinks(t *testing.T) {
	t.Parallel()
	archive := newZip(rawFile("main.tf", "1"), rawFile("sub/a.tf", "2"), rawLink("sub/out.tf", "../main.tf"), rawLink("sub/in.tf", "a.tf"), rawLink("bad", "/etc"))
	site := newSite(t, map[string]http.HandlerFunc{"/a.zip": serve(archive.bytes())})
	site.routes["/page"] = leadTo(site.URL + "/a.zip//sub")
	got, pkg, err := fetchURL(t, newHTTPFetcher(), site.URL+"/page")
	testenv.Must(t, err)
	want := map[string]string{"main.tf": "1", "sub": "dir", "sub/a.tf": "2", "sub/in.tf": "link:a.tf"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	left := []getmodules.Link{
		{Path: "bad", Target: "/etc", Reason: "is absolute"},
		{Path: "sub/out.tf", Target: "../main.tf", Reason: "points out of the package"},
	}
	if diff := cmp.Diff(left, pkg.LeftOut); diff != "" || len(pkg.Warnings) != 2 {
		t.Errorf("warnings %q, LeftOut (-want +got):\n%s", pkg.Warnings, diff)
	}
}
