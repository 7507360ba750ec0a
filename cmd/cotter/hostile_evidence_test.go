package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/modtest"
)

// evilUser is a user with a cache, to whom attackers bring packages of the provider acme/cloud that
// its registry does not have. The registry has the right ones.
type evilUser struct {
	world      *modtest.World
	top, cache string
	// lock is the lock that an installation of the wrong package has written.
	lock []byte
}

func newEvilUser(t *testing.T) *evilUser {
	t.Helper()
	u := &evilUser{top: t.TempDir()}
	u.cache = filepath.Join(u.top, "cache")
	platform := addrs.CurrentPlatform().String()
	u.world = modtest.New(t, fstest.MapFS{
		"providers/acme/cloud/1.0.0/" + platform + "/terraform-provider-cloud": &fstest.MapFile{Data: []byte("right")},
		"providers/acme/disk/1.0.0/" + platform + "/terraform-provider-disk":   &fstest.MapFile{Data: []byte("disk")},
	})
	return u
}

// project writes a project that requires the provider, with a lock unless that is nil.
func (u *evilUser) project(t *testing.T, name string, lock []byte) string {
	t.Helper()
	dir := filepath.Join(u.top, name)
	writeText(t, filepath.Join(dir, "main.tf"), requiring(u.world, "cloud"))
	if lock != nil {
		writeText(t, filepath.Join(dir, lockFile), string(lock))
	}
	return dir
}

