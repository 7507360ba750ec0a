package installer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/testenv"
)

// callReader returns one call for the root module.
type callReader struct{ call config.Call }

func (r callReader) ReadModule(_ context.Context, dir config.Dir) (config.Module, hcl.Diagnostics) {
	if !dir.Path.IsRoot() {
		return config.Module{}, nil
	}
	return config.Module{Calls: []config.Call{r.call}}, nil
}

// The names of a caller's reader become directories, so they are checked like those in files.
func TestNamesOfReader(t *testing.T) {
	t.Parallel()
	pkg := t.TempDir()
	testenv.Must(t, os.WriteFile(filepath.Join(pkg, "main.tf"), nil, 0o644))
	for _, tt := range []struct {
		name   string
		prefix addrs.Module
		call   string
		valid  bool
	}{
		{name: "a name", call: "net", valid: true},
		{name: "a test's", prefix: addrs.Module{"test", "tests", "1-main"}, call: "setup", valid: true},
		{name: "a test's with dots", prefix: addrs.Module{"test", "tests", "vpc", "unit", "", "2"}, call: "setup", valid: true},
		{name: "a test's with blanks", prefix: addrs.Module{"test", "my tests", "a + (b)"}, call: "setup", valid: true},
		{name: "a test's outside", prefix: addrs.Module{"test", "", "", "", "tests", "a"}, call: "setup", valid: true},
		{name: "a path", call: "../../outside"},
		{name: "an absolute path", call: "/outside"},
		{name: "two names", call: "a.b"},
		{name: "empty", call: ""},
		{name: "a path before it", prefix: addrs.Module{"test", "../../outside"}, call: "setup"},
		{name: "two names before it", prefix: addrs.Module{"test", "a.b"}, call: "setup"},
		{name: "empty before it", prefix: addrs.Module{""}, call: "setup"},
		{name: "empty in a test", prefix: addrs.Module{"test", "tests", "a"}, call: ""},
		{name: "a blank in a test", prefix: addrs.Module{"test", "tests", "a"}, call: "set up"},
		{name: "a control character before it", prefix: addrs.Module{"test", "tests", "a\n"}, call: "setup"},
		{name: "not a test's", prefix: addrs.Module{"net"}, call: "setup"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			dir := filepath.Join(parent, "project")
			testenv.Must(t, os.Mkdir(dir, 0o755))
			in := installer.New(installer.Options{Config: callReader{config.Call{Name: tt.call, Prefix: tt.prefix, Source: pkg}}})
			result, err := in.Install(t.Context(), installer.Project{Dir: dir, Layout: installer.LayoutCopy}, installer.InstallOptions{})
			if tt.valid {
				if err != nil || len(result.Modules) != 1 {
					t.Fatalf("Install = %+v, %v, want one module", result, err)
				}
				return
			}
			var invalid *installer.ConfigError
			var parse *addrs.ParseError
			if !errors.As(err, &invalid) || !errors.As(err, &parse) {
				t.Errorf("Install = %v, want a ConfigError with a ParseError", err)
			}
			if found, err := os.ReadDir(parent); err != nil || len(found) != 1 {
				t.Errorf("beside the project: %v, %v", found, err)
			}
		})
	}
}

// What a shared run confirms is sealed with the user's key, so Share creates it.
func TestShareCreatesKey(t *testing.T) {
	t.Parallel()
	in := installer.New(installer.Options{StateDir: t.TempDir()})
	_, done, err := installerinternal.Share(in)
	testenv.Must(t, err)
	done()
	if _, err := os.Stat(filepath.Join(in.Options().StateDir, "key")); err != nil {
		t.Error(err)
	}
}
