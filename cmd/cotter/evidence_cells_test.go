//go:build linux || darwin

package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

// cell is a run with a package that somebody brings, and with something about it that is forged
// so that the lock and the package fit each other.
type cell struct{ pkg, brought, forged, run string }

// cellValues are the values of a cell, in the order of its fields.
//
// The lock is always the forged one. The second field says where the package for it is:
//
//   - The origin, the user's mirror and the bundle have only the right package, because those who
//     can push there are trusted. The forged one is in .terraform.
//   - The kept copy is that of the lock, below .terraform. The lock itself has lost its entries.
//   - The other places have the forged package, as the attacker's runs have written it there.
//
// verify needs an installation. If the place is another one, the forged package is in .terraform
// too.
var cellValues = [...][]string{
	{"git", "registry", "provider"},
	{"origin", "restored cache", "committed .terraform", "kept copy", "repository's mirror", "user's mirror", "bundle", "plugin cache", "terraform.d"},
	{"nothing", "commit", "hashes", "version", "subdir", "added hash", "signature", "other platform"},
	{"install", "install --locked", "install --locked --offline", "update other", "lock", "lock --check", "verify", "verify --remote", "mirror push", "bundle create"},
}

func (c cell) values() [4]string { return [...]string{c.pkg, c.brought, c.forged, c.run} }

func (c cell) String() string {
	values := c.values()
	return strings.Join(values[:], ", ")
}

// impossible returns why there is no such cell, or "".
func (c cell) impossible() string {
	switch {
	case c.pkg == "provider" && (c.forged == "commit" || c.forged == "subdir"):
		return "a provider has neither"
	case c.forged == "signature" && (c.pkg != "provider" || c.brought != "origin"):
		return "only the sums of registries are signed"
	case c.pkg == "provider":
		return ""
	case c.brought == "plugin cache" || c.brought == "terraform.d":
		return "it holds only providers"
	case c.forged == "added hash":
		return "the entry of a module has one hash of each scheme"
	case c.forged == "other platform":
		return "a module is for every platform"
	case c.forged == "version" && c.pkg == "git":
		return "the ref is the version"
	}
	return ""
}

// The ends of cells.
const (
	isUsed    = "used"    // the run succeeds with the honest package
	isRefused = "refused" // the run fails, says why, and changes nothing
	isListed  = "listed"  // the run succeeds, and names the package as not confirmed
	isBrought = "brought" // the run succeeds with what the project has brought, which is named as such
)

// cellRuns are ends by the kind of run. The last one is for all runs that the others do not name.
type cellRuns []struct {
	end  string
	runs []string
}

const offline = "install --locked --offline"

var ownProjectRuns = []string{"install", "install --locked", offline, "update other", "lock", "lock --check", "verify"}

var cellTable = map[string]struct{ nothing, forged cellRuns }{
	"": {
		nothing: cellRuns{{isRefused, []string{offline}}, {isUsed, nil}},
		forged:  cellRuns{{isListed, []string{"verify"}}, {isRefused, nil}},
	},
	// What the user has imported is at hand.
	"bundle": {
		nothing: cellRuns{{isUsed, nil}},
		forged:  cellRuns{{isListed, []string{"verify"}}, {isRefused, nil}},
	},
	// The lock has lost its entries. What the copy of another user says does not count, so the
	// runs that can change the lock ask the origins.
	"kept copy": {
		nothing: cellRuns{{isUsed, []string{"install", "update other", "lock", "verify", "verify --remote"}}, {isRefused, nil}},
		forged:  cellRuns{{isUsed, []string{"install", "update other", "lock"}}, {isRefused, nil}},
	},
	"terraform.d": {
		nothing: cellRuns{{isBrought, ownProjectRuns}, {isRefused, nil}},
		forged:  cellRuns{{isBrought, ownProjectRuns}, {isRefused, nil}},
	},
}

// packageRuns are the runs that get packages by the hashes of the lock. If it has hashes of several
// packages of a provider, they use only the one that the origin has for the platform.
var packageRuns = []string{"install", "install --locked", "update other", "lock", "lock --check", "mirror push", "bundle create"}

func (c cell) expected() string {
	if c.brought != "kept copy" && c.brought != "terraform.d" {
		switch {
		case c.forged != "added hash" && c.forged != "other platform":
		case slices.Contains(packageRuns, c.run), c.run == offline && c.brought == "bundle":
			return isUsed
		case c.forged == "other platform" && c.run == "verify --remote":
			return isListed // the lock is right, and what is installed is not
		}
	}
	row, ok := cellTable[c.brought]
	if !ok {
		row = cellTable[""]
	}
	runs := row.forged
	if c.forged == "nothing" {
		runs = row.nothing
	}
	for _, r := range runs {
		if r.runs == nil || slices.Contains(r.runs, c.run) {
			return r.end
		}
	}
	panic("the table has no end for " + c.String())
}

