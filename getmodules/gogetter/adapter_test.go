package gogetter_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	getter "github.com/hashicorp/go-getter/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gogetter"
	"github.com/cotterpin/cotter/internal/testenv"
)

// acme is a getter of go-getter v2; acmeV1 makes it one of v1. It calls write to produce
// the download and records the request.
type acme struct {
	write func(dst string) error

	asked   *url.URL
	file    bool
	request getter.Request
	client  *getter.Client
}

func (a *acme) Detect(req *getter.Request) (bool, error) { return req.Forced == "acme", nil }

func (a *acme) Mode(context.Context, *url.URL) (getter.Mode, error) { return getter.ModeAny, nil }

func (a *acme) Get(ctx context.Context, req *getter.Request) error {
	a.asked, a.request, a.client = req.URL(), *req, getter.ClientFromContext(ctx)
	return a.write(req.Dst)
}

func (a *acme) GetFile(ctx context.Context, req *getter.Request) error {
	a.file = true
	return a.Get(ctx, req)
}

// acmeV1 implements the getter interface of go-getter v1.
type acmeV1 struct{ *acme }

func (a acmeV1) Get(dst string, u *url.URL) error {
	a.asked = u
	return a.write(dst)
}

func (a acmeV1) GetFile(dst string, u *url.URL) error {
	a.file = true
	return a.Get(dst, u)
}

// adapters returns one Fetcher that uses the getter through V2 and one that uses it
// through V1.
func adapters(a *acme) map[string]*getmodules.Fetcher {
	v2 := gogetter.V2{Name: "acme", New: func() getter.Getter { return a }}
	v1 := gogetter.V1{New: func(context.Context) gogetter.GetterV1 { return acmeV1{a} }}
	return map[string]*getmodules.Fetcher{
		"v2": {Getters: map[string]getmodules.Getter{"acme": v2}},
		"v1": {Getters: map[string]getmodules.Getter{"acme": v1}},
	}
}

func fetch(t *testing.T, f *getmodules.Fetcher, address string) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	return testenv.Fetch(t, t.TempDir(), func(dir string) (*getmodules.Package, error) {
		return f.Fetch(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(address), Dir: dir})
	})
}

