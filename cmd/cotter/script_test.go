package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata/script")

// TestScripts runs the scripts in testdata/script. In addition to the commands of
// testscript, they can use:
//
//	modserver [-token=T]   start servers with the script's registry/, git/ and
//	                       archives/, and expand MODTEST_HOST and MODTEST_PORT in all its files
//	publish MODULE VERSION FILE   publish a version of a registry module
//	movetag REPO TAG FILE  move a tag of a git repository to a new commit
//	publishtag REPO TAG FILE   add a commit with a tag to the main branch of a git repository
//	proposecommit REPO REF FILE   add a commit that no branch or tag contains to a git
//	                       repository, as forges do for pull requests
//	forge LOCK KEY FILE [COMMIT]   give an entry of a lock the hashes of a package with only
//	                       the file main.tf, and a commit; PROPOSED is the last proposed one,
//	                       and ABBREVIATED its first digits
//	archive NAME FILE      replace an archive
//	cotter ARGS...         run the command in a worker
//	status N cotter ARGS...   run the command in a worker; it must exit with that status
//	status N exec COMMAND...  run a command as a process; it must exit with that status
//	forget                 forget the requests so far
//	norequests [PART]      fail if a path with that part was requested since then
//	notasked HOST          fail if the servers were asked under that name since then
//	onlyregistry           fail if a server other than the OCI registry was asked since then
//	nochanges              fail if something was uploaded since then
//	redirect HOST PATH...  redirect requests for paths with these prefixes to another name of the servers
//	providershape NAME VERSION SHAPE   give a version of a provider a fault
//	publishprovider NAME VERSION PLATFORM DIR   publish a package of a provider
//	noarchives             fail if an archive of a provider was downloaded since then
//	providerblocks A B     fail if two locks have different provider blocks
//	replace FILE OLD NEW   replace text in a file
//	withoutgit             leave nothing but cotter in PATH
//	shows, project, fault  see TestGolden
//
// Most scripts run the command with "cotter". Scripts that test the process or its
// environment use "exec cotter".
func TestScripts(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/script/*.txtar")
	testenv.Must(t, err)
	p := scripts(names)
	p.Setup = func(env *testscript.Env) error { return setup(env, "testdata/script") }
	testscript.Run(t, p)
}

func scripts(names []string) testscript.Params {
	cmds := map[string]func(*testscript.TestScript, bool, []string){
		"modserver":       modserver,
		"proposecommit":   proposeCommit,
		"forge":           forge,
		"status":          status,
		"forget":          func(ts *testscript.TestScript, _ bool, _ []string) { (*theWorld(ts)).ResetRequests() },
		"norequests":      noRequests,
		"notasked":        notAsked,
		"redirect":        redirect,
		"replace":         replace,
		"publishprovider": publishProvider,
		"noarchives":      noArchives,
		"providerblocks":  providerBlocks,
		"onlyregistry":    onlyRegistry,
		"nochanges":       noChanges,
		"withoutgit":      leaveCotter,
		"cotter":          cotterWarm,
		"shows":           show,
		"project":         writeProject,
		"fault":           fault,
		"providershape": publishing("name version shape", func(w *modtest.World, args []string, _ fs.FS) error {
			shape, known := shapes[args[2]]
			if !known {
				return fmt.Errorf("there is no shape %q", args[2])
			}
			return w.SetProviderShape(args[0], args[1], shape)
		}),
		"publish": publishing("module version file", func(w *modtest.World, args []string, files fs.FS) error {
			return w.PublishVersion(args[0], args[1], files)
		}),
		"movetag":    publishing("repo tag file", func(w *modtest.World, args []string, files fs.FS) error { return w.MoveTag(args[0], args[1], files) }),
		"publishtag": publishing("repo tag file", func(w *modtest.World, args []string, files fs.FS) error { return w.PublishTag(args[0], args[1], files) }),
		"archive":    publishing("name file", func(w *modtest.World, args []string, files fs.FS) error { return w.PublishArchive(args[0], files) }),
	}
	return testscript.Params{Files: names, UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true, Condition: condition, Cmds: cmds}
}

// publishing returns a command that changes the servers. The usage names its arguments; if the last one is
// a file, that is the file main.tf of files.
func publishing(usage string, publish func(w *modtest.World, args []string, files fs.FS) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		if len(args) != len(strings.Fields(usage)) {
			ts.Fatalf("usage: %s", usage)
		}
		var files fs.FS
		if strings.HasSuffix(usage, " file") {
			files = modtest.Txtar("-- main.tf --\n" + ts.ReadFile(args[len(args)-1]))
		}
		ts.Check(publish(*theWorld(ts), args, files))
	}
}

// setup gives a script in a directory an empty home directory, an author of git commits, and none of the machine's
// settings.
func setup(env *testscript.Env, dir string) error {
	home := filepath.Join(env.WorkDir, ".home")
	env.Values[worldKey{}] = new(*modtest.World)
	env.Setenv("HOME", home)
	env.Setenv("COTTER_CACHE_DIR", filepath.Join(env.WorkDir, ".cache"))
	env.Setenv("TF_CLI_CONFIG_FILE", filepath.Join(home, "cli.tfrc"))
	env.Setenv("CHECKPOINT_DISABLE", "1")
	env.Setenv("NO_COLOR", "1")
	env.Setenv("CI", "")
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		env.Setenv("GIT_"+who+"_NAME", "a")
		env.Setenv("GIT_"+who+"_EMAIL", "a@example.com")
	}
	env.Vars = append(env.Vars, testenv.Variables()...)
	if err := os.Mkdir(home, 0o755); err != nil {
		return err
	}
	script, err := os.ReadFile(filepath.Join(dir, strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")+".txtar"))
	if err != nil {
		return err
	}
	env.Values[variablesKey{}] = newVariables(env.Vars, string(script))
	return os.WriteFile(filepath.Join(home, "cli.tfrc"), nil, 0o644)
}

type variablesKey struct{}

// variables are the names of environment variables; the value says whether a variable is set
// even if it is empty. testscript can return the value of a variable, but has no list of
// them.
type variables map[string]bool

// newVariables returns the variables of a script's initial environment, and those that the
// script sets.
func newVariables(entries []string, script string) variables {
	v := make(variables)
	for line := range strings.Lines(script) {
		if strings.HasPrefix(line, "-- ") {
			break // the commands end here
		}
		if _, assignments, ok := strings.Cut(" "+line, " env "); ok {
			v.add(false, strings.Fields(assignments)...)
		}
	}
	v.add(true, entries...)
	return v
}

func (v variables) add(even bool, entries ...string) {
	for _, entry := range entries {
		if name, _, ok := strings.Cut(entry, "="); ok && name != "" {
			v[name] = even
		}
	}
}

func (v variables) entries(value func(name string) string) []string {
	var entries []string
	for name, even := range v {
		if value := value(name); value != "" || even {
			entries = append(entries, name+"="+value)
		}
	}
	return entries
}

// condition implements conditions such as [tofu], which hold if that program is installed.
func condition(name string) (bool, error) {
	_, err := exec.LookPath(name)
	return err == nil, nil
}

type worldKey struct{}

// theWorld returns the pointer through which modserver stores the script's servers.
func theWorld(ts *testscript.TestScript) **modtest.World {
	return ts.Value(worldKey{}).(**modtest.World)
}

func modserver(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(".")
	var opts modtest.Options
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "-token":
			opts.Token = value
		case "-git":
			opts.GitUser, opts.GitPassword, _ = strings.Cut(value, ":")
		default:
			ts.Fatalf("usage: modserver [-token=T] [-git=USER:PASSWORD]")
		}
	}
	world, err := modtest.Start(os.DirFS(dir), opts)
	ts.Check(err)
	ts.Defer(func() { ts.Check(world.Close()) })
	for _, entry := range world.Env() {
		name, value, _ := strings.Cut(entry, "=")
		ts.Setenv(name, value)
	}
	ts.Value(variablesKey{}).(variables).add(true, world.Env()...)
	ts.Setenv("MODTEST_HOST", string(world.Host()))
	ts.Check(expand(dir, string(world.Host())))
	*theWorld(ts) = world
}

// expand replaces MODTEST_HOST, and MODTEST_PORT, in the script's files.
func expand(dir, host string) error {
	return filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), "MODTEST_") {
			return err
		}
		_, port, _ := strings.Cut(host, ":")
		expanded := strings.NewReplacer("MODTEST_HOST", host, "MODTEST_PORT", port).Replace(string(text))
		return os.WriteFile(name, []byte(expanded), 0o644)
	})
}

func proposeCommit(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: proposecommit repo ref file")
	}
	commit, err := (*theWorld(ts)).ProposeCommit(args[0], args[1], modtest.Txtar("-- main.tf --\n"+ts.ReadFile(args[2])))
	ts.Check(err)
	ts.Setenv("PROPOSED", commit)
	ts.Setenv("ABBREVIATED", commit[:10])
}

func forge(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 && len(args) != 4 {
		ts.Fatalf("usage: forge lock key file [commit]")
	}
	commit := ""
	if len(args) == 4 {
		commit = args[3]
	}
	ts.Check(forgeEntry(ts.MkAbs(args[0]), args[1], modtest.Txtar("-- main.tf --\n"+ts.ReadFile(args[2])), commit))
}

// forgeEntry edits an entry of a lock so that it fits other files, and another commit unless that
// is "".
func forgeEntry(name, key string, files fs.FS, commit string) error {
	lock, err := installer.ReadLock(context.Background(), installer.Project{Dir: filepath.Dir(name), LockFile: filepath.Base(name)})
	if err != nil {
		return err
	}
	entry, ok := lock.Module(key)
	if !ok {
		return fmt.Errorf("%s has no entry %q", name, key)
	}
	tree, err := hashing.ReadTree(context.Background(), files)
	if err != nil {
		return err
	}
	entry.Hashes = []hashing.Hash{tree.H1(), tree.T1()}
	if commit != "" {
		entry.Package = testenv.Package(strings.ReplaceAll(entry.Package.String(), entry.Revision(), commit))
	}
	lock.SetModule(entry)
	return os.WriteFile(name, lock.Bytes(), 0o644)
}

// cotterWarm runs the command in a worker.
func cotterWarm(ts *testscript.TestScript, neg bool, args []string) {
	switch status := runWarm(ts, args).Status; {
	case status == 0 && neg:
		ts.Fatalf("unexpected command success")
	case status != 0 && !neg:
		ts.Fatalf("unexpected command failure: exit status %d", status)
	}
}

func status(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 || args[1] != "cotter" && (args[1] != "exec" || len(args) == 2) {
		ts.Fatalf("usage: status number cotter args... or status number exec command...")
	}
	var got int
	if args[1] == "cotter" {
		got = runWarm(ts, args[2:]).Status
	} else {
		got = exitCode(ts.Exec(args[2], args[3:]...))
	}
	if want, _ := strconv.Atoi(args[0]); got != want {
		ts.Fatalf("the command ended with exit status %d, want %d", got, want)
	}
}

// runWarm runs the command in a worker, in the script's directory and environment.
func runWarm(ts *testscript.TestScript, args []string) workerEnd {
	env := append(ts.Value(variablesKey{}).(variables).entries(ts.Getenv), "PWD="+ts.MkAbs("."))
	end, err := warm.do(workerCommand{Dir: ts.MkAbs("."), Env: env, Args: args})
	ts.Check(err)
	_, _ = ts.Stdout().Write(end.Stdout)
	_, _ = ts.Stderr().Write(end.Stderr)
	return end
}

func noRequests(ts *testscript.TestScript, _ bool, args []string) {
	part := strings.Join(args, " ")
	for _, r := range (*theWorld(ts)).Requests() {
		if strings.Contains(r.Path, part) {
			ts.Fatalf("the servers were asked: %s", r)
		}
	}
}

func onlyRegistry(ts *testscript.TestScript, _ bool, _ []string) {
	for _, r := range (*theWorld(ts)).Requests() {
		if !strings.HasPrefix(r.Path, "/v2/") {
			ts.Fatalf("more than the OCI registry was asked: %v", r)
		}
	}
}

func noChanges(ts *testscript.TestScript, _ bool, _ []string) {
	for _, r := range (*theWorld(ts)).Requests() {
		if r.Method == http.MethodPut || strings.HasSuffix(r.Path, "/uploads/") {
			ts.Fatalf("something was uploaded: %v", r)
		}
	}
}

// shapes are the possible faults of a provider, by their names in scripts.
var shapes = map[string]modtest.ProviderShape{
	"right":           modtest.ProviderSigned,
	"expired-key":     modtest.ProviderExpiredKey,
	"unknown-key":     modtest.ProviderUnknownKey,
	"changed-archive": modtest.ProviderChangedArchive,
	"weak-key":        modtest.ProviderWeakKey,
}

// redirect replaces the redirects of an earlier call.
func redirect(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: redirect host path...")
	}
	var list []modtest.Fault
	for _, path := range args[1:] {
		list = append(list, modtest.Fault{Path: path, RedirectHost: args[0]})
	}
	(*theWorld(ts)).SetFaults(list...)
}

func notAsked(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: notasked host")
	}
	for _, r := range (*theWorld(ts)).Requests() {
		if strings.HasPrefix(r.Host, args[0]+":") {
			ts.Fatalf("%s was asked for %s", r.Host, r.Path)
		}
	}
}

func publishProvider(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 4 {
		ts.Fatalf("usage: publishprovider name version platform dir")
	}
	ts.Check((*theWorld(ts)).PublishProvider(args[0], args[1], args[2], os.DirFS(ts.MkAbs(args[3]))))
}

// noArchives fails if a provider archive was downloaded. It allows listings, which stock
// tools always request.
func noArchives(ts *testscript.TestScript, _ bool, _ []string) {
	for _, r := range (*theWorld(ts)).Requests() {
		if strings.HasPrefix(r.Path, "/providers/") {
			ts.Fatalf("%s was downloaded", r.Path)
		}
	}
}

func providerBlocks(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: providerblocks lock lock")
	}
	blocks := make([]string, len(args))
	for i, name := range args {
		text := ts.ReadFile(name)
		_, after, found := strings.Cut(text, "provider \"")
		if !found {
			ts.Fatalf("%s has no provider block:\n%s", name, text)
		}
		blocks[i] = after
	}
	if blocks[0] != blocks[1] {
		ts.Fatalf("%s has\n%s\nand %s has\n%s", args[0], blocks[0], args[1], blocks[1])
	}
}

func replace(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: replace file old new")
	}
	name := ts.MkAbs(args[0])
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not have %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(name, []byte(strings.ReplaceAll(text, args[1], args[2])), 0o644))
}

// leaveCotter reduces PATH to the directory that contains cotter.
func leaveCotter(ts *testscript.TestScript, _ bool, _ []string) {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := exec.LookPath(filepath.Join(dir, "cotter")); err == nil {
			ts.Setenv("PATH", dir)
			return
		}
	}
	ts.Fatalf("PATH has no cotter")
}
