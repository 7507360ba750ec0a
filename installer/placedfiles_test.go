package installer_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/testenv"
)

// sharedFiles is the world of packages whose modules share files through links, as a project with a layout.
func sharedFiles(t *testing.T, layout installer.Layout) (*project, request) {
	t.Helper()
	c := readCorpusCase(t, filepath.Join("testdata", "corpus", "package_shared_files.txtar"))
	p := &project{world: c.world, dir: c.copyProject(t), state: t.TempDir()}
	return p, request{Project: installer.Project{Dir: p.dir, Layout: layout, Dialect: installer.DialectOpenTofu}}
}

// TestReadersOfPlacedFiles checks that what reads placed packages finds the files that modules share through
// links of their package, in each layout.
func TestReadersOfPlacedFiles(t *testing.T) {
	t.Parallel()
	for _, layout := range []installer.Layout{installer.LayoutLinks, installer.LayoutCopy} {
		t.Run(layout.String(), func(t *testing.T) {
			t.Parallel()
			p, req := sharedFiles(t, layout)
			in := with(p.installer(), func(o *installer.Options) { o.CacheDir = t.TempDir() })
			installed := mustInstall(t, in, req.Project, req.InstallOptions)
			before := snapshot(t, p.dir)

			report, err := in.Verify(t.Context(), req.Project, installer.VerifyOptions{})
			if err != nil || !report.OK() || len(report.Unread) > 0 {
				t.Errorf("Verify: %v, %v", err, report.Problems())
			}
			loaded, err := in.Load(t.Context(), req.Project, installer.LoadOptions{})
			testenv.Must(t, err)
			dirs := func(r *installer.Result) (list []string) {
				for _, m := range r.Modules {
					list = append(list, m.Path.String()+" "+m.Dir)
				}
				return list
			}
			want := dirs(installed)
			if diff := cmp.Diff(want, dirs(loaded)); diff != "" || !slices.Contains(want, "x.named .terraform/modules/x/modules/y") {
				t.Errorf("Load (-installed +loaded):\n%s\ninstalled: %q", diff, want)
			}
			if found, err := in.Outdated(t.Context(), req.Project, installer.OriginOptions{}); err != nil || len(found.Modules) == 0 {
				t.Errorf("Outdated: %+v, %v", found, err)
			}
			if origins, err := in.VerifyRemote(t.Context(), req.Project, installer.OriginOptions{}); err != nil || len(origins.Modules) != 4 {
				t.Errorf("VerifyRemote: %+v, %v", origins, err)
			}
			if _, err := walk(t.Context(), t, in, req.Project, installer.InstallOptions{Locked: true}, installer.CommitOptions{Complete: true}); err != nil {
				t.Errorf("a session: %v", err)
			}
			req.Locked = true
			mustInstall(t, in, req.Project, req.InstallOptions)
			if diff := cmp.Diff(before, snapshot(t, p.dir)); diff != "" {
				t.Errorf("the project has changed (-before +now):\n%s", diff)
			}

			// The interface of the installed version is in a file behind a link.
			p.write(t, "main.tf", strings.Replace(p.file("main.tf"), `"1.0.0"`, `"1.1.0"`, 1))
			req.Locked = false
			result := mustInstall(t, in, req.Project, req.InstallOptions)
			var changes []string
			for _, change := range result.LockChanges {
				for _, c := range change.Interface {
					changes = append(changes, c.String())
				}
			}
			wantChanges := []string{`output "zone" removed`, `variable "zone" removed`, `variable "region" added: any`, `output "region" added`}
			slices.Sort(changes)
			slices.Sort(wantChanges)
			if diff := cmp.Diff(wantChanges, changes); diff != "" {
				t.Errorf("changes of the interface (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEditedPlacedFiles checks that Load reads what stock tools read: the files of the call, not the copy that
// calls share.
func TestEditedPlacedFiles(t *testing.T) {
	t.Parallel()
	p, req := sharedFiles(t, installer.LayoutLinks)
	in := p.installer()
	mustInstall(t, in, req.Project, req.InstallOptions)
	p.write(t, ".terraform/modules/x/modules/x/main.tf", "")
	loaded, err := in.Load(t.Context(), req.Project, installer.LoadOptions{})
	testenv.Must(t, err)
	for _, m := range loaded.Modules {
		if m.Path.String() == "x.deep" {
			t.Error("a call that the file does not have any more was read")
		}
	}
}

// TestSessionFiles checks that a session's files of a module have the package's links.
func TestSessionFiles(t *testing.T) {
	t.Parallel()
	p, req := sharedFiles(t, installer.LayoutLinks)
	for range 2 { // at first not installed
		s, err := p.installer().Begin(t.Context(), req.Project, installer.InstallOptions{})
		testenv.Must(t, err)
		source := "git::https://" + string(p.world.Host()) + "/git/net.git//modules/x?ref=v1.0.0"
		m := mustModule(t, s, nil, config.Call{Name: "x", Source: source})
		if text, err := fs.ReadFile(m.Files, "versions.tf"); err != nil || !strings.Contains(string(text), "required_version") {
			t.Errorf("versions.tf = %q, %v", text, err)
		}
		if text, err := fs.ReadFile(m.Files, "../../versions.tf"); err == nil {
			t.Errorf("a name that is no path in the module was read: %q", text)
		}
		y := mustModule(t, s, addrs.Module{"x"}, config.Call{Name: "through", Source: "../linked"})
		if text, err := fs.ReadFile(y.Files, "versions.tf"); err != nil || y.Dir != ".terraform/modules/x/shared/z" {
			t.Errorf("versions.tf in %s = %q, %v", y.Dir, text, err)
		}
		_, err = s.Commit(t.Context(), installer.CommitOptions{})
		testenv.Must(t, err)
		testenv.Must(t, s.Close())
	}
}

// TestDataDirThroughLink checks that another path to the same data directory is the same installation.
func TestDataDirThroughLink(t *testing.T) {
	t.Parallel()
	p, req := sharedFiles(t, installer.LayoutLinks)
	testenv.Must(t, os.MkdirAll(filepath.Join(p.dir, "real"), 0o755))
	testenv.Must(t, os.Symlink("real", filepath.Join(p.dir, "link")))
	in := p.installer()
	spellings := []string{"link/data", "real/data", filepath.Join(p.dir, "real/data"), filepath.Join(p.dir, "link/data")}
	for _, installed := range spellings {
		req.DataDir = installed
		mustInstall(t, in, req.Project, req.InstallOptions)
		for _, given := range spellings {
			q := req.Project
			q.DataDir = given
			if report, err := in.Verify(t.Context(), q, installer.VerifyOptions{}); err != nil || !report.OK() {
				t.Errorf("installed in %s, verified in %s: %v, %v", installed, given, err, report.Problems())
			}
			loaded, err := in.Load(t.Context(), q, installer.LoadOptions{})
			if err != nil || loaded.Modules[0].Dir != filepath.ToSlash(given)+"/modules/linked/modules/linked" {
				t.Errorf("installed in %s, loaded in %s: %+v, %v", installed, given, loaded.Modules[0], err)
			}
		}
	}
	// Any other directory is not the same.
	p.write(t, "link/data/modules/modules.json", strings.ReplaceAll(p.file("link/data/modules/modules.json"), p.dir+"/link/data", p.dir+"/link/other"))
	if report, err := in.Verify(t.Context(), req.Project, installer.VerifyOptions{}); err != nil || len(report.Misplaced) == 0 {
		t.Errorf("with records of another directory: Verify = %+v, %v", report, err)
	}
}
