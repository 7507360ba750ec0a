package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/versions"
)

const secret = "a secret that has 32 characters.."

func userKey(t testing.TB, secret string) *userkey.Key {
	t.Helper()
	key, err := userkey.FromSecret(secret)
	must(t, err)
	return key
}

func openProviders(t testing.TB, dir string) *store.Providers {
	t.Helper()
	return openProvidersAs(t, dir, secret)
}

func openProvidersAs(t testing.TB, dir, secret string) *store.Providers {
	t.Helper()
	s := store.OpenProviders(dir, filepath.Join(t.TempDir(), "scratch"), userKey(t, secret))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var files = map[string]string{"terraform-provider-x": "#! x", "docs/README": "read me"}

func stage(t testing.TB, s *store.Providers, files map[string]string) (string, hashing.Hash) {
	t.Helper()
	dir, err := s.Stage()
	must(t, err)
	write(t, dir, files)
	return dir, hash(t, dir)
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755))
		must(t, err)
	}
}

func hash(t testing.TB, dir string) hashing.Hash {
	t.Helper()
	h1, err := hashing.Dir(t.Context(), dir)
	must(t, err)
	return h1
}

func publishProvider(t testing.TB, s *store.Providers) *store.ProviderPackage {
	t.Helper()
	dir, h1 := stage(t, s, files)
	pkg, err := s.Publish(t.Context(), dir, h1)
	must(t, err)
	return pkg
}

// change replaces the content of a package's file by other content of the same length. It needs
// the file owner's permissions.
func change(t testing.TB, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	info, err := os.Stat(path)
	must(t, err)
	err = errors.Join(
		os.Chmod(path, 0o755), os.WriteFile(path, []byte(strings.ToUpper(string(text))), 0o755),
		os.Chmod(path, info.Mode()), os.Chtimes(path, info.ModTime(), info.ModTime()))
	must(t, err)
}

const zh = hashing.Hash("zh:0000000000000000000000000000000000000000000000000000000000000001")

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openProviders(t, dir)
	pkg := publishProvider(t, s)
	s.RecordArchive(zh, pkg.H1)
	other := hashing.Hash("h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
	for name, test := range map[string]struct {
		store *store.Providers
		hash  hashing.Hash
		found bool
	}{
		"the h1":             {s, pkg.H1, true},
		"the zh":             {s, zh, true},
		"another h1":         {s, other, false},
		"another scheme":     {s, "zz:1", false},
		"another process":    {openProviders(t, dir), zh, true},
		"another user, h1":   {openProvidersAs(t, dir, secret+"!"), pkg.H1, true},
		"another user, zh":   {openProvidersAs(t, dir, secret+"!"), zh, false},
		"another cache, h1":  {openProviders(t, t.TempDir()), pkg.H1, false},
		"another cache, zh":  {openProviders(t, t.TempDir()), zh, false},
		"no cache, h1":       {openProviders(t, ""), pkg.H1, false},
		"no cache, zh":       {openProviders(t, ""), zh, false},
		"no hash":            {s, "", false},
		"a hash with a path": {s, "h1:../../x", false},
		"an empty hash":      {s, "h1:", false},
	} {
		got, err := test.store.Find(t.Context(), test.hash)
		if err != nil || (got != nil) != test.found || got != nil && got.H1 != pkg.H1 {
			t.Errorf("%s: Find = %+v, %v; want found %v", name, got, err, test.found)
		}
	}
	if got := s.Matches(pkg.H1, []hashing.Hash{other, zh}); got != zh {
		t.Errorf("Matches = %q, want %q", got, zh)
	}
}

// Files in the store are protected from writes through a project's link. The directories are not,
// so that the user can remove them.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	pkg := publishProvider(t, openProviders(t, t.TempDir()))
	for name, want := range map[string]string{".": "drwxr-xr-x", "terraform-provider-x": "-r-xr-xr-x", "docs": "drwxr-xr-x"} {
		if info, err := os.Stat(filepath.Join(pkg.Dir(), name)); err != nil || info.Mode().String() != want {
			t.Errorf("%s: mode %v, %v; want %s", name, info.Mode(), err, want)
		}
	}
	must(t, os.RemoveAll(pkg.Dir()))
}

