//go:build unix

package modtest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
)

// nobody is the usual number of the user and the group without permissions.
const nobody = 65534

// TestCloseAfterProviders closes a world after its installer has put a provider into its cache,
// whose files are read-only. Root can remove anything, so that root runs the test again as another
// user.
func TestCloseAfterProviders(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		runAs(t, nobody)
		return
	}
	tree := fmt.Sprintf("-- providers/acme/cloud/1.0.0/%s_%s/terraform-provider-cloud --\nbinary\n", runtime.GOOS, runtime.GOARCH)
	world, err := modtest.Start(modtest.Txtar(tree), modtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("terraform {\n  required_providers {\n    cloud = {\n      source = %q\n    }\n  }\n}\n", world.Source("acme/cloud"))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
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

// runAs runs the test in a process of another user.
func runAs(t *testing.T, id uint32) {
	t.Helper()
	text, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "modtest-") // below directories that all users may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	binary := filepath.Join(dir, "test")
	if err := errors.Join(os.Chown(dir, int(id), int(id)), os.WriteFile(binary, text, 0o755)); err != nil { //nolint:gosec // for the other user
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^TestCloseAfterProviders$", "-test.v")
	cmd.Dir, cmd.Env = dir, []string{"TMPDIR=" + dir, "HOME=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("no process can be started as another user: %v", err)
	}
	if err != nil {
		t.Errorf("as user %d: %v\n%s", id, err, out)
	}
}
