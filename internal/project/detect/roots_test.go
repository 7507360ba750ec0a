package detect_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/project/detect"
	"github.com/cotterpin/cotter/internal/testenv"
)

// tree creates directories. It returns their parent and a reader for the modules in them. The
// keys of modules are paths relative to the parent, with forward slashes. Other directories have
// no modules.
func tree(t *testing.T, modules map[string]detect.Module) (string, detect.ModuleReader) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	testenv.Must(t, err)
	for dir := range modules {
		testenv.Must(t, os.MkdirAll(filepath.Join(base, filepath.FromSlash(dir)), 0o755))
	}
	return base, func(_ context.Context, dir string) (detect.Module, error) {
		rel, err := filepath.Rel(base, dir)
		return modules[filepath.ToSlash(rel)], err
	}
}

var modules = map[string]detect.Module{
	".":            {},
	"envs/dev":     {Root: true, Calls: []string{"../../app"}},
	"envs/dev/sub": {Root: true},
	"app":          {Root: true, Calls: []string{"../lib"}},
	"lib":          {Calls: []string{"../app"}}, // a cycle
	"broken":       {Root: true, Unknown: true},
	".hidden":      {Root: true},
	"skipped/x":    {Root: true},
}

func TestFind(t *testing.T) {
	t.Parallel()
	base, read := tree(t, modules)
	got, err := detect.Roots(t.Context(), base, func(dir string) bool { return filepath.ToSlash(dir) == "skipped" }, read)
	testenv.Must(t, err)
	var want []string
	for _, dir := range []string{"broken", "envs/dev", "envs/dev/sub"} {
		want = append(want, filepath.Join(base, filepath.FromSlash(dir)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Find (-want +got):\n%s", diff)
	}
	failed := errors.New("failed")
	if _, err := detect.Roots(t.Context(), base, nil, func(context.Context, string) (detect.Module, error) { return detect.Module{}, failed }); !errors.Is(err, failed) {
		t.Errorf("Find with a reader that fails: %v", err)
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()
	base, read := tree(t, modules)
	dirs := []string{filepath.Join(base, "envs/dev"), filepath.Join(base, "envs/dev/sub")}
	for _, row := range []struct{ files, want string }{
		{"", ""},
		{"lib/gone/a.tf", "dev"},
		{"app/main.tf", "dev"},
		{"envs/dev/sub/main.tf", "sub"},
		{"envs/dev/main.tf envs/dev/.terraform/x", "dev"},
		{"envs/dev/.terraform/x", ""},
		{"other/main.tf", ""},
		{"policy", "dev sub"},
	} {
		var files []string
		for _, file := range strings.Fields(row.files) {
			files = append(files, filepath.Join(base, filepath.FromSlash(file)))
		}
		found, err := detect.ChangedRoots(t.Context(), dirs, files, read, func(_ string, changed map[string]bool) bool {
			return changed[filepath.Join(base, "policy")]
		})
		var got []string
		for _, dir := range found {
			got = append(got, filepath.Base(dir))
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(strings.Fields(row.want)) {
			t.Errorf("Changed(%s) = %v, %v, want %s", row.files, got, err, row.want)
		}
	}
	// A module with unknown calls may be affected by any file.
	broken := filepath.Join(base, "broken")
	if got, err := detect.ChangedRoots(t.Context(), []string{broken}, nil, read, func(string, map[string]bool) bool { return false }); err != nil || len(got) != 1 {
		t.Errorf("Changed = %v, %v, want %s", got, err, broken)
	}
}
