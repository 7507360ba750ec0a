package origins_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

type tags struct{ getmodules.Source }

var one, two, three = strings.Repeat("1", 40), strings.Repeat("2", 40), strings.Repeat("3", 40)

func (tags) Tags(context.Context, getmodules.Request) ([]getmodules.Tag, error) {
	return []getmodules.Tag{{Name: "1.0.0", Revision: one}, {Name: "v1.0.0", Revision: two}, {Name: "v1.1.0", Revision: three}}, nil
}

func newOrigins(t *testing.T, fetcher getmodules.Source) *origins.Origins {
	t.Helper()
	cache, err := store.OpenModules(t.TempDir(), userkey.Random())
	testenv.Must(t, err)
	t.Cleanup(func() { testenv.Must(t, cache.Close()) })
	return &origins.Origins{Client: &origins.Client{Fetcher: fetcher, Cache: cache, Requests: make(chan struct{}, 1)}}
}

// refs has a ref of one kind, which points to two.
type refs struct {
	getmodules.Source
	kind getmodules.ReferenceKind
}

func (r refs) Reference(context.Context, getmodules.Request) (getmodules.Reference, error) {
	return getmodules.Reference{Kind: r.kind, Revision: two}, nil
}

// manyTags has the same long list for each repository.
type manyTags struct{ getmodules.Source }

func (manyTags) Tags(context.Context, getmodules.Request) ([]getmodules.Tag, error) {
	return make([]getmodules.Tag, packagelimits.RunVersions/2+1), nil
}

// Each repository can list many tags, but a run keeps all lists.
func TestTagsOfRun(t *testing.T) {
	t.Parallel()
	o := newOrigins(t, manyTags{})
	names := []string{"one", "one", "two"} // one is listed once
	testenv.LastExceedsRun(t, len(names), func(ctx context.Context, i int) error {
		address, err := addrs.ParseModuleSource("git::https://git.example.com/" + names[i] + ".git")
		testenv.Must(t, err)
		from, err := callsource.NewSource(address, new(">= 1.0"))
		testenv.Must(t, err)
		_, err = o.TagVersions(ctx, from)
		return err
	})
}

// Only a tag can be a version that must not move: a branch moves, whatever its name.
func TestFixedRefs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ref   string
		kind  getmodules.ReferenceKind
		fixed bool
	}{
		{"v1.2.0", getmodules.ReferenceTag, true}, {"v1.2.0", getmodules.ReferenceBranch, false},
		{"stable", getmodules.ReferenceTag, false}, {"main", getmodules.ReferenceBranch, false},
	} {
		address, err := addrs.ParseModuleSource(repositoryAddress + "?ref=" + test.ref)
		testenv.Must(t, err)
		from, err := callsource.NewSource(address, nil)
		testenv.Must(t, err)
		entry := lockfile.Module{Package: addrs.ModuleSourceRemote{Package: from.Repository.WithArg("ref", one)}}
		got, err := newOrigins(t, refs{kind: test.kind}).RefStatus(t.Context(), from, entry, origins.Location{Package: from.Repository})
		if err != nil || !got.Moved() || got.Fixed != test.fixed {
			t.Errorf("%s %s: %+v, %v; want one that moved, and fixed = %t", test.kind, test.ref, got, err, test.fixed)
		}
	}
}

// Of two tags of one version, the one that points to the locked commit is the entry's, or else the first.
func TestLocateLocked(t *testing.T) {
	t.Parallel()
	address, err := addrs.ParseModuleSource(repositoryAddress)
	testenv.Must(t, err)
	from, err := callsource.NewSource(address, new(">= 1.0"))
	testenv.Must(t, err)
	o := newOrigins(t, tags{})
	for _, test := range []struct{ version, revision, ref string }{
		{"1.0.0", one, "refs/tags/1.0.0"}, {"1.0.0", two, "refs/tags/v1.0.0"}, {"1.0.0", three, "refs/tags/1.0.0"}, {"1.1.0", three, "refs/tags/v1.1.0"}, {"1.2.0", three, ""},
	} {
		entry := lockfile.Module{Version: versions.MustParse(test.version), Package: addrs.ModuleSourceRemote{Package: from.Repository.WithArg("ref", test.revision)}}
		at, err := o.LocateLocked(t.Context(), from, entry)
		if ref, _ := at.Package.Ref(); ref != test.ref || (err == nil) != (ref != "") || err != nil && !errors.As(err, new(*origins.NotOfferedError)) {
			t.Errorf("%s at %.7s is %q, %v, want %q", test.version, test.revision, ref, err, test.ref)
		}
	}
}
