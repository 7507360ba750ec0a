//go:build unix

package modtest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// TestCloseAfterProviders closes a world after its installer has put a provider into its cache,
// whose files are read-only.
func TestCloseAfterProviders(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root can remove anything; .ci/run runs this as another user too")
	}
	tree := fmt.Sprintf("-- providers/acme/cloud/1.0.0/%s_%s/terraform-provider-cloud --\nbinary\n", runtime.GOOS, runtime.GOARCH)
	world, err := modtest.Start(modtest.Txtar(tree), modtest.Options{})
	testenv.Must(t, err)
	config := fmt.Sprintf("terraform {\n  required_providers {\n    cloud = {\n      source = %q\n    }\n  }\n}\n", world.Source("acme/cloud"))
	dir := t.TempDir()
	testenv.Must(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config), 0o600))
	in := world.Installer()
	if _, err := in.Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{Scope: installer.ScopeAll}); err != nil {
		t.Fatal(err)
	}
	readOnly := 0
	_ = filepath.WalkDir(in.Options().CacheDir, func(_ string, d fs.DirEntry, err error) error {
		if info, statErr := d.Info(); err == nil && statErr == nil && info.Mode().Perm()&0o200 == 0 {
			readOnly++
		}
		return nil
	})
	if readOnly == 0 {
		t.Error("the cache has no read-only file, so the test is about nothing")
	}
	if err := world.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if _, err := os.Lstat(in.Options().CacheDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cache is still there: %v", err)
	}
}
