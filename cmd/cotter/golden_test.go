package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const goldenDir = "testdata/golden"

// TestGolden runs the scripts in testdata/golden, which compare the output of commands with the part
// "output". They can use the commands of TestScripts, and
//
//	shows cotter ARGS...     run the command in a worker, and add its command line and its output to the
//	                         file .transcript; lines of standard error begin with "! "
//	project NAME             write the files of a project in world.txtar
//	fault STATUS PATH...     let the servers answer these paths with the status
//
// All scripts share servers, which have the content of world.txtar and of the parts below "world/" of all
// scripts. In outputs, "mods.corp.local" stands for the address of the servers and has the same length.
//
// Unless servers have faults, TestGolden also does what each remedy in an output says: see follow.
func TestGolden(t *testing.T) {
	t.Parallel()
	needCommands(t, "git")
	names, err := filepath.Glob(goldenDir + "/*.txtar")
	testenv.Must(t, err)
	content := fstest.MapFS{}
	var calm, faulty []string
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		testenv.Must(t, err)
		for _, file := range archive.Files {
			if path, ok := strings.CutPrefix(file.Name, "world/"); ok {
				content[path] = &fstest.MapFile{Data: file.Data, Mode: 0o644}
			}
		}
		switch {
		case filepath.Base(name) == "world.txtar":
		case strings.Contains("\n"+string(archive.Comment), "\nfault "):
			faulty = append(faulty, name)
		default:
			calm = append(calm, name)
		}
	}
	world, tools := modtest.New(t, content), bothStockTools(t)
	run := func(t *testing.T, of *remedies, names ...string) {
		p := scripts(names)
		p.Setup = func(env *testscript.Env) error {
			if env.Values[remediesKey{}] = of; of != nil {
				of.scripts.Add(1)
			}
			return setupGolden(env, world, tools)
		}
		testscript.Run(t, p)
	}
	followed := &remedies{t: t}
	t.Run("scripts", func(t *testing.T) { run(t, followed, calm...) })
	if !t.Failed() && int(followed.scripts.Load()) == len(calm) { // -run can choose some
		followed.checkExceptions()
	}
	for _, name := range faulty { // one after the other, because a fault is for all users of the servers
		t.Run("faults", func(t *testing.T) {
			t.Cleanup(func() { world.SetFaults() })
			run(t, nil, name)
		})
	}
}

func setupGolden(env *testscript.Env, world *modtest.World, tools string) error {
	if err := os.RemoveAll(filepath.Join(env.WorkDir, "world")); err != nil {
		return err
	}
	env.Vars = append(env.Vars, world.Env()...)
	for name, value := range map[string]string{
		"MODTEST_HOST": string(world.Host()), "PATH": os.Getenv("PATH") + string(filepath.ListSeparator) + tools, "TF_REGISTRY_DISCOVERY_RETRY": "1",
	} {
		env.Setenv(name, value)
	}
	if err := setup(env, goldenDir); err != nil {
		return err
	}
	*env.Values[worldKey{}].(**modtest.World) = world
	return expand(env.WorkDir, string(world.Host()))
}

// bothStockTools returns a directory with both stock tools, which are empty scripts, so that what is
// assumed about a project does not depend on the tools of this machine.
func bothStockTools(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"tofu", "terraform"} {
		testenv.WriteProgram(t, filepath.Join(dir, name), "#!/bin/sh\n")
	}
	return dir
}

func show(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 0 || args[0] != "cotter" {
		ts.Fatalf("usage: shows cotter args...")
	}
	end := runWarm(ts, args[1:])
	text := "$ " + strings.Join(args, " ") + "\n" + string(end.Stdout)
	for line := range strings.Lines(string(end.Stderr)) {
		text += strings.TrimRight("! "+strings.TrimSuffix(line, "\n"), " ") + "\n"
	}
	if end.Status != 0 {
		text += fmt.Sprintf("[exit status %d]\n", end.Status)
	}
	file, err := os.OpenFile(ts.MkAbs(".transcript"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	ts.Check(err)
	_, err = file.WriteString(unvaried(ts, text))
	ts.Check(err)
	ts.Check(file.Close())
	follow(ts, args[1:], end)
}

func writeProject(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: project name")
	}
	archive, err := txtar.ParseFile(goldenDir + "/world.txtar")
	ts.Check(err)
	files, err := txtar.FS(archive)
	ts.Check(err)
	config, err := fs.Sub(files, "project/"+args[0])
	ts.Check(err)
	ts.Check(os.CopyFS(ts.MkAbs("."), config))
	ts.Check(expand(ts.MkAbs("."), ts.Getenv("MODTEST_HOST")))
}

func fault(ts *testscript.TestScript, _ bool, args []string) {
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	var faults []modtest.Fault
	for _, path := range args[1:] {
		faults = append(faults, modtest.Fault{Path: path, Status: status})
	}
	(*theWorld(ts)).SetFaults(faults...)
}

// outputVariant matches a part of an output that differs from run to run, and has its
// replacement.
type outputVariant struct {
	pattern *regexp.Regexp
	with    string
}

// variable returns the variants of the golden outputs. They are compiled only when needed,
// because this program starts as the command more than a thousand times.
var variable = sync.OnceValue(func() []outputVariant {
	return []outputVariant{
		{regexp.MustCompile(`\bin \d+(\.\d+)? s\b`), "in 0.05 s"},
		{regexp.MustCompile(`\b\d+(\.\d)? (B|kB)\b`), "SIZE"},
		{regexp.MustCompile(`(h1|t1|zh):[0-9A-Za-z+/=]{43,64}`), "$1:HASH"},
		{regexp.MustCompile(`(h1|t1):[0-9A-Za-z+/]{12}\b`), "$1:HASH"},
		{regexp.MustCompile(`\b[0-9a-f]{40}([0-9a-f]{24})?\b`), "COMMIT"},
		{regexp.MustCompile(`\b[0-9a-f]{12}\b`), "COMMIT"},
		{regexp.MustCompile(`([Cc])ommit [0-9a-f]{7}( -> [0-9a-f]{7})?`), "${1}ommit COMMIT"},
		{regexp.MustCompile(`\([0-9a-f]{7}\)`), "(COMMIT)"},
		{regexp.MustCompile(`\([0-9a-f]{7} -> [0-9a-f]{7}\)`), "(COMMIT -> COMMIT)"},
		{regexp.MustCompile(`key [0-9A-F]{16}`), "key KEY"},
		{regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`), "2026-01-02"},
	}
})

// unvaried replaces the parts of a text that differ from run to run.
func unvaried(ts *testscript.TestScript, text string) string {
	host := ts.Getenv("MODTEST_HOST")
	text = strings.ReplaceAll(text, host, fmt.Sprintf("%-*s", len(host), "mods.corp.local")[:len(host)])
	text = strings.ReplaceAll(text, ts.Getenv("WORK"), "DIR")
	for _, v := range variable() {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return text
}
