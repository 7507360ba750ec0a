package treewalk_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/project/treewalk"
	"github.com/cotterpin/cotter/internal/testenv"
)

// calls are the sources that the modules in directories call, by name. It is also their reader.
type calls map[string]map[string]string

func (c calls) ReadModule(_ context.Context, dir config.Dir) (config.Module, hcl.Diagnostics) {
	blocks, ok := c[dir.Display]
	if !ok {
		return config.Module{}, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "nothing can be read"}}
	}
	var m config.Module
	for name, source := range blocks {
		m.Calls = append(m.Calls, config.Call{Name: name, Source: source})
	}
	slices.SortFunc(m.Calls, func(a, b config.Call) int { return strings.Compare(a.Name, b.Name) })
	return m, nil
}

// newWalker returns a walker of local modules, whose other calls are left out.
func newWalker(t *testing.T, tree calls) *treewalk.Walker {
	t.Helper()
	root := t.TempDir()
	for dir := range tree {
		testenv.Must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	p := &treewalk.Project{Dirs: project.NewDirs(nil, root, ".terraform/modules", filepath.Join(root, ".terraform/modules")), Recorded: &project.Manifest{}, Dialect: config.DialectOpenTofu}
	return &treewalk.Walker{Project: p, Config: tree, Parallel: 2, Find: func(_ context.Context, c *treewalk.Call) (*treewalk.Module, error) {
		if !c.From.IsLocal() {
			return nil, treewalk.ErrLeftOut
		}
		return p.LocalModule(c)
	}}
}

func TestWalk(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tree   calls
		placed string // the modules, with their directories
		failed map[string]string
	}{
		"a tree": {
			tree:   calls{".": {"b": "./b", "a": "./a"}, "a": {"x": "../b"}, "b": {}},
			placed: "a->a a.x->b b->b",
		},
		"a call that is left out": {
			tree:   calls{".": {"a": "./a", "vpc": "acme/vpc/aws"}, "a": {}},
			placed: "a->a",
		},
		"one failure does not stop the others": {
			tree:   calls{".": {"a": "./a", "gone": "./gone", "odd": "acme/vpc"}, "a": {"x": "./x"}, "a/x": {}},
			placed: "a->a a.x->a/x",
			failed: map[string]string{"gone": "does not exist", "odd": "source"},
		},
		"a module that cannot be read": {
			tree:   calls{".": {"a": "./a", "b": "./a/b"}, "a/b": {}},
			placed: "a->a b->a/b",
			failed: map[string]string{"a": "nothing can be read"},
		},
		"a circle": {
			tree:   calls{".": {"a": "./a"}, "a": {"b": "../b"}, "b": {"a": "../a"}},
			placed: "a->a a.b->b",
			failed: map[string]string{"a.b.a": "has the same configuration as a"},
		},
		"a path into a package that no call has": {
			tree:   calls{".": {"a": "./.terraform/modules/vpc/net"}, ".terraform/modules/vpc/net": {}},
			placed: "a->.terraform/modules/vpc/net",
		},
		"a path into the package of a call that failed": {
			tree: calls{".": {"a": "./.terraform/modules/vpc/net", "vpc": "acme/vpc/aws"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWalker(t, test.tree)
			var mu sync.Mutex
			var heard []string
			w.Placed = func(m *treewalk.Module) {
				mu.Lock()
				defer mu.Unlock()
				heard = append(heard, m.Key()+"->"+m.FinalPath)
			}
			modules, seen, failures := w.Walk(t.Context())
			var placed []string
			for _, m := range modules {
				placed = append(placed, m.Key()+"->"+m.FinalPath)
			}
			if got := strings.Join(placed, " "); got != test.placed {
				t.Errorf("placed %q, want %q", got, test.placed)
			}
			slices.Sort(heard)
			if diff := cmp.Diff(placed, heard); diff != "" {
				t.Errorf("Placed was called for others (-returned +called):\n%s", diff)
			}
			if !slices.IsSortedFunc(seen, func(a, b *treewalk.Call) int { return strings.Compare(a.Key(), b.Key()) }) {
				t.Error("the calls are not sorted")
			}
			got := map[string]string{}
			for _, f := range failures.Sorted() {
				got[f.Path.String()] = f.Err.Error()
			}
			if len(got) != len(test.failed) {
				t.Errorf("failures %q, want %q", got, test.failed)
			}
			for key, want := range test.failed {
				if !strings.Contains(got[key], want) {
					t.Errorf("the failure of %s is %q, want %q", key, got[key], want)
				}
			}
		})
	}
}

// TestWalkLimits has trees that are too deep and too large.
func TestWalkLimits(t *testing.T) {
	t.Parallel()
	deep, dir := calls{}, "."
	for range treewalk.MaxDepth + 1 {
		deep[dir] = map[string]string{"m": "./m"}
		dir = filepath.Join(dir, "m")
	}
	deep[dir] = nil
	wide := calls{".": {}, "m": {}}
	for i := range treewalk.MaxModules + 1 {
		wide["."][fmt.Sprintf("m%d", i)] = "./m"
	}
	for name, test := range map[string]struct {
		tree   calls
		placed int
		at     string
	}{
		"deep": {deep, treewalk.MaxDepth, strings.Repeat("m.", treewalk.MaxDepth) + "m"},
		"wide": {wide, treewalk.MaxModules + 1, ""},
	} {
		modules, _, failures := newWalker(t, test.tree).Walk(t.Context())
		list := failures.Sorted()
		if len(modules) != test.placed || len(list) != 1 || list[0].Path.String() != test.at || !errors.Is(list[0].Err, config.ErrTooManyModules) {
			t.Errorf("%s: %d modules, and %v; want %d, and ErrTooManyModules at %q", name, len(modules), failures.Errs(), test.placed, test.at)
		}
	}
}

// TestWalkCanceled ends without an error of its own: its caller has the context.
func TestWalkCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := newWalker(t, calls{".": {"a": "./a"}, "a": {"x": "./x"}, "a/x": {}})
	w.Placed = func(*treewalk.Module) { cancel() }
	modules, _, failures := w.Walk(ctx)
	if len(modules) != 1 || len(failures.Errs()) > 0 {
		t.Errorf("%d modules, and %v; want the one that was placed before", len(modules), failures.Errs())
	}
}
