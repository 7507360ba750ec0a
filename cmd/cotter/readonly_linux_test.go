package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadOnlyCheckout installs in a read-only checkout with the data directory elsewhere.
// Commands that need no new lock work. Commands that need one fail before they move any
// file, name the file that could not be written, and do not prevent later runs from working.
func TestReadOnlyCheckout(t *testing.T) {
	t.Parallel()
	needMount(t)
	s := newCrashScene(t, "install", func(s *crashScene) { s.mustRun(t, "install") })
	data, state := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "state")
	mount := exec.Command("mount", "--bind", s.project, s.project)
	if out, err := mount.CombinedOutput(); err != nil {
		t.Skipf("cannot bind mounts here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", s.project).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	writable := func(mode string) {
		if out, err := exec.Command("mount", "-o", "remount,bind,"+mode, s.project).CombinedOutput(); err != nil {
			t.Skipf("cannot make mounts read-only here: %v: %s", err, out)
		}
	}
	check := func(what, wantError, line string) {
		t.Helper()
		end := s.run(line, "TF_DATA_DIR="+data)
		if (end.status != 0) != (wantError != "") || !strings.Contains(end.out, wantError) {
			t.Errorf("%s: cotter %s: status %d, want an error with %q\n%s", what, line, end.status, wantError, end.out)
		}
	}
	writable("ro")
	check("a lock that fits", "", "install --locked")
	check("a lock that fits", "", "install")
	check("a lock that fits", "", "verify")
	before := picture(t, data)
	writable("rw")
	first := string(readFile(t, filepath.Join(s.project, "main.tf")))
	s.write(t, "main.tf", "module \"zip\" {\n  source = \"https://MODTEST_HOST/archives/n.zip\"\n}\n")
	writable("ro")
	check("a lock that has to change", lockFile+": read-only file system", "install")
	if diff := differing(before, picture(t, data)); diff != "" {
		t.Errorf("a failed run changed what is installed:\n%s", diff)
	}
	writable("rw")
	check("a checkout that can be written again", "", "install")
	check("a checkout that can be written again", "", "verify")
	data = ".terraform"
	check("all in the checkout", "", "install")
	writable("ro")
	check("all in a read-only checkout", "", "install --locked")
	check("all in a read-only checkout", "", "verify")
	for _, line := range []string{"install --locked", "install", "verify"} { // in a container, for example
		end := s.run(line, "TF_DATA_DIR="+data, "COTTER_STATE_DIR="+state)
		if end.status != 0 || strings.Contains(end.out, "Nothing has confirmed") {
			t.Errorf("a read-only checkout that another user has installed: cotter %s: status %d\n%s", line, end.status, end.out)
		}
	}
	writable("rw")
	s.write(t, "main.tf", first)
	writable("ro")
	check("packages to place in a read-only checkout", ".terraform/modules/.cotter/stage/", "install")
}
