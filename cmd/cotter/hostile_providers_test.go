package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/versions"
)

// committedProviders is a project as it comes from a repository: with a lock, and with files
// below .terraform that have not been checked.
type committedProviders struct {
	name string
	// files are the files in the directory of the provider's package. A content "LINK path"
	// makes a symbolic link.
	files map[string]string
	// hashes are the hashes in the lock's entry. "h1 right" and "zh right" are those of the
	// right package, "h1 files" is that of the committed files, and "h1 disk" and "zh disk"
	// are those of another provider in the user's store. Other texts are literal hashes.
	hashes []string
	args   string
	status int
	says   []string
	// placed is the content of the executable afterwards; "" if there must be no executable.
	placed string
	// not must not appear in the output.
	not string
	// lock says whether the lock changes.
	lock bool
}

var (
	rightBinary = map[string]string{"terraform-provider-cloud": "right"}
	evilBinary  = map[string]string{"terraform-provider-cloud": "evil"}
)

// committedCases are projects that a repository can bring, and how Cotter treats them. The
// origin of a package decides, unless this user has downloaded the same package before.
var committedCases = []committedProviders{
	{name: "nothing installed", hashes: []string{"h1 right", "zh right"}, args: "install --locked", placed: "right"},
	{name: "the right package", files: rightBinary, hashes: []string{"h1 right"}, args: "install --locked", placed: "right", not: "h1: hash"},
	{
		name: "a changed one and a lock for it", files: evilBinary, hashes: []string{"h1 files"}, args: "install",
		status: 1, says: []string{"the package has the hash RIGHT, not the locked FILES", "linux_amd64.zip", "required by the root module (main.tf:3)"}, placed: "evil",
	},
	{
		name: "the same in locked mode", files: evilBinary, hashes: []string{"h1 files"}, args: "install --locked",
		status: 1, says: []string{"the package has the hash RIGHT, not the locked FILES"}, placed: "evil",
	},
	{
		name: "the same without network", files: evilBinary, hashes: []string{"h1 files"}, args: "install --offline",
		status: 1, says: []string{": neither installed nor in the cache", "without `--offline`"}, placed: "evil",
	},
	{
		name: "a changed one, the lock has both", files: evilBinary, hashes: []string{"h1 files", "zh right"}, args: "install",
		says: []string{"did not match the lock and was replaced"}, placed: "right", lock: true,
	},
	{
		name: "a changed one, the lock has the right one", files: evilBinary, hashes: []string{"h1 right"}, args: "install --locked",
		says: []string{"did not match the lock and was replaced"}, placed: "right",
	},
	{
		name: "a changed one, the lock knows nothing", files: evilBinary, hashes: []string{"x9:abc"}, args: "install",
		says: []string{"was replaced"}, placed: "right", lock: true,
	},
	{
		name: "the same in locked mode, no known hash", files: evilBinary, hashes: []string{"x9:abc"}, args: "install --locked",
		status: 1, says: []string{"the lock has no h1: or zh: hash of it"}, placed: "evil",
	},
	{name: "an additional file", files: map[string]string{"terraform-provider-cloud": "right", "evil.so": "evil"}, hashes: []string{"h1 right", "zh right"}, args: "install", says: []string{"was replaced"}, placed: "right"},
	{name: "an empty directory", files: map[string]string{}, hashes: []string{"h1 right", "zh right"}, args: "install", placed: "right"},
	{name: "a partial one", files: map[string]string{"terraform-provider-cloud": "rig"}, hashes: []string{"h1 right", "zh right"}, args: "install", says: []string{"was replaced"}, placed: "right"},
	{name: "a link to elsewhere", files: map[string]string{"": "LINK /etc"}, hashes: []string{"h1 right", "zh right"}, args: "install", says: []string{"was replaced"}, placed: "right"},
	{name: "a dangling link", files: map[string]string{"": "LINK nowhere"}, hashes: []string{"h1 right", "zh right"}, args: "install", says: []string{"was replaced"}, placed: "right"},
	{name: "the hash of another provider's package", hashes: []string{"h1 disk"}, args: "install", status: 1, says: []string{"the package has the hash RIGHT, not the locked DISK"}},
	{name: "that of its archive", hashes: []string{"zh disk"}, args: "install", status: 1, says: []string{"the package has the hash ZHRIGHT, not the locked ZHDISK"}},
	{name: "archive hashes alone, in locked mode", hashes: []string{"zh right", "zh disk"}, args: "install --locked", says: []string{"the lock has no h1: hash of provider"}, placed: "right"},
	{name: "archive hashes alone", hashes: []string{"zh right"}, args: "install", placed: "right", lock: true},
}

