//go:build unix

package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/testenv"
)

const nobody = 65534

// TestRemoveAll removes a tree with directories that cannot be written. Root can remove any tree, so that
// root runs the test again as another user.
func TestRemoveAll(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		runAs(t, nobody)
		return
	}
	dir := filepath.Join(t.TempDir(), "tree")
	below := filepath.Join(dir, "a", "b")
	testenv.Must(t, os.MkdirAll(below, 0o700))
	outside := filepath.Join(t.TempDir(), "outside")
	testenv.Must(t, os.Mkdir(outside, 0o500))
	for _, err := range []error{
		os.WriteFile(filepath.Join(below, "f"), nil, 0o400),
		os.Symlink(outside, filepath.Join(below, "link")),
		os.Chmod(below, 0o500),    //nolint:gosec // a directory
		os.Chmod(dir+"/a", 0o100), //nolint:gosec // a directory that cannot even be listed
		os.Chmod(dir, 0o500),      //nolint:gosec // a directory
	} {
		testenv.Must(t, err)
	}
	if err := atomicfile.RemoveAll(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the tree is still there: %v", err)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("the target of a link has changed: %v, %v", info, err)
	}
}

func runAs(t *testing.T, id uint32) {
	t.Helper()
	text, err := os.ReadFile(os.Args[0])
	testenv.Must(t, err)
	dir, err := os.MkdirTemp("/tmp", "atomicfile-") // below directories that all users may enter
	testenv.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	binary := filepath.Join(dir, "test")
	if err := errors.Join(os.Chmod(dir, 0o777), os.WriteFile(binary, text, 0o755)); err != nil { //nolint:gosec // for the other user
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^TestRemoveAll$", "-test.v")
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