func directory(files map[string]string) func(string) error {
	return func(dst string) error {
		for name, text := range files {
			name = filepath.Join(dst, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
}

func file(text []byte) func(string) error {
	return func(dst string) error { return os.WriteFile(dst, text, 0o644) }
}

func TestAdapters(t *testing.T) {
	t.Parallel()
	files := map[string]string{"main.tf": "x", "modules/a/main.tf": "y"}
	tests := map[string]struct {
		address string
		write   func(string) error
		asked   string
		file    bool
	}{
		"directory":           {"acme::https://h/net?v=1", directory(files), "https://h/net?v=1", false},
		"archive by suffix":   {"acme::https://h/net.zip", file(testenv.Zip(t, files)), "https://h/net.zip", true},
		"archive by argument": {"acme::https://h/net?archive=zip&v=1", file(testenv.Zip(t, files)), "https://h/net?v=1", true},
	}
	for name, test := range tests {
		a := &acme{write: test.write}
		for version, f := range adapters(a) {
			*a = acme{write: test.write}
			got, _, err := fetch(t, f, test.address)
			if diff := cmp.Diff(files, got); err != nil || diff != "" {
				t.Errorf("%s, %s: error %v, tree (-want +got):\n%s", name, version, err, diff)
			}
			if a.asked.String() != test.asked || a.file != test.file {
				t.Errorf("%s, %s: asked for %s (file: %v), want %s (file: %v)", name, version, a.asked, a.file, test.asked, test.file)
			}
		}
	}
}

// TestV2Settings checks the settings of the request and of the client that a getter
// receives.
func TestV2Settings(t *testing.T) {
	t.Parallel()
	a := &acme{write: directory(map[string]string{"main.tf": ""})}
	if _, _, err := fetch(t, adapters(a)["v2"], "acme::https://h/net"); err != nil {
		t.Fatal(err)
	}
	if r := a.request; !r.Copy || !r.DisableSymlinks || r.Umask != 0o077 || r.Inplace {
		t.Errorf("request is %+v, want Copy, DisableSymlinks and the umask 077", r)
	}
	if c := a.client; len(c.Getters) != 1 || c.Decompressors == nil || len(c.Decompressors) != 0 || !c.DisableSymlinks {
		t.Errorf("client is %+v, want one getter, an empty map of decompressors, DisableSymlinks", c)
	}
}

// TestNewGetter checks that New is called for each download, so that getters need not be
// safe for concurrent use.
func TestNewGetter(t *testing.T) {
	t.Parallel()
	write := directory(map[string]string{"main.tf": ""})
	f := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{
		"acme": gogetter.V2{Name: "acme", New: func() getter.Getter { return &acme{write: write} }},
	}}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, _, err := fetch(t, f, "acme::https://h/net"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// TestRefusedResults checks results of a getter that are no directory or no file. Package getmodules
// tests what is refused of every getter.
func TestRefusedResults(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	testenv.Must(t, directory(map[string]string{"main.tf": "outside"})(outside))
	failed := errors.New("it failed")
	tests := map[string]struct {
		address string
		write   func(string) error
		want    error
		text    string
	}{
		"failure":      {"acme::https://h/net", func(string) error { return failed }, failed, "it failed"},
		"nothing":      {"acme::https://h/net", func(string) error { return nil }, nil, "left nothing"},
		"file":         {"acme::https://h/net", file(nil), getmodules.ErrUnsafeEntry, "place of a directory"},
		"no file":      {"acme::https://h/net.zip", directory(map[string]string{"a": ""}), getmodules.ErrUnsafeEntry, "place of a file"},
		"link":         {"acme::https://h/net", func(dst string) error { return os.Symlink(outside, dst) }, getmodules.ErrUnsafeEntry, "symbolic link"},
		"link to file": {"acme::https://h/net.zip", func(dst string) error { return os.Symlink(outside, dst) }, getmodules.ErrUnsafeEntry, "symbolic link"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for version, f := range adapters(&acme{write: test.write}) {
				_, _, err := fetch(t, f, test.address)
				if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
					t.Errorf("%s: error is %v, want %v that says %q", version, err, test.want, test.text)
				}
			}
		})
	}
}

// TestRefusedRequests checks requests that must not reach a getter.
func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	location := func(path string) addrs.Location {
		at, err := addrs.LocationOf(&url.URL{Scheme: "https", Host: "h", Path: path})
		testenv.Must(t, err)
		return at
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Terraform-Get", "s3::https://"+r.Host+"/net")
	}))
	t.Cleanup(server.Close)
	for version, f := range adapters(&acme{write: func(string) error { panic("asked") }}) {
		g := f.Getters["acme"]
		pointed := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"s3": g}} // servers may point to s3
		if _, _, err := fetch(t, pointed, server.URL+"/page"); !errors.Is(err, getmodules.ErrRefusedLocation) {
			t.Errorf("%s as s3: error is %v, want ErrRefusedLocation", version, err)
		}
		if _, err := g.Get(t.Context(), getmodules.Download{Location: location("/net"), FromServer: true}); !errors.Is(err, getmodules.ErrRefusedLocation) {
			t.Errorf("%s, from a server: error is %v, want ErrRefusedLocation", version, err)
		}
		if _, err := g.Get(t.Context(), getmodules.Download{Location: location("/net"), Revision: strings.Repeat("a", 40)}); err == nil {
			t.Errorf("%s: a revision is not refused", version)
		}
	}
	v2 := gogetter.V2{New: func() getter.Getter { panic("asked") }}
	if _, err := v2.Get(t.Context(), getmodules.Download{Location: location("/net//x")}); err == nil {
		t.Error("a // in the path is not refused")
	}
	for _, g := range []getmodules.Getter{gogetter.V1{}, gogetter.V2{}} {
		if _, err := g.Get(t.Context(), getmodules.Download{Location: location("")}); err == nil {
			t.Errorf("%T without New is not refused", g)
		}
	}
}

// TestOwnGetters uses getters that are part of go-getter/v2.
func TestOwnGetters(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	archive := testenv.Zip(t, map[string]string{"main.tf": "x"})
	testenv.Must(t, os.WriteFile(filepath.Join(source, "net.zip"), archive, 0o600))
	server := httptest.NewServer(http.FileServer(http.Dir(source)))
	t.Cleanup(server.Close)
	f := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{
		"stock":     gogetter.V2{New: func() getter.Getter { return new(getter.HttpGetter) }},
		"stockfile": gogetter.V2{New: func() getter.Getter { return new(getter.FileGetter) }},
	}}
	local := "stockfile::file://" + filepath.ToSlash(source)
	for _, address := range []string{"stock::" + server.URL + "/net.zip", local + "/net.zip"} {
		got, _, err := fetch(t, f, address)
		if diff := cmp.Diff(map[string]string{"main.tf": "x"}, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, tree (-want +got):\n%s", address, err, diff)
		}
	}
	// FileGetter links directories even if Copy is set.
	if _, _, err := fetch(t, f, local); !errors.Is(err, getmodules.ErrUnsafeEntry) {
		t.Errorf("FileGetter of a directory: error is %v, want ErrUnsafeEntry", err)
	}
}
