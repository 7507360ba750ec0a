//go:build linux

package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// cutWorld has two versions of every package.
const cutWorld = `
-- registry/acme/net/aws/1.0.0/main.tf --
module "deep" {
  source = "./modules/deep"
}
-- registry/acme/net/aws/1.0.0/modules/deep/main.tf --
# deep 1
-- registry/acme/net/aws/1.0.0/README.md --
# Network 1
-- registry/acme/net/aws/2.0.0/main.tf --
module "deep" {
  source = "./modules/deep"
}
-- registry/acme/net/aws/2.0.0/modules/deep/main.tf --
# deep 2
-- registry/acme/net/aws/2.0.0/README.md --
# Network 2
-- git/dns.git/v1.0.0/zones/main.tf --
# zones 1
-- git/dns.git/v1.0.0/shared/names.json --
["1"]
-- git/dns.git/v2.0.0/zones/main.tf --
# zones 2
-- git/dns.git/v2.0.0/shared/names.json --
["2"]
-- archives/old.zip/main.tf --
# old
-- archives/new.zip/main.tf --
# new
-- first/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "1.0.0"
}
module "dns" {
  source = "git::https://MODTEST_HOST/git/dns.git//zones?ref=v1.0.0"
}
module "old" {
  source = "https://MODTEST_HOST/archives/old.zip"
}
-- second/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "2.0.0"
}
module "dns" {
  source = "git::https://MODTEST_HOST/git/dns.git//zones?ref=v2.0.0"
}
module "new" {
  source = "https://MODTEST_HOST/archives/new.zip"
}
`

// cutProject is a project on a disk that loses power. The cache, the home directory and the
// servers are on other disks and are not affected.
type cutProject struct {
	*site
	before, after map[string]string // the project's files, as stock tools see them
}

func newCutProject(t *testing.T, dir string) *cutProject {
	t.Helper()
	p := &cutProject{site: newSite(t, modtest.New(t, modtest.Txtar(cutWorld)), "COTTER_GIT_BACKEND=go")}
	// The workers end before the disk is unmounted, which fails while a process has a file open there.
	p.project, p.workers = dir, &workers{start: warm.start}
	t.Cleanup(func() { p.endWorkers(t) })
	return p
}

func (p *cutProject) endWorkers(t *testing.T) {
	t.Helper()
	testenv.Must(t, p.workers.endIdle())
}

// configure writes the first or the second configuration.
func (p *cutProject) configure(t *testing.T, which string) {
	t.Helper()
	testenv.Must(t, p.world.WriteTree(p.project, which))
}

// prepare creates the state before the interrupted run: a configuration and, for an upgrade,
// an installation of another configuration.
func (p *cutProject) prepare(t *testing.T, upgrade bool) {
	t.Helper()
	if upgrade {
		p.configure(t, "first")
		p.mustRun(t, "install")
	}
	p.configure(t, "second")
	p.before = p.files(t)
}

// files returns the files that stock tools see in the project. Temporary files may be left
// behind, because no program reads them.
func (p *cutProject) files(t *testing.T) map[string]string {
	t.Helper()
	found := files(t, p.project)
	maps.DeleteFunc(found, func(name, _ string) bool { return temporary.MatchString(name) })
	return found
}

var temporary = regexp.MustCompile(`/\.[^/]*\.tmp$`)

// TestPowerCut installs a project on a separate disk and cuts the power after each rename
// and removal, and after the end. The content of the disk at such a moment is the image
// below the mounted file system, without the data that the system still has in memory. A
// journaling file system may write names to disk before the contents of files, so the test
// makes it do so before each cut.
//
// After the cut, stock tools must find the old installation, the new one, or none, and the
// next run must end as if nothing had happened.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	for name, upgrade := range testenv.SampleMap(map[string]bool{"first installation": false, "upgrade": true}, "first installation") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := newDiskImage(t, 16, "mkfs.ext4", "-q", "-b", "1024", "-E", "lazy_itable_init=0,lazy_journal_init=0")
			const options = "noatime,data=ordered,commit=600"
			unmount := disk.mount(t, disk.file, options)
			p := newCutProject(t, filepath.Join(disk.dir, "project"))
			p.prepare(t, upgrade)
			cuts := p.installWithCuts(t, disk)
			p.endWorkers(t)
			unmount()
			for i, cut := range cuts {
				end := disk.mount(t, cut.image, options)
				p.checkCut(t, fmt.Sprintf("cut %d of %d, after %s", i+1, len(cuts), cut.after), cut.ended)
				p.endWorkers(t)
				end()
			}
		})
	}
}

