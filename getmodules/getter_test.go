package getmodules_test

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

type getterFunc func(context.Context, getmodules.Download) (getmodules.Downloaded, error)

func (f getterFunc) Get(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	return f(ctx, from)
}

// fetchDemo fetches a package using get for addresses that begin with "demo::".
func fetchDemo(t *testing.T, f *getmodules.Fetcher, req getmodules.Request, get getterFunc) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	f.Getters = map[string]getmodules.Getter{"demo": get}
	box := newSandbox(t)
	req.Dir = box.dir
	pkg, err := f.Fetch(t.Context(), req)
	if err != nil {
		if _, err := os.Lstat(box.dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after an error the directory is left: %v", err)
		}
		return nil, nil, err
	}
	return tree(t, box.dir), pkg, nil
}

// writes returns a getter that writes files below the package's path. The text "link:x"
// makes a link to x, and the name "" is the package's path itself.
func writes(t *testing.T, files map[string]string) getterFunc {
	return func(_ context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
		for name, text := range files {
			name = filepath.Join(from.Path, name)
			if target, isLink := strings.CutPrefix(text, "link:"); isLink {
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.Symlink(target, name)); err != nil {
					t.Error(err)
				}
				continue
			}
			writeFile(t, name, text)
		}
		return getmodules.Downloaded{}, nil
	}
}

func TestGetterAsked(t *testing.T) {
	t.Parallel()
	const checksummed = "demo::https://h.example/b/net.zip?checksum=md5:x&archive=false"
	var asked getmodules.Download
	req := getmodules.Request{Package: addrs.ParseModulePackage("demo::https://u:p@h.example/b/net.tf?region=r&key=secret&archive=false#12"), Revision: "pin"}
	files, pkg, err := fetchDemo(t, &getmodules.Fetcher{}, req, func(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
		asked = from
		got, err := writes(t, map[string]string{"main.tf": "x", "a/b.tf": "yz"})(ctx, from)
		got.Revision = "rev"
		return got, err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"main.tf": "x", "a": "dir", "a/b.tf": "yz"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if got, want := asked.Location.URL().String(), "https://u:p@h.example/b/net.tf?region=r&key=secret#12"; got != want || asked.Archive || asked.Revision != "pin" {
		t.Errorf("asked for %q (%+v), want %q", got, asked, want)
	}
	if want := addrs.ParseModulePackage("demo::https://h.example/b/net.tf?region=r&archive=false"); pkg.Resolved != want || pkg.Revision != "rev" || pkg.Bytes != 3 {
		t.Errorf("got %+v, want %q", pkg, want)
	}
	if _, _, err := fetchDemo(t, &getmodules.Fetcher{}, getmodules.Request{Package: addrs.ParseModulePackage(checksummed)}, nil); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a checksum of a directory: %v", err)
	}
}

func TestGetterResolved(t *testing.T) {
	t.Parallel()
	req := getmodules.Request{Package: addrs.ParseModulePackage("demo::https://h.example/n")}
	_, pkg, err := fetchDemo(t, &getmodules.Fetcher{}, req, func(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
		_, err := writes(t, map[string]string{"main.tf": "x"})(ctx, from)
		return getmodules.Downloaded{Resolved: addrs.ParseModulePackage("demo::https://u:p@h.example/n?rev=1&token=t")}, err
	})
	if err != nil || pkg.Resolved != addrs.ParseModulePackage("demo::https://h.example/n?rev=1") {
		t.Errorf("got %+v, %v; want an address without credentials", pkg, err)
	}
}

func TestGetterArchive(t *testing.T) {
	t.Parallel()
	archive := string(sampleZip())
	for _, address := range []string{"demo::https://h.example/n.zip", "demo::https://h.example/n?archive=zip"} {
		files, pkg, err := fetchDemo(t, &getmodules.Fetcher{}, getmodules.Request{Package: addrs.ParseModulePackage(address)}, writes(t, map[string]string{"": archive}))
		if err != nil || len(files) == 0 || pkg.ArchiveSum == "" || pkg.Resolved.String() != address || pkg.Bytes != int64(len(archive)) {
			t.Errorf("%q: got %v, %+v, %v", address, files, pkg, err)
		}
	}
}

func TestGetterRefused(t *testing.T) {
	t.Parallel()
	archive := string(sampleZip())
	const zip, dir = "demo::https://h.example/n.zip", "demo::https://h.example/n"
	tests := map[string]struct {
		address string
		limits  getmodules.Limits
		files   map[string]string
		want    error
	}{
		"nothing":                  {dir, getmodules.Limits{}, nil, getmodules.ErrEmpty},
		"no archive":               {zip, getmodules.Limits{}, nil, fs.ErrNotExist},
		"not an archive":           {zip, getmodules.Limits{}, map[string]string{"": "<html>"}, getmodules.ErrNotArchive},
		"truncated":                {zip, getmodules.Limits{}, map[string]string{"": archive[:len(archive)-3]}, getmodules.ErrUnsafeArchive},
		"directory for an archive": {zip, getmodules.Limits{}, map[string]string{"a": "x"}, getmodules.ErrNotArchive},
		"link for an archive":      {zip, getmodules.Limits{}, map[string]string{"": "link:/etc/passwd"}, getmodules.ErrNotArchive},
		"checksum":                 {zip + "?checksum=" + strings.Repeat("0", 64), getmodules.Limits{}, map[string]string{"": archive}, getmodules.ErrChecksum},
		"large archive":            {zip, getmodules.Limits{DownloadBytes: 10}, map[string]string{"": archive}, getmodules.ErrTooLarge},
		"nothing but a bad link":   {dir, getmodules.Limits{}, map[string]string{"l": "link:../../x"}, getmodules.ErrEmpty},
		"version control":          {dir, getmodules.Limits{}, map[string]string{".git/config": "x"}, getmodules.ErrUnsafeEntry},
		"many files":               {dir, getmodules.Limits{Entries: 1}, map[string]string{"a": "x", "b": "x"}, getmodules.ErrTooLarge},
		"large file":               {dir, getmodules.Limits{FileBytes: 1}, map[string]string{"a": "xy"}, getmodules.ErrTooLarge},
		"large directory":          {dir, getmodules.Limits{TreeBytes: 1}, map[string]string{"a": "x", "b": "x"}, getmodules.ErrTooLarge},
		"large beside":             {dir, getmodules.Limits{DownloadBytes: 1}, map[string]string{"../tmp": "xy", "a": "x"}, getmodules.ErrTooLarge},
	}
	for name, test := range tests {
		_, _, err := fetchDemo(t, &getmodules.Fetcher{Limits: test.limits}, getmodules.Request{Package: addrs.ParseModulePackage(test.address)}, writes(t, test.files))
		if !errors.Is(err, test.want) {
			t.Errorf("%s: error is %v, want %v", name, err, test.want)
		}
	}
}

// TestGetterEndless checks that a getter that does not return is stopped, either because
// it has written too much or because it has stalled.
func TestGetterEndless(t *testing.T) {
	t.Parallel()
	tooMuch := func(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
		writeFile(t, from.Path, strings.Repeat("x", 1000))
		<-ctx.Done()
		return getmodules.Downloaded{}, ctx.Err()
	}
	req := getmodules.Request{Package: addrs.ParseModulePackage("demo::https://h.example/n.zip")}
	_, _, err := fetchDemo(t, &getmodules.Fetcher{Limits: getmodules.Limits{DownloadBytes: 999}}, req, tooMuch)
	if !errors.Is(err, getmodules.ErrTooLarge) || errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want ErrTooLarge", err)
	}
	_, _, err = fetchDemo(t, &getmodules.Fetcher{StallTimeout: time.Millisecond}, req, tooMuch)
	if err == nil || !strings.Contains(err.Error(), "stalled") {
		t.Errorf("error is %v, want that it stalled", err)
	}
}

func TestGetterCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	f := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{
		"demo": getterFunc(func(ctx context.Context, _ getmodules.Download) (getmodules.Downloaded, error) {
			cancel()
			<-ctx.Done()
			return getmodules.Downloaded{}, errors.New("something else")
		}),
	}}
	_, err := f.Fetch(ctx, getmodules.Request{Package: addrs.ParseModulePackage("demo::https://h.example/n"), Dir: newSandbox(t).dir})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

// TestGetterError checks that the error of a getter keeps its cause but shows no secrets
// or control characters.
func TestGetterError(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	req := getmodules.Request{Package: addrs.ParseModulePackage("demo::https://user22:hunter22@h.example/n?key=a%2Fsecret&rev=version1")}
	_, _, err := fetchDemo(t, &getmodules.Fetcher{}, req, func(_ context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
		said := &url.Error{Op: "Get\x1b[31m", URL: from.Location.URL().String() + " a/secret version1", Err: cause}
		return getmodules.Downloaded{}, said
	})
	if !errors.Is(err, cause) {
		t.Errorf("error is %v, want its cause", err)
	}
	for _, value := range []string{"user22", "hunter22", "a/secret", "a%2Fsecret", "\x1b"} {
		if strings.Contains(err.Error(), value) {
			t.Errorf("%q is in %q", value, err)
		}
	}
	if !strings.Contains(err.Error(), " version1") {
		t.Errorf("the version is not in %q", err)
	}
}

func TestGetterPolicy(t *testing.T) {
	t.Parallel()
	const server = "https://registry.example.com"
	refused := []getmodules.Request{
		{Package: addrs.ParseModulePackage("demo::https://h.example/n"), FromServer: true, Origin: server},
		{Package: addrs.ParseModulePackage("demo::file:///etc"), FromPackage: true},
		{Package: addrs.ParseModulePackage("demo::/etc"), FromPackage: true},
		{Package: addrs.ParseModulePackage("s3::http://h.example/b/k.zip"), FromServer: true, Origin: server},
	}
	never := getterFunc(func(context.Context, getmodules.Download) (getmodules.Downloaded, error) {
		t.Error("a getter was asked")
		return getmodules.Downloaded{}, nil
	})
	f := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"demo": never, "s3": never, "https": never, "git": never}}
	for _, req := range refused {
		req.Dir = newSandbox(t).dir
		if _, err := f.Fetch(t.Context(), req); !errors.Is(err, getmodules.ErrRefusedLocation) {
			t.Errorf("%+v: error is %v, want ErrRefusedLocation", req, err)
		}
	}
	site := newSite(t, nil)
	req := getmodules.Request{Package: addrs.ParseModulePackage(site.URL + "/n.zip"), Dir: newSandbox(t).dir}
	if _, err := f.Fetch(t.Context(), req); err == nil {
		t.Error("http is replaced")
	}
}

func TestGetterNames(t *testing.T) {
	t.Parallel()
	f := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"demo": getterFunc(nil)}}
	_, _, err := fetchURL(t, f, "nope::https://h.example/n")
	if err == nil || !strings.Contains(err.Error(), "supported are demo, file, git, http, https, oci") {
		t.Errorf("error is %v, want the supported names", err)
	}
}
