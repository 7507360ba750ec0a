package getmodules_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/testenv"
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
	return box.result(t, pkg, err)
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
			testenv.WriteFile(t, name, text)
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
		got.Revision = from.Revision
		return got, err
	})
	testenv.Must(t, err)
	want := map[string]string{"main.tf": "x", "a": "dir", "a/b.tf": "yz"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if got, want := asked.Location.URL().String(), "https://u:p@h.example/b/net.tf?region=r&key=secret#12"; got != want || asked.Archive || asked.Revision != "pin" {
		t.Errorf("asked for %q (%+v), want %q", got, asked, want)
	}
	if want := addrs.ParseModulePackage("demo::https://h.example/b/net.tf?region=r&archive=false&rev=pin"); pkg.Resolved != want || pkg.Revision != "pin" || pkg.Bytes != 3 {
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
		testenv.WriteFile(t, from.Path, strings.Repeat("x", 1000))
		<-ctx.Done()
		return getmodules.Downloaded{}, ctx.Err()
	}
	req := getmodules.Request{Package: addrs.ParseModulePackage("demo::https://h.example/n.zip")}
	_, _, err := fetchDemo(t, &getmodules.Fetcher{Limits: getmodules.Limits{DownloadBytes: 999}}, req, tooMuch)
	if !errors.Is(err, getmodules.ErrTooLarge) || errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want ErrTooLarge", err)
	}
	f, box := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"demo": getterFunc(tooMuch)}}, newSandbox(t)
	req.Dir = box.dir
	pkg, err := f.Fetch(packagelimits.NewDisk(999).In(t.Context()), req)
	_, _, err = box.result(t, pkg, err)
	if over, ok := errors.AsType[*getmodules.LimitError](err); !ok || over.Limit != getmodules.LimitRun {
		t.Errorf("error is %v, want that the run writes too much", err)
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

const (
	firstCommit = "1111111111111111111111111111111111111111"
	tagCommit   = "2222222222222222222222222222222222222222"
)

// ownGit is a program's own git client. Its only repository has the tag v1.0.0 and a branch.
type ownGit struct {
	err error
	// revision is returned by Get if it is not "".
	revision string
}

var ownRefs = map[string]string{"HEAD": firstCommit, "refs/heads/main": firstCommit, "refs/tags/v1.0.0": tagCommit, "refs/heads/bad": "no commit"}

func (g ownGit) Refs(context.Context, getmodules.Download) (map[string]string, error) {
	return ownRefs, g.err
}

func (g ownGit) Get(_ context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	if g.err != nil {
		return getmodules.Downloaded{}, g.err
	}
	commit := from.Revision
	if commit == "" {
		if commit = ownRefs["refs/tags/"+from.Location.URL().Query().Get("ref")]; commit == "" {
			commit = ownRefs["HEAD"]
		}
	}
	if err := os.Mkdir(from.Path, 0o700); err != nil {
		return getmodules.Downloaded{}, err
	}
	err := os.WriteFile(filepath.Join(from.Path, "main.tf"), []byte("# "+commit+"\n"), 0o600)
	if g.revision != "" {
		commit = g.revision
	}
	return getmodules.Downloaded{Revision: commit}, err
}

// withGetter returns a Fetcher with a getter for one kind of address. Its git does not exist.
func withGetter(kind string, getter getmodules.Getter) *getmodules.Fetcher {
	return &getmodules.Fetcher{
		Getters: map[string]getmodules.Getter{kind: getter},
		Git:     getmodules.Git{Path: "/does/not/exist"},
	}
}

// TestReplaceGit uses a program's own git client for everything that concerns git.
func TestReplaceGit(t *testing.T) {
	t.Parallel()
	f := withGetter("git", ownGit{})
	const address = "git::https://user:hunter2@git.example.com/net.git"
	for query, want := range map[string]string{"": firstCommit, "?ref=v1.0.0": tagCommit} {
		pkg, err := f.Fetch(t.Context(), getmodules.Request{Package: pkgOf(address + query), Dir: filepath.Join(t.TempDir(), "net")})
		if err != nil || pkg.Revision != want || pkg.Resolved != pkgOf("git::https://git.example.com/net.git?ref="+want) {
			t.Errorf("Fetch(%q) = %+v, %v", query, pkg, err)
		}
	}
	ref, err := f.Reference(t.Context(), getmodules.Request{Package: pkgOf(address + "?ref=v1.0.0")})
	if want := (getmodules.Reference{Kind: getmodules.ReferenceTag, Name: "v1.0.0", Revision: tagCommit}); err != nil || ref != want {
		t.Errorf("Reference = %v, %v", ref, err)
	}
	if _, err := f.Reference(t.Context(), getmodules.Request{Package: pkgOf(address + "?ref=bad")}); !errors.Is(err, getmodules.ErrRefNotFound) {
		t.Errorf("a ref without a commit: %v", err)
	}
	tags, err := f.Tags(t.Context(), getmodules.Request{Package: pkgOf(address)})
	if diff := cmp.Diff([]getmodules.Tag{{Name: "v1.0.0", Revision: tagCommit}}, tags); diff != "" || err != nil {
		t.Errorf("Tags: %v (-want +got):\n%s", err, diff)
	}
	other := strings.Repeat("3", 40)
	reach, err := f.Reachable(t.Context(), getmodules.Request{Package: pkgOf(address)}, getmodules.LockedCommit{Revision: tagCommit}, getmodules.LockedCommit{Revision: other})
	if err != nil || reach[tagCommit].Result != getmodules.Reachable || reach[other].Result != getmodules.ReachUnknown || !errors.Is(reach[other].Err, getmodules.ErrNoHistory) {
		t.Errorf("Reachable = %+v, %v", reach, err)
	}
}

// TestReplaceGitIsChecked gives what a git client must not give.
func TestReplaceGitIsChecked(t *testing.T) {
	t.Parallel()
	failed := errors.New("the server \x1b said no to hunter22")
	for name, test := range map[string]struct {
		getter  getmodules.Getter
		address string
		want    error
	}{
		"no commit":         {ownGit{revision: "v1.0.0"}, "https://git.example.com/a.git", getmodules.ErrRevisionNotFound},
		"another commit":    {ownGit{revision: tagCommit}, "https://git.example.com/a.git?ref=" + firstCommit, getmodules.ErrRevisionNotFound},
		"an error":          {ownGit{err: failed}, "https://user:hunter22@git.example.com/a.git", failed},
		"removed":           {nil, "https://git.example.com/a.git", getmodules.ErrUnsupportedScheme},
		"from a package":    {ownGit{}, "file:///a.git", getmodules.ErrRefusedLocation},
		"not a git address": {ownGit{}, "https://git.example.com/a.git?ref=-x", nil},
	} {
		f := withGetter("git", test.getter)
		req := getmodules.Request{Package: addrs.ParseModulePackage("git::" + test.address), Dir: filepath.Join(t.TempDir(), "a"), FromPackage: true}
		pkg, err := f.Fetch(t.Context(), req)
		if err == nil || test.want != nil && !errors.Is(err, test.want) || strings.ContainsAny(err.Error(), "\x1b") || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: %+v, %v, want %v", name, pkg, err, test.want)
		}
		if _, err := os.Lstat(req.Dir); err == nil {
			t.Errorf("%s: the directory exists", name)
		}
	}
}