type powerCut struct {
	after string
	image string
	ended bool // whether the command had ended and even the removal of its journal is durable
}

// installWithCuts runs an installation and copies the disk at many moments. Without strace
// it copies the disk only after the end.
func (p *cutProject) installWithCuts(t *testing.T, disk *diskImage) []powerCut {
	t.Helper()
	syncAll(t, disk.dir)
	var cuts []powerCut
	cut := func(after string, ended bool) {
		image := fmt.Sprintf("%s.%d", disk.file, len(cuts))
		mustRun(t, "cp", "--sparse=always", disk.file, image)
		cuts = append(cuts, powerCut{strings.ReplaceAll(after, p.project, "DIR"), image, ended})
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Log("strace is not installed: the power is cut after the end only")
		p.mustRun(t, "install")
	} else {
		trace(t, p.command("install"), func(call string) {
			if p.changesInstallation(call) {
				commitNames(t, disk.dir)
				cut(call, false)
			}
		})
	}
	cut("the end", false)
	p.after = p.files(t)
	commitNames(t, disk.dir)
	cut("the end, and a commit of the file system", true)
	return cuts
}

// changesInstallation reports whether a call in strace's output may change the project as
// stock tools see it. Removals in Cotter's own directory and changes of the sums do not.
func (p *cutProject) changesInstallation(call string) bool {
	if !strings.Contains(call, p.project) || strings.Contains(call, " = -1 ") || strings.Contains(call, ".cotter/sums") {
		return false
	}
	removal := strings.HasPrefix(call, "unlink") || strings.HasPrefix(call, "rmdir")
	return !removal || !strings.Contains(call, "/.cotter/")
}

// syncAll writes all cached data of a file system to disk.
func syncAll(t *testing.T, dir string) {
	t.Helper()
	d, err := os.Open(dir)
	testenv.Must(t, err)
	defer d.Close()
	testenv.Must(t, unix.Syncfs(int(d.Fd())))
}

// commitNames makes the file system commit its journal, as it does every few seconds. This
// does not write the contents of other files.
func commitNames(t *testing.T, dir string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "unrelated"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	testenv.Must(t, err)
	defer f.Close()
	if _, err := f.WriteString("."); err != nil {
		t.Fatal(err)
	}
	testenv.Must(t, f.Sync())
}

// checkCut checks the project as it is after the power cut.
func (p *cutProject) checkCut(t *testing.T, when string, ended bool) {
	t.Helper()
	found := p.files(t)
	if lock := found["/"+lockFile]; lock != p.before["/"+lockFile] && lock != p.after["/"+lockFile] {
		t.Errorf("%s: the lock is neither the one before nor the one after:\n%q", when, lock)
	}
	switch manifest, ok := found["/"+modules+"modules.json"]; {
	case !ok: // stock tools report that the modules are not installed
	case manifest == p.after["/"+modules+"modules.json"]:
		p.checkInstalled(t, when+": with the new modules.json", p.after, found)
		if end := p.run("verify"); end.status != 0 && ended {
			t.Errorf("%s: cotter verify: status %d\n%s", when, end.status, end.out)
		}
	case manifest == p.before["/"+modules+"modules.json"]:
		p.checkInstalled(t, when+": with the old modules.json", p.before, found)
	default:
		t.Errorf("%s: modules.json is neither the one before nor the one after:\n%q", when, manifest)
	}
	if end := p.run("install"); end.status != 0 {
		t.Errorf("%s: the next installation: status %d\n%s", when, end.status, end.out)
		return
	}
	if diff := cmp.Diff(p.after, p.files(t)); diff != "" {
		t.Errorf("%s, and run again (-undisturbed +got):\n%s", when, diff)
	}
	if end := p.run("verify"); end.status != 0 {
		t.Errorf("%s, and run again: cotter verify: status %d\n%s", when, end.status, end.out)
	}
}

// checkInstalled compares the lock and the directories of the modules of an installation
// with the files that were found.
func (p *cutProject) checkInstalled(t *testing.T, when string, want, found map[string]string) {
	t.Helper()
	var wrong, empty bytes.Buffer
	for name, content := range want {
		got, ok := found[name]
		switch {
		case !ok:
			fmt.Fprintf(&wrong, "  %s is missing\n", name)
		case got == "" && content != "":
			fmt.Fprintf(&empty, "  %s\n", name)
		case got != content:
			fmt.Fprintf(&wrong, "  %s is another one: %q\n", name, got)
		}
	}
	if wrong.Len() > 0 || empty.Len() > 0 {
		t.Errorf("%s:\n%sempty:\n%s", when, &wrong, &empty)
	}
}
