//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// foldWorld has an ordinary package, and a package with two files whose names differ only in
// case.
const foldWorld = `
-- registry/acme/net/aws/1.0.0/main.tf --
module "deep" {
  source = "./modules/Deep"
}
-- registry/acme/net/aws/1.0.0/modules/Deep/main.tf --
# deep
-- registry/acme/net/aws/1.0.0/README.md --
# Network
-- registry/acme/net/aws/1.0.0/run.sh --
#!/bin/sh
-- git/mono.git/v1.0.0/modules/dns/main.tf --
# dns
-- git/mono.git/v1.0.0/modules/zone/main.tf --
# zone
-- git/mono.git/v1.0.0/Shared/policy.json --
{}
-- archives/zip.zip/main.tf --
# zip
-- registry/acme/twice/aws/1.0.0/sub/Main.tf --
# Main
-- registry/acme/twice/aws/1.0.0/sub/main.tf --
# main
-- ordinary/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "1.0.0"
}
module "dns" {
  source = "git::https://MODTEST_HOST/git/mono.git//modules/dns?ref=v1.0.0"
}
module "zone" {
  source = "git::https://MODTEST_HOST/git/mono.git//modules/zone?ref=v1.0.0"
}
module "Zip" {
  source = "https://MODTEST_HOST/archives/zip.zip"
}
-- files/main.tf --
module "twice" {
  source  = "MODTEST_HOST/acme/twice/aws//sub"
  version = "1.0.0"
}
-- labels/main.tf --
module "vpc" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "1.0.0"
}
module "VPC" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "1.0.0"
}
-- nested/main.tf --
module "app" {
  source = "./local"
}
module "APP" {
  source = "./local"
}
-- nested/local/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "1.0.0"
}
`

// foldingDisk is a kind of file system that ignores case in names. Its mount function
// returns a directory on a new file system, or skips the test if that is not possible.
type foldingDisk struct {
	name  string
	mount func(t *testing.T) string
}

var foldingDisks = []foldingDisk{
	{"vfat", func(t *testing.T) string {
		disk := newDiskImage(t, 16, "mkfs.vfat")
		disk.mount(t, disk.file, "utf8")
		return disk.dir
	}},
	{"exfat", func(t *testing.T) string { // run by a process, so the kernel only needs FUSE
		needMount(t)
		needCommands(t, "losetup", "mount.exfat-fuse")
		disk := newDiskImage(t, 16, "mkfs.exfat")
		out, err := exec.Command("losetup", "--find", "--show", disk.file).Output()
		if err != nil {
			t.Skipf("no loop device: %v", err)
		}
		device := strings.TrimSpace(string(out))
		t.Cleanup(func() { mustRun(t, "losetup", "--detach", device) })
		if out, err := exec.Command("mount.exfat-fuse", device, disk.dir).CombinedOutput(); err != nil {
			t.Skipf("exFAT cannot be mounted here: %v\n%s", err, out)
		}
		t.Cleanup(func() { mustRun(t, "umount", disk.dir) })
		return disk.dir
	}},
	{"ext4", func(t *testing.T) string {
		needCommands(t, "chattr")
		disk := newDiskImage(t, 16, "mkfs.ext4", "-q", "-O", "casefold", "-E", "encoding=utf8")
		disk.mount(t, disk.file, "noatime")
		dir := filepath.Join(disk.dir, "folding")
		testenv.Must(t, os.Mkdir(dir, 0o755))
		mustRun(t, "chattr", "+F", dir)
		return dir
	}},
}

// TestCaseInsensitive installs on file systems that ignore case in names; the cache is on a
// case-sensitive one. Packages or calls that collide are refused before anything is written,
// by a message that names the two files or calls.
func TestCaseInsensitive(t *testing.T) {
	t.Parallel()
	for _, disk := range foldingDisks {
		t.Run(disk.name, func(t *testing.T) {
			t.Parallel()
			dir := disk.mount(t)
			world := modtest.New(t, modtest.Txtar(foldWorld))
			t.Run("ordinary", func(t *testing.T) {
				f := newFolding(t, world, dir, "ordinary")
				f.checkInstalls(t)
				f.checkCache(t)
			})
			for _, row := range []struct {
				config string
				says   []string // regular expressions
			}{
				{"files", []string{`module twice \(main\.tf:[123]\)`, `\bMain\.tf\b`, `\bmain\.tf\b`}},
				{"labels", []string{`\bvpc\b`, `\bVPC\b`, `main\.tf:[12]\b`, `main\.tf:[56]\b`}},
				{"nested", []string{`\bapp\.net\b`, `\bAPP\.net\b`, `local/main\.tf:[12]\b`}},
			} {
				t.Run(row.config, func(t *testing.T) {
					f := newFolding(t, world, dir, row.config)
					f.checkRefused(t, row.says)
					f.checkCache(t)
				})
			}
		})
	}
}

// folding is a project on a file system that ignores case, and the same project of the same user on
// another file system.
type folding struct {
	*site
	there *site
	good  map[string]string // the expected files
}

func newFolding(t *testing.T, world *modtest.World, disk, config string) *folding {
	t.Helper()
	there := newSite(t, world)
	testenv.Must(t, world.WriteTree(there.project, config))
	at := *there
	at.project = filepath.Join(disk, config)
	f := &folding{site: &at, there: there}
	for name, text := range files(t, there.project) {
		testenv.WriteFile(t, filepath.Join(f.project, name), text)
	}
	there.mustRun(t, "install")
	f.good = files(t, there.project)
	return f
}

func (f *folding) checkInstalls(t *testing.T) {
	t.Helper()
	for _, command := range []string{"install", "verify", "install --locked"} {
		f.mustRun(t, command)
	}
	f.write(t, "cotter.hcl", "settings {\n  layout = \"copy\"\n}\n")
	f.mustRun(t, "install")
	f.mustRun(t, "verify")
	got := files(t, f.project)
	for name, want := range f.good { // copies of linked directories are allowed in addition
		if got[name] != want {
			t.Errorf("%s has %q, want %q", name, got[name], want)
		}
	}
}

func (f *folding) checkRefused(t *testing.T, says []string) {
	t.Helper()
	before, end := picture(t, f.project), f.run("install")
	if end.status != 1 {
		t.Errorf("status %d, want 1", end.status)
	}
	for _, text := range says {
		if !regexp.MustCompile(text).MatchString(end.out) {
			t.Errorf("the message has no %s", text)
		}
	}
	for _, text := range []string{"damaged", "file exists"} {
		if strings.Contains(end.out, text) {
			t.Errorf("the message has %q", text)
		}
	}
	if t.Failed() {
		t.Logf("%s", end.out)
	}
	if diff := differing(before, picture(t, f.project)); diff != "" {
		t.Errorf("it wrote something (-before +after):\n%s", diff)
	}
}

// checkCache checks that the cache is unchanged: a package is not damaged because one file
// system cannot hold it.
func (f *folding) checkCache(t *testing.T) {
	t.Helper()
	f.there.mustRun(t, "cache verify")
	remove(t, filepath.Join(f.there.project, ".terraform"))
	f.there.mustRun(t, "install --locked --offline")
	if diff := cmp.Diff(f.good, files(t, f.there.project)); diff != "" {
		t.Errorf("elsewhere, from the cache (-before +after):\n%s", diff)
	}
}