// A package that was changed is not used but quarantined, whatever the times of its files are, and can be
// removed from there.
// An executable that cannot be run any more is replaced by a copy that can, and what has the old file open keeps it.
func TestFindRestoresExecutable(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	pkg := publishProvider(t, openProviders(t, cache))
	name := filepath.Join(pkg.Dir(), "terraform-provider-x")
	must(t, os.Chmod(name, 0o444))
	before, err := os.Stat(name)
	must(t, err)

	s := openProviders(t, cache)
	d := linked(t, s, pkg.Dir())
	if state := d.Inspect(t.Context(), at, false); state.Err == nil {
		t.Errorf("Inspect of a package without an executable = %+v", state)
	}
	if found, err := s.Find(t.Context(), pkg.H1); err != nil || found == nil {
		t.Fatalf("Find = %v, %v", found, err)
	}
	if state := d.Inspect(t.Context(), at, false); state.Err != nil || state.H1 != pkg.H1 {
		t.Errorf("after Find, Inspect = %+v", state)
	}
	if after, err := os.Stat(name); err != nil || os.SameFile(before, after) {
		t.Errorf("the file of the store is the same one, %v", err)
	}
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(dir string){
		"a changed file": func(dir string) { change(t, filepath.Join(dir, "terraform-provider-x")) },
		"a changed file, and read-only directories, as in a restored cache": func(dir string) {
			change(t, filepath.Join(dir, "terraform-provider-x"))
			must(t, errors.Join(os.Chmod(filepath.Join(dir, "docs"), 0o555), os.Chmod(dir, 0o555)))
		},
		"a missing file": func(dir string) { must(t, os.Remove(filepath.Join(dir, "terraform-provider-x"))) },
		"a new file":     func(dir string) { write(t, dir, map[string]string{"new": ""}) },
		"git metadata":   func(dir string) { write(t, dir, map[string]string{".git/config": ""}) },
		"a link out":     func(dir string) { must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link"))) },
	} {
		cache := t.TempDir()
		s := openProviders(t, cache)
		pkg := publishProvider(t, s)
		damage(pkg.Dir())
		next := openProviders(t, cache)
		if got, err := next.Find(t.Context(), pkg.H1); got != nil || !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: Find = %+v, %v; want ErrDamaged", name, got, err)
		}
		if got, err := next.Find(t.Context(), pkg.H1); got != nil || err != nil {
			t.Errorf("%s: Find again = %+v, %v; want nothing", name, got, err)
		}
		again := publishProvider(t, next)
		if h1 := hash(t, again.Dir()); h1 != pkg.H1 {
			t.Errorf("%s: after publishing again the store has %s, want %s", name, h1, pkg.H1)
		}
		must(t, next.RemoveQuarantine())
		if size, err := next.QuarantineSize(); err != nil || size != 0 {
			t.Errorf("%s: %d bytes are left, %v", name, size, err)
		}
	}
}

