package cliconfig_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestForeignHome runs as a user who does not own the home directory, as containers often do.
func TestForeignHome(t *testing.T) {
	t.Parallel()
	const auths = `{"auths": {"r.com": {"auth": "dTpj"}}}`
	files := map[string]string{".tofurc": credentials(canary), ".terraform.d/a.tfrc": credentials(canary), ".docker/config.json": auths}
	for _, test := range []struct {
		name       string
		home, file os.FileMode
		named      bool
		want       []string // warnings, or an error for a named file
	}{
		{name: "the directory cannot be searched", home: 0, file: 0o644},
		{name: "the files cannot be read", home: 0o755, file: 0, want: []string{"a.tfrc", "tofurc", "config.json"}},
		{name: "a named file cannot be read", home: 0o755, file: 0, named: true, want: []string{"tofurc", "config.json"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := home(t, files)
			modes := map[string]os.FileMode{filepath.Dir(dir): 0o755, filepath.Join(dir, ".terraform.d"): 0o755, filepath.Join(dir, ".docker"): 0o755}
			for name := range files {
				modes[filepath.Join(dir, name)] = test.file
			}
			chmod(t, modes)
			chmod(t, map[string]os.FileMode{dir: test.home})
			t.Cleanup(func() { chmod(t, map[string]os.FileMode{dir: 0o755}) }) // so that it can be removed
			var warned []string
			env := cliconfig.Environment{Home: dir}
			opts := cliconfig.Options{Warn: func(text string) { warned = append(warned, text) }}
			if test.named {
				env.Variables = []string{"TF_CLI_CONFIG_FILE=" + filepath.Join(dir, ".tofurc")}
			}
			var diags hcl.Diagnostics
			var err error
			withoutPrivileges(t, func() {
				var config *cliconfig.Config
				config, diags = loadAll(t.Context(), env, opts)
				_, err = config.OCICredentials(t.Context(), "r.com", "x")
			})
			if err != nil || diags.HasErrors() != test.named {
				t.Errorf("Load = %v, OCICredentials: %v", diags, err)
			}
			for _, diag := range diags {
				warned = append(warned, diag.Summary+": "+diag.Detail)
			}
			if all := fmt.Sprint(warned); len(warned) != len(test.want) || strings.Contains(all, canary) {
				t.Errorf("the warnings are %q, want those about %q", warned, test.want)
			}
			for _, name := range test.want {
				if !strings.Contains(fmt.Sprint(warned), name) {
					t.Errorf("no warning about %s in %q", name, warned)
				}
			}
		})
	}
}

func chmod(t *testing.T, modes map[string]os.FileMode) {
	t.Helper()
	for name, mode := range modes {
		if err := os.Chmod(name, mode); err != nil {
			t.Error(err)
		}
	}
}

// withoutPrivileges runs f on a thread with the permissions of the system user "nobody", if this
// process runs as root. The thread ends with f.
func withoutPrivileges(t *testing.T, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if os.Geteuid() == 0 {
			if err := syscall.Setfsuid(65534); err != nil {
				done <- err
				return
			}
		}
		f()
	}()
	testenv.Must(t, <-done)
}
