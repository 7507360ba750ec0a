package getmodules_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestUnsupported(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"s3::https://s3.amazonaws.com/b/k":             "cotter/getmodules/s3",
		"gcs::https://www.googleapis.com/storage/v1/b": "cotter/getmodules/gcs",
		"hg::https://example.com/a":                    "cotter/getmodules/hg",
		"ssh://git:hunter2@example.com/a":              "git::ssh://",
		"nope::https://u:hunter2@example.com":          `"nope"`,
		"example.com:80/a":                             `"example.com"`,
		"":                                             `""`,
		"https::file:///etc/x.zip":                     "not fetched by http",
		"https::ftp://example.com/x.zip":               "not fetched by http",
	}
	for address, want := range tests {
		_, _, err := fetchURL(t, &getmodules.Fetcher{}, address)
		if !errors.Is(err, getmodules.ErrUnsupportedScheme) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v, want ErrUnsupportedScheme with %s", address, err, want)
		}
	}
}

func TestFetchOverExisting(t *testing.T) {
	t.Parallel()
	source, dir := filepath.Join(t.TempDir(), "a.zip"), t.TempDir()
	testenv.WriteFile(t, source, string(sampleZip()))
	kept := filepath.Join(dir, "kept")
	testenv.WriteFile(t, kept, "x")
	req := getmodules.Request{Package: addrs.ParseModulePackage(fileURL(source)), Dir: dir}
	if _, err := new(getmodules.Fetcher).Fetch(t.Context(), req); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error is %v, want fs.ErrExist", err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("what was there is gone: %v", err)
	}
	req.Dir = ""
	if _, err := new(getmodules.Fetcher).Fetch(t.Context(), req); err == nil {
		t.Error("no directory is no error")
	}
	req.Dir = filepath.Join(dir, "missing", "package")
	if _, err := new(getmodules.Fetcher).Fetch(t.Context(), req); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a parent: error is %v, want fs.ErrNotExist", err)
	}
}

func TestFetchError(t *testing.T) {
	t.Parallel()
	_, _, err := fetchURL(t, &getmodules.Fetcher{}, "nope::https://user:hunter2@example.com/a?sig=hunter2&ref=v1")
	var fetch *getmodules.FetchError
	if !errors.As(err, &fetch) || fetch.Package != "nope::https://example.com/a?sig=REDACTED&ref=v1" {
		t.Errorf("error is %#v, want the redacted package", err)
	}
}

func TestFresh(t *testing.T) {
	t.Parallel()
	f := &getmodules.Fetcher{
		HTTPClient: &http.Client{}, UserAgent: "test", CacheDir: "/cache", GitBackend: getmodules.GitInstalled, HTTPClientForGit: true,
		Git: getmodules.Git{Path: "/git", Env: []string{"A=1"}, Interactive: true}, Limits: getmodules.Limits{Entries: 7},
		Getters: map[string]getmodules.Getter{"x": nil},
	}
	fresh := f.Fresh()
	a, b := reflect.ValueOf(f).Elem(), reflect.ValueOf(fresh).Elem()
	for i := range a.NumField() {
		if field := a.Type().Field(i); field.IsExported() && field.Type.Kind() != reflect.Func && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			t.Errorf("%s is %v, want %v", field.Name, b.Field(i), a.Field(i))
		}
	}
	if fresh.Limits.Entries != 7 || fresh.Git.Path != "/git" || fresh.HTTPClient != f.HTTPClient {
		t.Error("nested settings are missing")
	}
	fresh.CacheDir = "/other"
	if f.CacheDir != "/cache" {
		t.Error("a change of the copy changes the original")
	}
}

// TestZeroValues checks that methods of zero values return errors and do not panic.
func TestZeroValues(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		&getmodules.FetchError{}, &getmodules.StatusError{}, &getmodules.SubmoduleError{}, &getmodules.RefNotFoundError{},
	} {
		_, _ = err.Error(), errors.Unwrap(err)
	}
	_ = getmodules.Link{}.String()
	f, none := &getmodules.Fetcher{}, getmodules.Request{}
	_, fetchErr := f.Fetch(t.Context(), none)
	_, tagsErr := f.Tags(t.Context(), none)
	_, _ = f.Reference(t.Context(), none)
	_, repositoryErr := f.OCIRepository(t.Context(), none)
	_, contentErr := f.OpenOCI(t.Context(), "", "")
	_, clientErr := f.GitClient(t.Context(), addrs.ModulePackage{})
	for name, err := range map[string]error{
		"Fetch": fetchErr, "Tags": tagsErr, "OCIRepository": repositoryErr, "OpenOCI": contentErr, "GitClient": clientErr,
	} {
		if err == nil {
			t.Errorf("%s of nothing succeeded", name)
		}
	}
}

var errNotAllowed = errors.New("not allowed")

// refusing returns a function that sets a request's Allow to one that rejects addresses
// containing text.
func refusing(text string) func(*getmodules.Request) {
	return func(req *getmodules.Request) {
		req.Allow = func(pkg addrs.ModulePackage) error {
			if strings.Contains(pkg.String(), text) {
				return errNotAllowed
			}
			return nil
		}
	}
}

