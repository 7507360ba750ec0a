//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// diskImage is a file that contains a file system, mounted as a loop device. All images are
// mounted at the same mount point.
type diskImage struct {
	dir  string // where it is mounted
	file string
}

// newDiskImage makes an image of size MiB with a command such as "mkfs.ext4 -q", to which it
// passes the name of the image. It does not mount the image. It skips the test if this
// process may not mount or a command is missing.
func newDiskImage(t *testing.T, size int64, mkfs ...string) *diskImage {
	t.Helper()
	needMount(t)
	needCommands(t, mkfs[0])
	at := memoryDir(t)
	d := &diskImage{dir: filepath.Join(at, "mnt"), file: filepath.Join(at, "disk.img")}
	testenv.Must(t, os.Mkdir(d.dir, 0o755))
	testenv.Must(t, os.WriteFile(d.file, nil, 0o600))
	testenv.Must(t, os.Truncate(d.file, size<<20))
	mustRun(t, mkfs[0], append(mkfs[1:], d.file)...)
	return d
}

// mount mounts an image and returns the function that unmounts it, which may be called
// twice.
func (d *diskImage) mount(t *testing.T, file, options string) (unmount func()) {
	t.Helper()
	if out, err := exec.Command("mount", "-o", "loop,"+options, file, d.dir).CombinedOutput(); err != nil {
		t.Skipf("an image cannot be mounted here: %v\n%s", err, out)
	}
	mounted := true
	unmount = func() {
		if mounted {
			mounted = false
			mustRun(t, "umount", d.dir)
		}
	}
	t.Cleanup(unmount)
	return unmount
}

// memoryDir returns a temporary directory in memory, if the system has one: images are
// copied often and need not be durable.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "cotter-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func needMount(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may mount an image")
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		t.Skipf("no loop devices here: %v", err)
	}
	needCommands(t, "mount", "umount")
}

func mustRun(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}
