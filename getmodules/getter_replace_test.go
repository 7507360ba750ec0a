package getmodules_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

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