// Clean removes damaged packages, also if they were the only ones.
func TestCleanDamaged(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	s := openProviders(t, cache)
	pkg := publishProvider(t, s)
	change(t, filepath.Join(pkg.Dir(), "terraform-provider-x"))
	if _, err := openProviders(t, cache).Find(t.Context(), pkg.H1); !errors.Is(err, store.ErrDamaged) {
		t.Fatalf("Find = %v, want ErrDamaged", err)
	}
	freed, err := store.Cache{Dir: cache, StateKey: secret}.Clean(t.Context(), 0, false)
	must(t, err)
	if size, err := s.QuarantineSize(); err != nil || size != 0 || freed.QuarantineBytes == 0 {
		t.Errorf("%d bytes are left and %d were counted as freed, %v", size, freed.QuarantineBytes, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestProof checks that the proof of a directory counts only as long as its files are unchanged.
func TestProof(t *testing.T) {
	t.Parallel()
	cache, project := t.TempDir(), t.TempDir()
	placed := filepath.Join(project, at)
	write(t, placed, files)
	inspect := func() hashing.Hash {
		t.Helper()
		d, err := openProviders(t, cache).ViewDir(project)
		must(t, err)
		defer d.Close()
		state := d.Inspect(t.Context(), at, false)
		must(t, state.Err)
		return state.H1
	}
	first := inspect()
	if first != hash(t, placed) {
		t.Errorf("Inspect = %s, want %s", first, hash(t, placed))
	}
	change(t, filepath.Join(placed, "terraform-provider-x"))
	second := inspect()
	if second != hash(t, placed) || second == first {
		t.Errorf("after a change Inspect = %s, want %s", second, hash(t, placed))
	}
	recorded := proofs(t, cache)
	if len(recorded) != 1 {
		t.Fatalf("proofs: %v; want one", recorded)
	}
	forged := filepath.Join(cache, "provider", "proof", recorded[0])
	text, err := os.ReadFile(forged)
	must(t, err)
	must(t, os.WriteFile(forged, []byte(strings.ReplaceAll(string(text), string(second), string(first))), 0o600))
	if third := inspect(); third != second {
		t.Errorf("with a forged proof Inspect = %s; want %s", third, second)
	}
}

func proofs(t testing.TB, cache string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(cache, "provider", "proof"))
	must(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// Packages that cannot be stored are staged elsewhere and removed at the end.
func TestNotWritable(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for name, cache := range map[string]string{"none": "", "a file": file} {
		scratch := filepath.Join(t.TempDir(), "scratch")
		s := store.OpenProviders(cache, scratch, userKey(t, secret))
		if s.Writable() {
			t.Errorf("%s: the store is writable", name)
		}
		pkg := publishProvider(t, s)
		if !strings.HasPrefix(pkg.Dir(), scratch) || hash(t, pkg.Dir()) != pkg.H1 {
			t.Errorf("%s: the package is at %s", name, pkg.Dir())
		}
		s.RecordArchive(zh, pkg.H1)
		must(t, s.Close())
		if _, err := os.Lstat(scratch); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the scratch directory stays: %v", name, err)
		}
	}
	if _, err := store.OpenProviders("", "", userKey(t, secret)).Stage(); err == nil {
		t.Error("a package is staged nowhere")
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	if got, err := store.ViewProviders(none, userKey(t, secret)).Find(t.Context(), zh); got != nil || err != nil {
		t.Errorf("Find without a store = %v, %v", got, err)
	}
	if _, err := os.Lstat(none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("View has made the store: %v", err)
	}
	cache := t.TempDir()
	pkg := publishProvider(t, openProviders(t, cache))
	before := tree(t, cache)
	s := store.ViewProviders(cache, userKey(t, secret))
	if got, err := s.Find(t.Context(), pkg.H1); got == nil || err != nil {
		t.Errorf("Find = %v, %v", got, err)
	}
	change(t, filepath.Join(pkg.Dir(), "terraform-provider-x"))
	again := store.ViewProviders(cache, userKey(t, secret))
	if got, err := again.Find(t.Context(), pkg.H1); got != nil || !errors.Is(err, store.ErrDamaged) {
		t.Errorf("Find of a damaged package = %v, %v", got, err)
	}
	if diff := cmp.Diff(before, tree(t, cache)); diff != "" || s.Writable() {
		t.Errorf("View has changed the store (-before +after):\n%s", diff)
	}
	must(t, errors.Join(s.Close(), again.Close()))
}

func TestRelease(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	provider := addrs.Provider{Hostname: "example.com", Namespace: "acme", Type: "x"}
	version, linux := versions.MustParse("1.0.0"), addrs.Platform{OS: "linux", Arch: "amd64"}
	signed := evidence.Evidence{Kind: evidence.Signature, By: "AB"}
	want := store.Release{Evidence: signed, Archive: zh, H1: "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", KeyID: "AB", Hashes: []hashing.Hash{zh}}
	statement := store.ReleaseStatement(provider, version, linux)
	s := openProviders(t, cache)
	s.RecordRelease(statement, want)
	got, ok := openProviders(t, cache).Release(evidencerules.Record(signed, statement))
	since := got.Evidence.Since
	if got.Evidence.Since = (time.Time{}); !ok || time.Since(since) > time.Hour || !cmp.Equal(got, want) {
		t.Errorf("Release = %+v since %v, %v; want %+v", got, since, ok, want)
	}
	for _, other := range []evidence.Evidence{{Kind: evidence.Mirror, By: "AB"}, {Kind: evidence.Imported}, {Kind: evidence.Project}, {}} {
		if _, ok := s.Release(evidencerules.Record(other, statement)); ok {
			t.Errorf("the release counts as told by %v", other.Kind)
		}
	}
	for _, unkept := range []evidence.Evidence{{}, {Kind: evidence.Project, By: "x"}, {Kind: evidence.Imported, Since: since}} {
		again := want
		again.Evidence = unkept
		s.RecordRelease(statement, again)
		if _, ok := s.Release(evidencerules.Record(unkept, statement)); ok {
			t.Errorf("the evidence %v since %v is kept", unkept.Kind, unkept.Since)
		}
	}
	for name, other := range map[string]*store.Providers{
		"another user": openProvidersAs(t, cache, secret+"!"), "another cache": openProviders(t, t.TempDir()), "none": openProviders(t, ""),
	} {
		if got, ok := other.Release(evidencerules.Record(signed, statement)); ok {
			t.Errorf("%s: Release = %+v", name, got)
		}
	}
	if _, ok := s.Release(evidencerules.Record(signed, store.ReleaseStatement(provider, version, addrs.Platform{OS: "linux", Arch: "arm64"}))); ok {
		t.Error("there is a release for another platform")
	}
	must(t, s.Forget(time.Now().Add(time.Hour), nil))
	if _, ok := s.Release(evidencerules.Record(signed, statement)); ok {
		t.Error("Forget has kept it")
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	s := openProviders(t, cache)
	publishProvider(t, s)
	entries, err := providerEntries(t, cache)
	if err != nil || len(entries) != 1 || entries[0].Bytes != int64(len("#! x")+len("read me")) {
		t.Fatalf("Entries = %+v, %v", entries, err)
	}
	cleaner := openProviders(t, cache)
	if err := cleaner.Check(t.Context(), entries[0].Name); err != nil {
		t.Errorf("Check = %v", err)
	}
	if removed, err := cleaner.Remove(entries[0].Name); removed || err != nil {
		t.Errorf("Remove of a package in use = %v, %v", removed, err)
	}
	must(t, s.Close())
	if removed, err := cleaner.Remove(entries[0].Name); !removed || err != nil {
		t.Errorf("Remove = %v, %v", removed, err)
	}
	if entries, err := providerEntries(t, cache); err != nil || len(entries) != 0 {
		t.Errorf("after that Entries = %+v, %v", entries, err)
	}
	if removed, err := cleaner.Remove(entries[0].Name); removed || err != nil {
		t.Errorf("Remove again = %v, %v", removed, err)
	}
	if entries, err := providerEntries(t, filepath.Join(cache, "none")); err != nil || entries != nil {
		t.Errorf("Entries of no cache = %v, %v", entries, err)
	}
}

func Example() {
	fmt.Println(store.ProviderPath(
		addrs.Provider{Hostname: "example.com:8443", Namespace: "acme", Type: "cloud"},
		versions.MustParse("1.0.0"), addrs.Platform{OS: "linux", Arch: "amd64"}))
	// Output: example.com:8443/acme/cloud/1.0.0/linux_amd64
}

func providerEntries(t testing.TB, cache string) ([]store.Entry, error) {
	t.Helper()
	return store.ViewProviders(cache, userKey(t, secret)).Entries()
}