// evilZip writes the archive of a wrong package into a mirror's directory.
func (u *evilUser) evilZip(t *testing.T, mirror, version string) {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	header := &zip.FileHeader{Name: "terraform-provider-cloud", Method: zip.Deflate}
	header.SetMode(0o755)
	out, err := w.CreateHeader(header)
	if err == nil {
		_, err = out.Write([]byte("evil " + version))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("terraform-provider-cloud_%s_%s.zip", version, addrs.CurrentPlatform())
	writeText(t, filepath.Join(mirror, filepath.FromSlash(u.world.ProviderSource("acme/cloud")), name), packed.String())
}

// run runs a command in a project. says are texts that the output must have, and " !TEXT" is one
// that it must not have.
func (u *evilUser) run(t *testing.T, dir string, env []string, status int, args string, says ...string) string {
	t.Helper()
	cmd := cotterIn(u.world, dir, u.cache)
	cmd.Args = append([]string{cotterBinary}, strings.Fields(args)...)
	cmd.Env = append(append(cmd.Env, "COTTER_CACHE_DIR="+u.cache, "HOME="+filepath.Join(u.top, "home"), "XDG_DATA_HOME=", "XDG_DATA_DIRS="), env...)
	out, err := warm.output(cmd)
	if got := exitCode(err); got != status {
		t.Errorf("%s in %s: status %d, want %d\n%s", args, filepath.Base(dir), got, status, out)
	}
	for _, text := range says {
		unwanted, not := strings.CutPrefix(text, "!")
		if strings.Contains(out, unwanted) == not {
			t.Errorf("%s in %s: the output must have %q\n%s", args, filepath.Base(dir), text, out)
		}
	}
	return out
}

// config writes a CLI configuration with a provider_installation block, and returns the variable
// that names it.
func (u *evilUser) config(t *testing.T, name, block string) string {
	t.Helper()
	file := filepath.Join(u.top, name)
	writeText(t, file, "provider_installation {\n"+block+"\n}\n")
	return "TF_CLI_CONFIG_FILE=" + file
}

// checkForged tries the lock of the wrong package in another project. env are further variables.
func (u *evilUser) checkForged(t *testing.T, name string, env ...string) {
	t.Helper()
	dir := u.project(t, name, u.lock)
	u.run(t, dir, env, 1, "install --offline", "without `--offline`")
	u.run(t, dir, env, 1, "install --locked --offline")
	u.run(t, dir, env, 1, "install", "the package has the hash h1:", "not the locked")
	u.run(t, dir, env, 1, "install --locked", "the package has the hash h1:", "not the locked")
	u.run(t, dir, env, 1, "mirror push oci://"+string(u.world.Host())+"/forged", "not the locked")
	if _, err := os.Lstat(filepath.Join(dir, ".terraform/providers")); err == nil {
		t.Errorf("%s: a provider was installed", name)
	}
}

func (u *evilUser) keepLock(t *testing.T, dir string) {
	t.Helper()
	var err error
	if u.lock, err = os.ReadFile(filepath.Join(dir, lockFile)); err != nil {
		t.Fatal(err)
	}
}

// TestProjectProviders installs a provider that a repository itself has, in the ways in which it
// can have it. That works there, and is named. Nothing of it counts in another project.
func TestProjectProviders(t *testing.T) {
	t.Parallel()
	const relative = "  filesystem_mirror {\n    path = \"plugins\"\n  }\n  direct {\n    exclude = [\"HOST/*/*\"]\n  }"
	for _, test := range []struct{ name, mirror, link, config string }{
		{name: "terraform.d", mirror: "terraform.d/plugins"},
		{name: "a link", mirror: "terraform.d/plugins", link: "elsewhere"},
		{name: "a relative path", mirror: "plugins", config: relative},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			u := newEvilUser(t)
			var env []string
			if test.config != "" {
				env = []string{u.config(t, "cli.tfrc", strings.ReplaceAll(test.config, "HOST", string(u.world.Host())))}
			}
			one := u.project(t, "one", nil)
			mirror := filepath.Join(one, test.mirror)
			if test.link != "" {
				target := filepath.Join(u.top, test.link)
				if err := os.MkdirAll(filepath.Dir(mirror), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(target, mirror); err != nil {
					t.Skip(err)
				}
				mirror = target
			}
			u.evilZip(t, mirror, "1.0.0")
			name := u.world.ProviderSource("acme/cloud")
			unsigned := "1 provider from this repository, unsigned: " + name + " "
			u.run(t, one, env, 0, "install", unsigned+"1.0.0")
			u.keepLock(t, one)
			u.run(t, one, env, 0, "install", "up to date", unsigned+"1.0.0")
			u.run(t, one, env, 0, "install --locked --offline", unsigned+"1.0.0")
			u.run(t, one, env, 0, "install --json", `"evidence":{"kind":"project"`)
			u.run(t, one, env, 0, "lock --check", unsigned+"1.0.0")
			u.run(t, one, env, 0, "verify", unsigned+"1.0.0", "!No origin has confirmed")
			u.run(t, one, append(slices.Clone(env), "CI=true"), 0, "verify", unsigned+"1.0.0")
			u.run(t, one, env, 0, "verify --json", `"evidence":{"kind":"project"`)
			u.run(t, one, env, 0, "tree --evidence --json", `"evidence":{"kind":"project"`)
			u.run(t, one, env, 0, "tree --evidence", "from this repository, unsigned")
			u.run(t, one, env, 0, "sbom", `"cotter:evidence"`)
			u.run(t, one, env, 1, "verify --remote", "the package is from the project's own repository")

			u.run(t, one, env, 1, "mirror push oci://"+string(u.world.Host())+"/modules", "the package is from the project's own repository", "--project-providers")
			u.run(t, one, env, 1, "bundle create --out x.tar", "the package is from the project's own repository", "--project-providers")
			u.run(t, one, env, 0, "bundle create --out x.tar --project-providers")
			u.run(t, one, env, 0, "mirror push --project-providers oci://"+string(u.world.Host())+"/modules", "1 pushed")

			writeText(t, filepath.Join(u.top, "deny.hcl"), "policy {\n  project_providers = \"deny\"\n}\n")
			denied := "the package is from this repository, unsigned ("
			u.run(t, one, env, 1, "install --policy ../deny.hcl", denied, "deny.hcl:2, project_providers)")
			u.run(t, one, env, 1, "verify --policy ../deny.hcl", denied)

			u.checkForged(t, "two")
			u.checkForged(t, "three", u.config(t, "direct.tfrc", "  direct {}"))

			u.evilZip(t, mirror, "2.0.0")
			u.run(t, one, env, 0, "update "+name, "1.0.0 -> 2.0.0", unsigned+"2.0.0")
			u.evilZip(t, mirror, "3.0.0")
			u.run(t, one, env, 0, "update "+name, unsigned+"3.0.0")
			if err := os.RemoveAll(mirror); err != nil {
				t.Fatal(err)
			}
			u.run(t, one, env, 1, "install")
			u.run(t, one, env, 1, "install --locked --offline")
			u.run(t, one, env, 0, "verify", "Nothing has confirmed 1 provider in the lock on this machine: "+name)
			u.run(t, one, append(slices.Clone(env), "CI=true"), 1, "verify", "Nothing has confirmed 1 provider in the lock on this machine: "+name, "not all entries of the lock are confirmed")
		})
	}
}

