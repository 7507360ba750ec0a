package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store"
)

func linked(t testing.TB, s *store.Providers, target string) *store.ProviderDir {
	t.Helper()
	d := project(t, s)
	must(t, os.MkdirAll(filepath.Dir(d.Path(at)), 0o755))
	must(t, os.Symlink(target, d.Path(at)))
	return d
}

// Nothing is recorded about directories that another user may own: their files are read by every
// run.
func TestProofsOutside(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(outside, placed string)
		want    int
	}{
		"a project's own directory": {func(_, placed string) { write(t, placed, files) }, 1},
		"a link to another directory": {func(outside, placed string) {
			must(t, errors.Join(os.MkdirAll(filepath.Dir(placed), 0o755), os.Symlink(outside, placed)))
		}, 0},
		"a directory with a file that others may write": {func(_, placed string) {
			write(t, placed, files)
			must(t, os.Chmod(filepath.Join(placed, "terraform-provider-x"), 0o777))
		}, 0},
	} {
		cache, outside := t.TempDir(), t.TempDir()
		write(t, outside, files)
		d := project(t, openProviders(t, cache))
		test.prepare(outside, d.Path(at))
		if state := d.Inspect(t.Context(), at, false); state.Err != nil || state.H1 != hash(t, outside) {
			t.Errorf("%s: Inspect = %+v", name, state)
		}
		if got := proofs(t, cache); len(got) != test.want {
			t.Errorf("%s: proofs: %v, want %d", name, got, test.want)
		}
	}
	cache, mirror := t.TempDir(), t.TempDir()
	write(t, mirror, files)
	if _, err := openProviders(t, cache).Outside(t.Context(), mirror, ""); err != nil || len(proofs(t, cache)) != 0 {
		t.Errorf("Foreign = %v; proofs: %v, want none", err, proofs(t, cache))
	}
}

// A link to a directory that no provider can be in is an error before anything is read.
func TestLimitsOutside(t *testing.T) {
	t.Parallel()
	sparse := func(name string, size int64) func(string) {
		return func(dir string) {
			path := filepath.Join(dir, name)
			must(t, os.WriteFile(path, nil, 0o755))
			must(t, os.Truncate(path, size))
		}
	}
	for name, test := range map[string]struct {
		fill func(dir string)
		want string
	}{
		"a sparse file":     {sparse("terraform-provider-x", 3<<30), "exceeds the size limit for files"},
		"many sparse files": {func(dir string) { sparse("a", 2<<30)(dir); sparse("b", 2<<30)(dir); sparse("c", 1)(dir) }, "exceeds the size limit for providers"},
		"many files": {func(dir string) {
			for i := range 10_001 {
				must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600))
			}
		}, "more entries"},
		"many directories": {func(dir string) {
			for i := range 10_001 {
				must(t, os.Mkdir(filepath.Join(dir, fmt.Sprint(i)), 0o755))
			}
		}, "more entries"},
	} {
		s, outside := openProviders(t, t.TempDir()), t.TempDir()
		write(t, outside, files)
		test.fill(outside)
		state := linked(t, s, outside).Inspect(t.Context(), at, true)
		if tree, ok := errors.AsType[*hashing.TreeError](state.Err); !ok || !strings.Contains(tree.Error(), test.want) {
			t.Errorf("%s: Inspect = %+v, want an error with %q", name, state, test.want)
		}
		if _, err := s.Outside(t.Context(), outside, ""); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: Foreign = %v, want an error with %q", name, err, test.want)
		}
	}
}

type expiring struct {
	context.Context
	asked atomic.Int64
}

func (c *expiring) Err() error {
	if c.asked.Add(1) > 20 {
		return context.Canceled
	}
	return nil
}

// Hashing ends with the context, and a package that was not read to its end is not damaged.
func TestCancelled(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	s := openProviders(t, cache)
	dir, _ := stage(t, s, files)
	must(t, os.Truncate(filepath.Join(dir, "terraform-provider-x"), 16<<20))
	pkg, err := s.Publish(t.Context(), dir, hash(t, dir))
	must(t, err)
	ctx := func() context.Context { return &expiring{Context: t.Context()} }
	if state := linked(t, s, pkg.Dir()).Inspect(ctx(), at, true); !errors.Is(state.Err, context.Canceled) {
		t.Errorf("Inspect = %+v, want the context's error", state)
	}
	if _, err := s.Outside(ctx(), pkg.Dir(), ""); err != nil {
		t.Errorf("Foreign of a directory with a proof = %v", err)
	}
	must(t, os.RemoveAll(filepath.Join(cache, "provider", "proof")))
	if _, err := s.Outside(ctx(), pkg.Dir(), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("Foreign = %v, want the context's error", err)
	}
	next := openProviders(t, cache)
	if err := next.Check(ctx(), filepath.Base(pkg.Dir())); !errors.Is(err, context.Canceled) {
		t.Errorf("Check = %v, want the context's error", err)
	}
	if got, err := next.Find(t.Context(), pkg.H1); err != nil || got == nil {
		t.Errorf("Find = %v, %v, want the package", got, err)
	}
}