// refusals are parts of the messages that say why something forged is refused.
var refusals = map[string][]string{
	"commit":  {" moved ", "no branch or tag contains the locked commit", "but the source points to commit", "content changed", "other content"},
	"hashes":  {"checksum verification failed", "content changed", "other content"},
	"version": {"has no module acme/net/aws 1.0.5"},
	"subdir":  {"begin in the directory", "directory moved"},
}

var providerRefusals = map[string][]string{
	"hashes":     {"not the locked h1:", "its registry does not confirm"},
	"version":    {"no package of this version", "404"},
	"added hash": {"its registry does not confirm"},
	"signature":  {"not the locked h1:", "the signature was not made by any of the offered keys", "its registry does not confirm"},
}

func (c cell) saysWhy(out string) bool {
	why := refusals[c.forged]
	if c.pkg == "provider" {
		why = providerRefusals[c.forged]
	}
	switch c.brought {
	case "terraform.d":
		why = []string{"the package is from the project's own repository"}
	case "kept copy":
		why = []string{"the lock has no entry", "has no entry in the lock", "the lock is not up to date"}
	default:
		if c.run == offline {
			why = []string{"neither installed nor in the cache", "no origin has confirmed"}
		}
	}
	return slices.ContainsFunc(why, func(part string) bool { return strings.Contains(out, part) })
}

// needsInstallation reports whether the victim installs before the run, because verify compares
// what is installed, or because the other provider must be at hand without a network.
func (c cell) needsInstallation() bool {
	return c.run == offline && c.brought == "terraform.d" || strings.HasPrefix(c.run, "verify") && (c.forged == "nothing" || c.brought == "terraform.d")
}

func allCells() (cells []cell) {
	for _, pkg := range cellValues[0] {
		for _, brought := range cellValues[1] {
			for _, forged := range cellValues[2] {
				for _, run := range cellValues[3] {
					if c := (cell{pkg, brought, forged, run}); c.impossible() == "" {
						cells = append(cells, c)
					}
				}
			}
		}
	}
	return cells
}

func pairwise(cells []cell) (chosen []cell) {
	type pair struct {
		i, j int
		a, b string
	}
	pairs := func(c cell) (all []pair) {
		values := c.values()
		for i := range values {
			for j := range i {
				all = append(all, pair{i, j, values[i], values[j]})
			}
		}
		return all
	}
	missing := make(map[pair]bool)
	for _, c := range cells {
		for _, p := range pairs(c) {
			missing[p] = true
		}
	}
	for len(missing) > 0 {
		best, most := cell{}, 0
		for _, c := range cells {
			n := 0
			for _, p := range pairs(c) {
				if missing[p] {
					n++
				}
			}
			if n > most {
				best, most = c, n
			}
		}
		for _, p := range pairs(best) {
			delete(missing, p)
		}
		chosen = append(chosen, best)
	}
	return chosen
}

func (c cell) args(s *cellSite) string {
	switch c.run {
	case "update other":
		if c.pkg == "provider" {
			return "update " + s.world.ProviderSource("acme/disk")
		}
	case "mirror push":
		return "mirror push oci://" + c.published(s)
	case "bundle create":
		return "bundle create --out out.tar"
	}
	return c.run
}

// published returns the repository to which the run pushes.
func (c cell) published(s *cellSite) string {
	return string(s.world.Host()) + "/published/" + strings.NewReplacer(" ", "-", "'", "", ".", "").Replace(c.brought)
}

func TestEvidenceCells(t *testing.T) {
	t.Parallel()
	cells := allCells()
	if !*testenv.Exhaustive {
		cells = testenv.Sample(pairwise(cells), func(c cell) string { return c.pkg + ", " + c.forged })
	}
	sites := make(map[[2]string][]cell)
	for _, c := range cells {
		name := [2]string{c.pkg, c.forged}
		sites[name] = append(sites[name], c)
	}
	for name, cells := range sites {
		t.Run(name[0]+", "+name[1], func(t *testing.T) {
			t.Parallel()
			s := newCellSite(t, cells[0])
			for _, c := range cells {
				t.Run(c.brought+", "+c.run, func(t *testing.T) { s.test(t, c) })
			}
		})
	}
}

// unconfirmed matches the line of verify that names packages as not confirmed.
var unconfirmed = regexp.MustCompile(`Nothing has confirmed \d+ .*: .*\b(net|cloud)\b`)