// TestLinkedProvidersDirectory installs a provider of a repository that has a link in the place of the
// directory of installed providers, or of a directory above it. The link points to the user's own
// plugin directory, whose packages are confirmed in all projects. Nothing may be written through it.
func TestLinkedProvidersDirectory(t *testing.T) {
	t.Parallel()
	for _, link := range []string{".terraform", ".terraform/providers"} {
		t.Run(link, func(t *testing.T) {
			t.Parallel()
			u := newEvilUser(t)
			one := u.project(t, "one", nil)
			u.evilZip(t, filepath.Join(one, "terraform.d/plugins"), "2.0.0")
			data := filepath.Join(u.top, "home/.terraform.d")
			writeText(t, filepath.Join(data, "plugins/mine"), "mine")
			target := filepath.Join(data, "plugins")
			if err := os.MkdirAll(filepath.Dir(filepath.Join(one, link)), 0o755); err != nil {
				t.Fatal(err)
			}
			if link == ".terraform" {
				target = data
				if err := os.Rename(filepath.Join(data, "plugins"), filepath.Join(data, "providers")); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(target, filepath.Join(one, link)); err != nil {
				t.Skip(err)
			}
			const refused = " must be a directory, not a link or a file"
			u.run(t, one, nil, 1, "install", link+refused)
			u.run(t, one, nil, 0, "lock")
			for _, args := range []string{"install", "install --locked", "install --offline", "update", "verify"} {
				if out := u.run(t, one, nil, 1, args); !strings.Contains(out, link+refused) {
					t.Errorf("%s does not name the link:\n%s", args, out)
				}
			}
			if left, err := os.ReadDir(target); err != nil || len(left) != 1 {
				t.Errorf("the target of the link has %v, %v", left, err)
			}
		})
	}
}

// Of several projects, each has only the providers that it brings itself, and the working directory
// brings none.
func TestProjectProvidersOfSeveral(t *testing.T) {
	t.Parallel()
	u := newEvilUser(t)
	one, two := u.project(t, "one", nil), u.project(t, "two", nil)
	u.evilZip(t, filepath.Join(one, "terraform.d/plugins"), "2.0.0")
	u.evilZip(t, filepath.Join(u.top, "terraform.d/plugins"), "3.0.0")
	name := u.world.ProviderSource("acme/cloud")
	u.run(t, u.top, nil, 0, "install one two", "one: 1 provider from this repository, unsigned: "+name+" 2.0.0", "!two: 1 provider from")
	u.run(t, u.top, nil, 0, "install one two", "up to date", "one: 1 provider from this repository, unsigned: "+name+" 2.0.0")
	u.run(t, u.top, nil, 0, "verify one two", name+" 2.0.0", "!No origin")
	u.run(t, two, nil, 0, "verify --remote", "1 of 1 origin still")
	u.run(t, u.top, nil, 1, "verify --remote one two", "the package is from the project's own repository", "1 of 2 origins still")
	u.run(t, u.top, nil, 1, "bundle create --out x.tar one two", "the package is from the project's own repository")
	u.run(t, u.top, nil, 0, "bundle create --out x.tar --project-providers one two", "2 packages of providers")
	u.run(t, one, nil, 0, "install", "up to date", name+" 2.0.0")
	u.run(t, u.top, nil, 0, "outdated one two", "!Error")
}

// A network mirror of the user's CLI configuration is the origin of its providers.
func TestNetworkMirrorAsOrigin(t *testing.T) {
	t.Parallel()
	u := newEvilUser(t)
	env := []string{u.config(t, "cli.tfrc", "  network_mirror {\n    url = \""+u.world.ProviderMirrorURL()+"\"\n  }")}
	one := u.project(t, "one", nil)
	u.run(t, one, env, 0, "install --json", `"evidence":{"kind":"mirror"`)
	u.run(t, one, env, 0, "verify --remote --json", `"evidence":{"kind":"mirror"`, `"moved":false`)
	u.keepLock(t, one)
	two := u.project(t, "two", u.lock)
	u.run(t, two, nil, 1, "install --locked --offline")
	u.run(t, two, nil, 0, "install --locked --json", `"evidence":{"kind":"signature"`)
	u.run(t, u.project(t, "three", u.lock), env, 0, "install --locked --offline")
}

// TestForgedByMirror uses a mirror that the user named, and then a lock for the package of that
// mirror without it. What the mirror has confirmed counts only while it is named.
func TestForgedByMirror(t *testing.T) {
	t.Parallel()
	u := newEvilUser(t)
	mirror := filepath.Join(u.top, "mirror")
	u.evilZip(t, mirror, "1.0.0")
	env := []string{u.config(t, "cli.tfrc", "  filesystem_mirror {\n    path = \""+filepath.ToSlash(mirror)+"\"\n  }")}
	one := u.project(t, "one", nil)
	u.run(t, one, env, 0, "install --json", `"evidence":{"kind":"mirror"`)
	u.keepLock(t, one)
	u.run(t, one, env, 0, "verify", "!unsigned", "!No origin")
	u.run(t, one, env, 0, "verify --remote", "1 of 1 origin still")
	u.checkForged(t, "two")
	u.run(t, one, nil, 0, "verify", "Nothing has confirmed 1 provider")
	u.run(t, one, nil, 1, "verify --remote", "the lock has a hash that its registry does not confirm: h1:")
	other := filepath.Join(u.top, "other")
	u.evilZip(t, other, "2.0.0")
	u.run(t, u.project(t, "three", u.lock), []string{u.config(t, "other.tfrc", "  filesystem_mirror {\n    path = \""+filepath.ToSlash(other)+"\"\n  }")}, 1, "install --locked")
	if err := os.RemoveAll(mirror); err != nil {
		t.Fatal(err)
	}
	u.run(t, u.project(t, "four", u.lock), env, 0, "install --locked --offline")
}

// TestForgedByStore takes a wrong package from a mirror of locked packages, and then uses its lock
// without that mirror. An imported bundle counts in all later runs.
func TestForgedByStore(t *testing.T) {
	t.Parallel()
	u := newEvilUser(t)
	one := u.project(t, "one", nil)
	u.evilZip(t, filepath.Join(one, "terraform.d/plugins"), "1.0.0")
	at := "oci://" + string(u.world.Host()) + "/modules"
	u.run(t, one, nil, 0, "install")
	u.keepLock(t, one)
	u.run(t, one, nil, 0, "mirror push --project-providers "+at)
	u.run(t, one, nil, 0, "bundle create --out ../x.tar --project-providers")
	if err := os.RemoveAll(u.cache); err != nil {
		t.Fatal(err)
	}
	two := u.project(t, "two", u.lock)
	u.run(t, two, []string{"COTTER_MIRROR=" + at}, 0, "install --locked")
	u.run(t, two, []string{"COTTER_MIRROR=" + at}, 0, "install --locked --offline")
	u.run(t, two, nil, 1, "install --locked --offline")
	u.checkForged(t, "three")
	u.checkForged(t, "four", "COTTER_MIRROR=oci://"+string(u.world.Host())+"/other")
	u.run(t, u.project(t, "five", u.lock), []string{"COTTER_MIRROR=" + at}, 0, "install --locked --offline")
	u.run(t, two, nil, 0, "bundle import ../x.tar", "imported")
	u.run(t, u.project(t, "six", u.lock), nil, 0, "install --locked --offline --json", `"evidence":{"kind":"imported"`)
}

// TestForgedHashes asks the registry about locks that have more hashes than the release.
func TestForgedHashes(t *testing.T) {
	t.Parallel()
	u := newEvilUser(t)
	one := u.project(t, "one", nil)
	u.run(t, one, nil, 0, "install --json", `"evidence":{"kind":"signature"`)
	u.run(t, one, nil, 0, "verify --remote", "1 of 1 origin still")
	text, err := os.ReadFile(filepath.Join(one, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, forged := range []string{"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "zh:" + strings.Repeat("0", 64)} {
		writeText(t, filepath.Join(one, lockFile), strings.Replace(string(text), "hashes = [\n", "hashes = [\n    \""+forged+"\",\n", 1))
		u.run(t, one, nil, 0, "verify")
		u.run(t, one, nil, 1, "verify --remote", "the lock has a hash that its registry does not confirm: "+forged, "0 of 1 origin still")
		u.run(t, one, nil, 1, "verify --remote --json", `"unknown":["`+forged+`"]`, `"moved":true`)
	}
}
