package moduletree_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/moduletree"
)

const (
	calls = `-- main.tf --
module "app" {
  source = "./app"
}
-- app/main.tf --
module "net" {
  source  = "acme/net/aws"
  version = "~> 1.2"
}
`
	lock = `-- .terraform.lock.hcl --
module "app.net" {
  version = "1.2.3"
  source  = "registry.opentofu.org/acme/net/aws"

  constraints = "~> 1.2"

  package = "git::https://git.example.com/net.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0"

  hashes = [
    "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "t1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
  ]
}

module "app.net.dns" {
  source = "git::https://git.example.com/dns.git"

  package = "git::https://git.example.com/dns.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0"

  hashes = [
    "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "t1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
  ]
}
`
	installed = `-- .terraform/modules/modules.json --
{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"app","Source":"./app","Dir":"app"},
{"Key":"app.net","Source":"registry.opentofu.org/acme/net/aws","Version":"1.2.0","Dir":".terraform/modules/app.net"},
{"Key":"app.net.sub","Source":"./sub","Dir":".terraform/modules/app.net/sub"}]}
-- .terraform/modules/app.net/main.tf --
module "sub" {
  source = "./sub"
}
-- .terraform/modules/app.net/sub/main.tf --
`
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		files   string
		project moduletree.Project
		want    string
	}{
		{"installed by any tool", calls + installed, moduletree.Project{}, `
app ./app "" in app from main.tf:1
app.net registry.opentofu.org/acme/net/aws 1.2.0 "~> 1.2" in .terraform/modules/app.net with 1.2.0 from app/main.tf:1
app.net.sub ./sub "" in .terraform/modules/app.net/sub from .terraform/modules/app.net/main.tf:1
`},
		{"installed and locked", calls + lock + installed, moduletree.Project{}, `
app ./app "" in app from main.tf:1
app.net registry.opentofu.org/acme/net/aws 1.2.3 "~> 1.2" in .terraform/modules/app.net with 1.2.0 from app/main.tf:1 locked
app.net.sub ./sub "" in .terraform/modules/app.net/sub from .terraform/modules/app.net/main.tf:1
`},
		{"a fresh checkout", calls + lock, moduletree.Project{}, `
app ./app "" in app from main.tf:1
app.net registry.opentofu.org/acme/net/aws 1.2.3 "~> 1.2" from app/main.tf:1 locked
app.net.dns git::https://git.example.com/dns.git "" locked
`},
		{"the lock of a program with configuration of its own", lock, moduletree.Project{}, `
app.net registry.opentofu.org/acme/net/aws 1.2.3 "~> 1.2" locked
app.net.dns git::https://git.example.com/dns.git "" locked
`},
		{"another lock and another data directory", calls + strings.ReplaceAll(lock+installed, ".terraform", "other"),
			moduletree.Project{DataDir: "other", LockFile: "other.lock.hcl"}, `
app ./app "" in app from main.tf:1
app.net registry.opentofu.org/acme/net/aws 1.2.3 "~> 1.2" in other/modules/app.net with 1.2.0 from app/main.tf:1 locked
app.net.sub ./sub "" in other/modules/app.net/sub from other/modules/app.net/main.tf:1
`},
		{"neither installed nor locked", calls, moduletree.Project{}, `
app ./app "" in app from main.tf:1
unresolved app.net registry.opentofu.org/acme/net/aws: module app.net (app/main.tf:2): module not installed
`},
		{"locked for the registry of the other tool", calls + lock, moduletree.Project{Dialect: config.DialectTerraform}, `
app ./app "" in app from main.tf:1
unresolved app.net registry.terraform.io/acme/net/aws: module app.net (app/main.tf:2): module not installed
`},
		{"what another source has installed", strings.Replace(calls, "acme/net", "acme/other", 1) + installed, moduletree.Project{}, `
app ./app "" in app from main.tf:1
unresolved app.net registry.opentofu.org/acme/other/aws: module app.net (app/main.tf:2): module not installed: what is installed is from registry.opentofu.org/acme/net/aws
`},
		{"a source from a variable, and credentials", `-- main.tf --
variable "host" {
  default = "git.example.com"
}
module "net" {
  source = "git::https://user:pass@${var.host}/net.git"
}
`, moduletree.Project{}, `
unresolved net git::https://git.example.com/net.git: module net (main.tf:5): module not installed
`},
		{"what cannot be read", "-- main.tf --\nmodule {\n}\n", moduletree.Project{}, `
unresolved  <nil>: main.tf:1,8-9: Missing name for module; All module blocks must have 1 labels (name).
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.project.Dir = write(t, test.files)
			tree, err := moduletree.Read(t.Context(), test.project)
			if tree == nil {
				t.Fatal(err)
			}
			if (err == nil) != (len(tree.Unresolved) == 0) {
				t.Errorf("Read = %v with %d unresolved modules", err, len(tree.Unresolved))
			}
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), describe(tree)); diff != "" {
				t.Errorf("Read (-want +got):\n%s", diff)
			}
			checkJSON(t, tree)
		})
	}
}

func describe(tree *moduletree.Tree) string {
	var b strings.Builder
	for _, m := range tree.Modules {
		fmt.Fprintf(&b, "%s %s", m.Path, m.Source)
		if !m.Version.IsZero() {
			fmt.Fprintf(&b, " %s", m.Version)
		}
		fmt.Fprintf(&b, " %q", m.Constraints)
		if m.Dir != "" {
			fmt.Fprintf(&b, " in %s", m.Dir)
		}
		if !m.Installed.IsZero() {
			fmt.Fprintf(&b, " with %s", m.Installed)
		}
		if m.Call.Range.Filename != "" {
			fmt.Fprintf(&b, " from %s:%d", m.Call.Range.Filename, m.Call.Range.Start.Line)
		}
		if len(m.Hashes) > 0 && !m.Package.IsZero() {
			b.WriteString(" locked")
		}
		b.WriteString("\n")
	}
	for _, u := range tree.Unresolved {
		fmt.Fprintf(&b, "unresolved %s %v: %s\n", u.Path, u.Source, u.Err)
	}
	return b.String()
}

func checkJSON(t *testing.T, tree *moduletree.Tree) {
	t.Helper()
	text, err := json.Marshal(tree.Modules)
	if err != nil {
		t.Fatal(err)
	}
	var read []moduletree.Module
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(describe(&moduletree.Tree{Modules: tree.Modules}), describe(&moduletree.Tree{Modules: read})); diff != "" {
		t.Errorf("as JSON (-written +read):\n%s", diff)
	}
}

// Without a tree, the error says why.
func TestReadNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		files string
		dir   string
		is    func(error) bool
	}{
		{"an empty directory", "", "", func(err error) bool { return errors.Is(err, moduletree.ErrNoConfiguration) }},
		{"no directory", "", "none", func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		{"a damaged lock", calls + "-- .terraform.lock.hcl --\n<<<<<<< HEAD\n", "", func(err error) bool {
			_, ok := errors.AsType[*lockfile.SyntaxError](err)
			return ok
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(write(t, test.files), test.dir)
			if tree, err := moduletree.Read(t.Context(), moduletree.Project{Dir: dir}); tree != nil || !test.is(err) {
				t.Errorf("Read = %v, %v", tree, err)
			}
		})
	}
}

// A link to a lock is followed within the repository, as by all runs that do not write the lock.
func TestReadLinkedLock(t *testing.T) {
	t.Parallel()
	dir := write(t, calls+strings.Replace(lock, ".terraform.lock.hcl", "shared.lock.hcl", 1))
	link := filepath.Join(dir, ".terraform.lock.hcl")
	if err := os.Symlink("shared.lock.hcl", link); err != nil {
		t.Fatal(err)
	}
	if tree, err := moduletree.Read(t.Context(), moduletree.Project{Dir: dir}); err != nil || len(tree.Lock.Modules()) != 2 {
		t.Errorf("Read = %v, %v; want the entries of the target", tree, err)
	}
	outside := filepath.Join(write(t, lock), ".terraform.lock.hcl")
	if err := errors.Join(os.Remove(link), os.Symlink(outside, link)); err != nil {
		t.Fatal(err)
	}
	if tree, err := moduletree.Read(t.Context(), moduletree.Project{Dir: dir}); err == nil {
		t.Errorf("Read = %v with a link out of the repository", tree)
	}
}

func TestCalled(t *testing.T) {
	t.Parallel()
	tree, err := moduletree.Read(t.Context(), moduletree.Project{Dir: write(t, calls+lock)})
	if err != nil {
		t.Fatal(err)
	}
	for caller, want := range map[string]string{"": "app", "app": "app.net", "app.net": "app.net.dns", "app.net.dns": ""} {
		var path addrs.Module
		if caller != "" {
			m, ok := tree.Module(strings.Split(caller, "."))
			if !ok {
				t.Fatalf("there is no module %s", caller)
			}
			path = m.Path
		}
		var got []string
		for m := range tree.Called(path) {
			got = append(got, m.Path.String())
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q calls %q, want %q", caller, text, want)
		}
	}
}

func write(t *testing.T, files string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(files)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