// TestAllowPages checks that Allow is called for the addresses that pages point to, before
// any request to them. It is not called for the address of the request itself.
func TestAllowPages(t *testing.T) {
	t.Parallel()
	site := newSite(t, map[string]http.HandlerFunc{"/a.zip": serve(sampleZip())})
	site.routes["/page"] = leadTo(site.URL + "/middle")
	site.routes["/middle"] = leadTo(site.URL + "/a.zip")
	for text, asked := range map[string]int{"/middle": 1, "/a.zip": 2} {
		before := len(site.asked())
		_, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/page", refusing(text))
		if !errors.Is(err, errNotAllowed) || !strings.Contains(err.Error(), "points to "+site.URL+text) {
			t.Errorf("refusing %s: %v, want the refusal and the address", text, err)
		}
		if got := len(site.asked()) - before; got != asked {
			t.Errorf("refusing %s: %d requests, want %d", text, got, asked)
		}
	}
	if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/page", refusing("/page")); err != nil {
		t.Errorf("refusing the page itself: %v", err)
	}
}

func TestAllowSubmodules(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	inner := newGitRepo(t, s.root, "inner.git")
	id := inner.commit("main", gitFile{path: "main.tf"})
	outer := newGitRepo(t, s.root, "outer.git")
	outer.commit("main", gitmodules("sub", "../inner.git"), gitFile{path: "sub", mode: "160000", content: id})
	req := getmodules.Request{Package: s.address(outer, ""), Submodules: true}
	refusing("inner")(&req)
	if _, _, err := fetchTree(t, newGitFetcher(t), req); !errors.Is(err, errNotAllowed) || !strings.Contains(err.Error(), `"sub"`) {
		t.Errorf("Fetch = %v, want the refusal and the submodule's path", err)
	}
	refusing("outer")(&req)
	if _, _, err := fetchTree(t, newGitFetcher(t), req); err != nil {
		t.Errorf("refusing the package itself: %v", err)
	}
}

// fileURL returns the address of a package at a local path.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if path[0] != '/' {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func TestDirectoryOfThisMachine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.WriteFile(t, filepath.Join(dir, "main.tf"), "x")
	if _, _, err := fetchURL(t, &getmodules.Fetcher{}, fileURL(dir)); !errors.Is(err, getmodules.ErrUnsupportedScheme) {
		t.Errorf("a fetch of a directory: error is %v, want ErrUnsupportedScheme", err)
	}
}

func TestFileArchive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.WriteFile(t, filepath.Join(dir, "a.zip"), string(sampleZip()))
	testenv.WriteFile(t, filepath.Join(dir, "a"), string(sampleZip()))
	testenv.WriteFile(t, filepath.Join(dir, "b.zip", "main.tf"), "")
	for address, resolved := range map[string]string{
		fileURL(dir + "/a.zip"):            fileURL(dir + "/a.zip"),
		fileURL(dir+"/a") + "?archive=zip": fileURL(dir+"/a") + "?archive=zip",
	} {
		got, pkg, err := fetchURL(t, &getmodules.Fetcher{}, address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if diff := cmp.Diff(sampleTree, got); diff != "" {
			t.Errorf("%s: tree differs (-want +got):\n%s", address, diff)
		}
		if pkg.Resolved.String() != resolved || pkg.ArchiveSum == "" {
			t.Errorf("%s: package is %+v", address, pkg)
		}
	}
	tests := map[string]error{
		fileURL(dir + "/missing.zip"):                   fs.ErrNotExist,
		fileURL(dir + "/a"):                             getmodules.ErrUnsupportedScheme,
		fileURL(dir + "/b.zip"):                         getmodules.ErrNotArchive,
		fileURL(dir+"/a") + "?archive=tgz":              getmodules.ErrNotArchive,
		fileURL(dir+"/a.zip") + "?checksum=md5:" + "00": nil,
		fileURL(dir) + "?checksum=00":                   nil,
		"file://host" + dir:                             getmodules.ErrUnsupportedScheme,
		"file:relative":                                 getmodules.ErrUnsupportedScheme,
		"file::relative":                                getmodules.ErrUnsupportedScheme,
		"file::https://example.com/a.zip":               getmodules.ErrUnsupportedScheme,
	}
	for address, want := range tests {
		if _, _, err := fetchURL(t, &getmodules.Fetcher{}, address); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: error is %v, want %v", address, err, want)
		}
	}
}

func TestLocalFromStrangers(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	testenv.WriteFile(t, filepath.Join(source, "main.tf"), "x")
	changes := map[string]func(*getmodules.Request){
		"package":      func(req *getmodules.Request) { req.FromPackage = true },
		"server":       func(req *getmodules.Request) { req.FromServer, req.Origin = true, "https://example.com" },
		"local server": func(req *getmodules.Request) { req.FromServer, req.Origin = true, "http://127.0.0.1:80" },
	}
	for name, change := range changes {
		for _, address := range []string{fileURL(source), "file::" + fileURL(source), "git::" + fileURL(source), "file::" + source} {
			if _, _, err := fetchURL(t, &getmodules.Fetcher{}, address, change); !errors.Is(err, getmodules.ErrRefusedLocation) {
				t.Errorf("%s from a %s: error is %v, want ErrRefusedLocation", address, name, err)
			}
		}
	}
}
