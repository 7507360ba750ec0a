package installer_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
)

// linkedPackage has links to files outside of it, links to missing files, and links that point
// to each other. Those in modules/net, and everything at the root, are not read by tools; the others
// below modules would be.
var linkedPackage = fstest.MapFS{
	"main.tf":                       {Data: []byte("# root\n")},
	"modules/net/main.tf":           {Data: []byte("# net\n")},
	"modules/net/same.tf":           {Data: []byte("main.tf"), Mode: fs.ModeSymlink},
	"modules/bad/main.tf":           {Data: []byte("# bad\n")},
	"modules/bad/out.tf":            {Data: []byte("/etc/passwd"), Mode: fs.ModeSymlink},
	"modules/tofu/x.tofu":           {Data: []byte("gone"), Mode: fs.ModeSymlink},
	"modules/tofu/main.tf":          {Data: []byte("# tofu\n")},
	"modules/json/x.tf.json":        {Data: []byte("../../../x"), Mode: fs.ModeSymlink},
	"modules/net/terraform.tfvars":  {Data: []byte("missing.tfvars"), Mode: fs.ModeSymlink},
	"modules/net/CHANGELOG.md":      {Data: []byte("/nonexistent/x"), Mode: fs.ModeSymlink},
	"modules/net/.main.tf":          {Data: []byte("nothing"), Mode: fs.ModeSymlink},
	"modules/net/main.tf~":          {Data: []byte("nothing"), Mode: fs.ModeSymlink},
	"modules/net/x.tftest.hcl":      {Data: []byte("nothing"), Mode: fs.ModeSymlink},
	"modules/net/templates/user.tf": {Data: []byte("nothing"), Mode: fs.ModeSymlink},
	"README.md":                     {Data: []byte("docs/README.md"), Mode: fs.ModeSymlink},
	"modules/gone":                  {Data: []byte("../../gone"), Mode: fs.ModeSymlink},
	"modules/calls-gone/main.tf":    {Data: []byte("module \"gone\" {\n  source = \"../gone/x\"\n}\n")},
	"modules/calls/main.tf":         {Data: []byte("module \"bad\" {\n  source = \"../bad\"\n}\n")},
	"examples/x/out":                {Data: []byte("../../../secret"), Mode: fs.ModeSymlink},
	"examples/nothing":              {Data: []byte("gone"), Mode: fs.ModeSymlink},
	"examples/a":                    {Data: []byte("b"), Mode: fs.ModeSymlink},
	"examples/b":                    {Data: []byte("a"), Mode: fs.ModeSymlink},
	"to-bad":                        {Data: []byte("modules/bad"), Mode: fs.ModeSymlink},
}

// linkedOrigins returns functions that make addresses of the package, by the kind of its origin.
func linkedOrigins(t *testing.T) (*project, map[string]func(subdir string) string) {
	t.Helper()
	files := fstest.MapFS{"config/README.md": {}}
	for name, file := range linkedPackage {
		for _, at := range []string{"git/net.git/v1.0.0/", "archives/net.zip/", "archives/net.tar.gz/", "oci/net/1.0.0/"} {
			files[at+name] = file
		}
	}
	p := &project{world: modtest.NewWith(t, files, modtest.Options{}), dir: t.TempDir(), state: t.TempDir()}
	return p, map[string]func(string) string{
		"git":    func(subdir string) string { return p.world.GitSource("net.git", subdir+"?ref=v1.0.0") },
		"zip":    func(subdir string) string { return p.world.ArchiveSource("net.zip", subdir) },
		"tar.gz": func(subdir string) string { return p.world.ArchiveSource("net.tar.gz", subdir) },
		"oci":    func(subdir string) string { return p.world.OCISource("net", subdir+"?tag=1.0.0") },
	}
}