// test runs the command of a cell as a victim, and compares the end with the expected one.
func (s *cellSite) test(t *testing.T, c cell) {
	u := s.victim(t, c)
	if c.needsInstallation() {
		u.mustRun(t, "install")
	}
	before := cellStateOf(t, u)
	s.world.ResetRequests()
	want, end := c.expected(), u.run(c.args(s))
	after := cellStateOf(t, u)
	switch want {
	case isUsed:
		c.checkUsed(t, s, u, end, before, after)
	case isRefused:
		if end.status == 0 || !c.saysWhy(end.out) {
			t.Errorf("status %d, want an error that says why", end.status)
		}
		s.checkNothingDone(t, c, before, after)
	case isListed:
		if end.status != 0 || !unconfirmed.MatchString(end.out) {
			t.Errorf("status %d, want 0, and the package as not confirmed", end.status)
		}
		s.checkNothingDone(t, c, before, after)
	case isBrought:
		if end.status != 0 || after.Lock != before.Lock && c.run != "update other" {
			t.Errorf("status %d, want 0, and the same lock", end.status)
		}
		u.mustRun(t, "install")
		if tree := u.run("tree --evidence --json"); !strings.Contains(tree.out, `"evidence":{"kind":"project"`) {
			t.Errorf("tree does not name the package as brought:\n%s", tree.out)
		}
	}
	if t.Failed() {
		t.Logf("%s: want %s; %s:\n%s", c, want, c.run, end.out)
	}
}

// checkUsed checks that the honest package was used: installed, locked or confirmed.
func (c cell) checkUsed(t *testing.T, s *cellSite, u *site, end ending, before, after cellState) {
	t.Helper()
	if end.status != 0 || strings.Contains(end.out, "Nothing has confirmed") {
		t.Errorf("status %d, want 0 and nothing that is not confirmed", end.status)
	}
	if text := after.Installed; text != "# honest\n" && slices.Contains([]string{"install", "install --locked", offline, "update other"}, c.run) {
		t.Errorf("the module is %q", text)
	}
	switch {
	case c.run == "verify --remote":
	case c.pkg == "provider":
		known := slices.Concat(cellEntry(t, s.honest, s.world).Hashes, cellEntry(t, before.Lock, s.world).Hashes)
		for _, hash := range cellEntry(t, after.Lock, s.world).Hashes {
			if !slices.Contains(known, hash) {
				t.Errorf("the lock has the new hash %s", hash)
			}
		}
	case !moduleEntry(t, after.Lock).Equal(moduleEntry(t, s.honest)):
		t.Errorf("the lock has the entry %+v", moduleEntry(t, after.Lock))
	}
	s.checkPublished(t, c, u)
}

func (s *cellSite) checkPublished(t *testing.T, c cell, from *site) {
	t.Helper()
	args, ok := map[string]string{
		"mirror push":   "install --locked --mirror oci://" + c.published(s),
		"bundle create": "install --locked --bundle " + filepath.Join(from.project, "out.tar"),
	}[c.run]
	if !ok {
		return
	}
	u := s.user(t, s.forged)
	u.mustRun(t, args)
	if text := cellStateOf(t, u).Installed; text != "# honest\n" {
		t.Errorf("%q was published", text)
	}
}

// checkNothingDone checks that nothing was installed, locked or published.
func (s *cellSite) checkNothingDone(t *testing.T, c cell, before, after cellState) {
	t.Helper()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the project has changed (-before +after):\n%s", diff)
	}
	if c.run != "mirror push" {
		return
	}
	// The package of acme/disk is honest, and may be there before the other one is refused. All packages
	// share the config, whose digest is in the query.
	config := strings.TrimPrefix(oci.Describe([]byte(oci.EmptyConfig)).Digest, "sha256:")
	honest := regexp.MustCompile(`acme[/_]disk|` + config)
	for _, request := range s.world.Requests() {
		if request.Method == http.MethodPut && !honest.MatchString(request.String()) {
			t.Errorf("something was published: %s", request)
		}
	}
}

// cellState is what a run can change about the module net.
type cellState struct{ Lock, Installed, Bundle string }

func cellStateOf(t *testing.T, u *site) cellState {
	t.Helper()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(u.project, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return string(text)
	}
	state := cellState{Lock: u.lockText(t), Bundle: read("out.tar")}
	state.Installed = u.installedProvider(t)
	if dir, ok := loadedDirs(t, u.project)["net"]; ok {
		state.Installed = read(filepath.Join(dir, "main.tf"))
	}
	return state
}

func moduleEntry(t *testing.T, text string) lockfile.Module {
	t.Helper()
	lock, err := lockfile.Parse([]byte(text), lockFile)
	testenv.Must(t, err)
	entry, _ := lock.Module("net")
	return entry
}

// loadedDirs returns the directories of the modules that the stock tools would load.
func loadedDirs(t *testing.T, project string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(project, ".terraform/modules/modules.json"))
	if err != nil {
		return nil
	}
	var manifest struct{ Modules []struct{ Key, Dir string } }
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Errorf("modules.json: %v\n%s", err, text)
	}
	dirs := make(map[string]string)
	for _, m := range manifest.Modules {
		dirs[m.Key] = m.Dir
	}
	return dirs
}