// TestReplaceGitWithoutRefs asks a plain Getter what only a GitGetter can answer.
func TestReplaceGitWithoutRefs(t *testing.T) {
	t.Parallel()
	for name, getter := range map[string]getmodules.Getter{"a plain getter": struct{ getmodules.Getter }{ownGit{}}, "removed": nil} {
		f, req := withGetter("git", getter), getmodules.Request{Package: pkgOf("git::https://git.example.com/a.git")}
		_, tags := f.Tags(t.Context(), req)
		_, reference := f.Reference(t.Context(), req)
		_, reachable := f.Reachable(t.Context(), req, getmodules.LockedCommit{Revision: tagCommit})
		for _, err := range []error{tags, reference, reachable} {
			if !errors.Is(err, getmodules.ErrUnsupportedScheme) {
				t.Errorf("%s: %v, want ErrUnsupportedScheme", name, err)
			}
		}
	}
}

// TestReplaceBuiltIn replaces and removes the other kinds of sources.
func TestReplaceBuiltIn(t *testing.T) {
	t.Parallel()
	for kind, address := range map[string]string{
		"https": "https://example.com/a.zip", "http": "http://example.com/a.zip", "file": "file:///srv/a", "oci": "oci://example.com/a",
	} {
		req := getmodules.Request{Package: pkgOf(address)}
		called := fmt.Errorf("the getter for %s", kind)
		for getter, want := range map[getmodules.Getter]error{ownGit{err: called}: called, nil: getmodules.ErrUnsupportedScheme} {
			f := withGetter(kind, getter)
			req.Dir = filepath.Join(t.TempDir(), "a")
			if _, err := f.Fetch(t.Context(), req); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", kind, err, want)
			}
			if kind != "oci" {
				continue
			}
			_, reference := f.Reference(t.Context(), req)
			_, repository := f.OCIRepository(t.Context(), req)
			if !errors.Is(reference, getmodules.ErrUnsupportedScheme) || !errors.Is(repository, getmodules.ErrUnsupportedScheme) {
				t.Errorf("oci: %v and %v, want ErrUnsupportedScheme", reference, repository)
			}
		}
	}
}