// A link that does not point to anything in the package is left out, regardless of the package's
// origin. There is one warning, and the hashes of all origins are equal.
func TestLinksLeftOut(t *testing.T) {
	t.Parallel()
	p, origins := linkedOrigins(t)
	hashes := map[string][]string{}
	for origin, address := range origins {
		for _, subdir := range []string{"//modules/net", "", "//modules"} {
			one := &project{world: p.world, dir: t.TempDir(), state: p.state}
			one.write(t, "main.tf", fmt.Sprintf("module \"net\" {\n  source = %q\n}\n", address(subdir)))
			one.mustInstall(t, request{})
			if n := strings.Count(one.events(), "are left out: "); n != 1 {
				t.Errorf("%s%s: %d warnings, want 1:\n%s", origin, subdir, n, one.events())
			}
			var found []string
			for line := range strings.Lines(one.file(".terraform.lock.hcl")) {
				if text := strings.TrimSpace(line); strings.HasPrefix(text, `"h1:`) || strings.HasPrefix(text, `"t1:`) {
					found = append(found, text)
				}
			}
			hashes[origin+subdir] = found
			for name, file := range linkedPackage {
				_, err := os.Lstat(filepath.Join(one.dir, ".terraform/modules/net", filepath.FromSlash(name)))
				if bad := file.Mode == fs.ModeSymlink && filepath.Base(name) != "same.tf" && name != "to-bad"; bad && err == nil {
					t.Errorf("%s%s: %s is installed", origin, subdir, name)
				}
			}
			one.mustVerify(t, request{Project: installer.Project{Dir: one.dir}})
			one.mustInstall(t, request{InstallOptions: installer.InstallOptions{Locked: true}})
		}
	}
	for origin, found := range hashes {
		if diff := cmp.Diff(hashes["git"], found); diff != "" || len(found) != 2 {
			t.Errorf("hashes of git and of %s (-git +other):\n%s", origin, diff)
		}
	}
}

// It is an error if a tool would read such a link as configuration of a called module, or if the module is at
// or below it. This also applies to packages that were fetched before and to calls from another module of the
// package.
func TestLinksInCalledDirectory(t *testing.T) {
	t.Parallel()
	p, origins := linkedOrigins(t)
	cache := t.TempDir()
	for origin, address := range origins {
		for _, test := range []struct{ subdir, call, link string }{
			{"//modules/bad", "module net (main.tf:2)", `"modules/bad/out.tf" to "/etc/passwd"`},
			{"//modules/bad", "module net (main.tf:2)", `"modules/bad/out.tf" to "/etc/passwd"`},
			{"//modules/calls", "module net.bad", `"modules/bad/out.tf" to "/etc/passwd"`},
			{"//to-bad", "module net (main.tf:2)", `"modules/bad/out.tf" to "/etc/passwd"`},
			{"//examples/nothing", "module net (main.tf:2)", `"examples/nothing" to "gone"`},
			{"//modules/tofu", "module net (main.tf:2)", `"modules/tofu/x.tofu" to "gone"`},
			{"//modules/json", "module net (main.tf:2)", `"modules/json/x.tf.json" to "../../../x"`},
			{"//modules/gone", "module net (main.tf:2)", `"modules/gone" to "../../gone"`},
			{"//modules/gone/x/y", "module net (main.tf:2)", `"modules/gone" to "../../gone"`},
			{"//modules/calls-gone", "module net.gone", `"modules/gone" to "../../gone"`},
		} {
			one := &project{world: p.world, dir: t.TempDir(), state: p.state}
			one.write(t, "main.tf", fmt.Sprintf("module \"net\" {\n  source = %q\n}\n", address(test.subdir)))
			in := with(one.installer(), func(o *installer.Options) { o.CacheDir = cache })
			_, err := in.Install(t.Context(), installer.Project{Dir: one.dir}, installer.InstallOptions{})
			if !errors.Is(err, getmodules.ErrUnsafeEntry) || !strings.Contains(err.Error(), test.call) || !strings.Contains(err.Error(), test.link) {
				t.Errorf("%s%s: %v, want an error with %s and %s", origin, test.subdir, err, test.call, test.link)
			}
			if one.file(".terraform.lock.hcl") != "" {
				t.Errorf("%s%s: there is a lock", origin, test.subdir)
			}
		}
	}
}