// TestCommittedProviders installs in projects with committed providers. The user's store has
// the package of another provider, which a lock could name.
func TestCommittedProviders(t *testing.T) {
	t.Parallel()
	platform := addrs.CurrentPlatform().String()
	tree := fstest.MapFS{}
	for name, content := range map[string]string{"cloud": "right", "disk": "disk"} {
		tree["providers/acme/"+name+"/1.0.0/"+platform+"/terraform-provider-"+name] = &fstest.MapFile{Data: []byte(content)}
	}
	world, top := modtest.New(t, tree), t.TempDir()
	disk := filepath.Join(top, "disk")
	writeText(t, filepath.Join(disk, "main.tf"), requiring(world, "disk"))
	if out, err := warm.output(cotterIn(world, disk, filepath.Join(top, "cache"))); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, c := range committedCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			project := filepath.Join(top, fmt.Sprint("project", i))
			// Use a copy: a package that was downloaded once is trusted afterwards.
			cache := filepath.Join(top, fmt.Sprint("cache", i))
			for _, suffix := range []string{"", "-state"} {
				if err := copyTree(cache+suffix, filepath.Join(top, "cache"+suffix), false); err != nil {
					t.Fatal(err)
				}
			}
			c.test(t, world, project, cache)
		})
	}
}

// requiring returns a configuration that requires one provider.
func requiring(world *modtest.World, name string) string {
	return fmt.Sprintf("terraform {\n  required_providers {\n    %s = {\n      source = %q\n    }\n  }\n}\n", name, world.ProviderSource("acme/"+name))
}

func (c committedProviders) test(t *testing.T, world *modtest.World, project, cache string) {
	t.Helper()
	source := world.ProviderSource("acme/cloud")
	place := filepath.Join(project, ".terraform/providers", source, "1.0.0", addrs.CurrentPlatform().String())
	writeText(t, filepath.Join(project, "main.tf"), requiring(world, "cloud"))
	known := c.writePlace(t, world, place)
	entry := lockfile.Provider{Address: addrs.Provider{Hostname: world.Host(), Namespace: "acme", Type: "cloud"}, Version: versions.MustParse("1.0.0")}
	for _, hash := range c.hashes {
		if text, ok := known[hash]; ok {
			hash = text
		}
		entry.Hashes = append(entry.Hashes, hashing.Hash(hash))
	}
	lock, _ := lockfile.Parse(nil, lockFile)
	lock.SetProvider(entry)
	writeText(t, filepath.Join(project, lockFile), string(lock.Bytes()))

	cmd := cotterIn(world, project, cache)
	cmd.Args, cmd.Env = append([]string{cotterBinary}, strings.Fields(c.args)...), append(cmd.Env, "COTTER_CACHE_DIR="+cache)
	out, err := warm.output(cmd)
	if status := exitCode(err); status != c.status {
		t.Errorf("status %d, want %d\n%s", status, c.status, out)
	}
	names := strings.NewReplacer("ZHRIGHT", known["zh right"], "ZHDISK", known["zh disk"], "RIGHT", known["h1 right"], "FILES", known["h1 files"], "DISK", known["h1 disk"])
	for _, text := range c.says {
		if text = names.Replace(text); !strings.Contains(out, text) {
			t.Errorf("the output does not have %q:\n%s", text, out)
		}
	}
	if c.not != "" && strings.Contains(out, c.not) {
		t.Errorf("the output has %q:\n%s", c.not, out)
	}
	after, err := os.ReadFile(filepath.Join(project, lockFile))
	if err != nil || c.lock == (string(after) == string(lock.Bytes())) {
		t.Errorf("the lock changes: want %v, %v\n%s", c.lock, err, cmp.Diff(string(lock.Bytes()), string(after)))
	}
	placed, err := os.ReadFile(filepath.Join(place, "terraform-provider-cloud"))
	if string(placed) != c.placed || err != nil && c.placed != "" {
		t.Errorf("placed is %q, %v, want %q", placed, err, c.placed)
	}
}

func (c committedProviders) writePlace(t *testing.T, world *modtest.World, place string) map[string]string {
	t.Helper()
	known := map[string]string{}
	for name, provider := range map[string]string{"right": "acme/cloud", "disk": "acme/disk"} {
		h1, zh, err := world.ProviderHashes(provider, "1.0.0", addrs.CurrentPlatform().String())
		if err != nil {
			t.Fatal(err)
		}
		known["h1 "+name], known["zh "+name] = string(h1), string(zh)
	}
	if c.files == nil {
		return known
	}
	if target, ok := strings.CutPrefix(c.files[""], "LINK "); ok {
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, place); err != nil {
			t.Skip(err)
		}
		return known
	}
	if err := os.MkdirAll(place, 0o755); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for name, content := range c.files {
		files[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o755}
		writeText(t, filepath.Join(place, name), content)
		if err := os.Chmod(filepath.Join(place, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h1, err := hashing.FS(fs.FS(files))
	if err != nil {
		t.Fatal(err)
	}
	known["h1 files"] = string(h1)
	return known
}
