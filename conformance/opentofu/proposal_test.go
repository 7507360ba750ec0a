package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cotterpin/cotter/modtest"
)

var proposal = flag.Bool("proposal", false, "build OpenTofu with the files in _locking, and run the scripts of the proposal with it")

// TestProposal builds OpenTofu with the files in _locking, and runs the scripts in testdata/proposal with it: one for each
// section of the proposal "Module Version Locking", in its order. Beside the commands of testscript, they can use:
//
//	modserver              start servers with the script's files (package modtest), set MODTEST_HOST, and
//	                       expand it in all files
//	publish MODULE VERSION FILE   publish a version of a registry module
//	publishtag REPO TAG FILE      add a commit with a tag to a git repository
//	movetag REPO TAG FILE         move a tag of a git repository to a new commit
//	archive NAME FILE             replace an archive
//	forget                 forget the requests so far
//	norequests             fail if something was requested since then
//	replace FILE OLD NEW   replace text in a file
//
// A binary that an earlier run has built could be older than our files, so the test always builds one. Without the
// flag it skips: compiling OpenTofu takes minutes where the go command has not done it before.
func TestProposal(t *testing.T) {
	if !*proposal {
		t.Skip("the tofu binary with Cotter's files is not built: go test . -timeout 60m -proposal builds it, and runs the scripts")
	}
	bin := t.TempDir()
	buildTofu(t, filepath.Join(bin, "tofu"))
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "proposal"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               func(env *testscript.Env) error { return setup(env, bin) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"modserver":  modserver,
			"publish":    publishing((*modtest.World).PublishVersion),
			"publishtag": publishing((*modtest.World).PublishTag),
			"movetag":    publishing((*modtest.World).MoveTag),
			"archive": publishing(func(w *modtest.World, name, _ string, files fs.FS) error {
				return w.PublishArchive(name, files)
			}),
			"forget": func(ts *testscript.TestScript, _ bool, _ []string) { world(ts).ResetRequests() },
			"norequests": func(ts *testscript.TestScript, _ bool, _ []string) {
				if requests := world(ts).Requests(); len(requests) > 0 {
					ts.Fatalf("requested: %v", requests)
				}
			},
			"replace": func(ts *testscript.TestScript, _ bool, args []string) {
				text := ts.ReadFile(args[0])
				if !strings.Contains(text, args[1]) {
					ts.Fatalf("%s does not have %q", args[0], args[1])
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o644))
			},
		},
	})
}

// TestReviewedFiles compares the table of files in the README with the files in _locking and their lines.
func TestReviewedFiles(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := func(name string) int {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte("\n"))
	}
	total := 0
	err = filepath.WalkDir("_locking", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		count := lines(name)
		total += count
		if row := fmt.Sprintf("| `%s` | %d |", filepath.ToSlash(name), count); !bytes.Contains(readme, []byte(row)) {
			t.Errorf("README.md does not have %q", row)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%d lines", total); !bytes.Contains(readme, []byte(text)) {
		t.Errorf("README.md does not have %q", text)
	}
}

func TestEdited(t *testing.T) {
	t.Parallel()
	const text = "1\n2\n3\n4\n5\n"
	for script, want := range map[string]string{
		"":                                  text,
		"5a\n6\n.\n3,4d\n1c\none\nuno\n.\n": "one\nuno\n2\n5\n6\n",
		"2,3c\n\n.\n":                       "1\n\n4\n5\n",
	} {
		if got, err := edited(text, script); err != nil || got != want {
			t.Errorf("edited(%q) = %q, %v, want %q", script, got, err, want)
		}
	}
	for _, script := range []string{"x\n", "1c\nno end\n", "3,2d\n", "9d\n", "0d\n", "1s\n"} {
		if got, err := edited(text, script); err == nil {
			t.Errorf("edited(%q) = %q, want an error", script, got)
		}
	}
}

func buildTofu(t *testing.T, name string) {
	t.Helper()
	tree, err := prepare(t.TempDir())
	if missing, ok := errors.AsType[*missingError](err); ok {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	if output, err := tree.command("build", tree.locking, "-ldflags=-s -w", "-o", name, "./cmd/tofu").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

type worldKey struct{}

func world(ts *testscript.TestScript) *modtest.World {
	return *ts.Value(worldKey{}).(**modtest.World)
}

// setup gives a script an empty home directory and our tofu.
func setup(env *testscript.Env, bin string) error {
	env.Values[worldKey{}] = new(*modtest.World)
	home := filepath.Join(env.WorkDir, ".home")
	env.Setenv("HOME", home)
	env.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	env.Setenv("TF_CLI_ARGS_init", "-no-color")
	env.Setenv("CHECKPOINT_DISABLE", "1")
	return os.Mkdir(home, 0o755)
}

func modserver(ts *testscript.TestScript, _ bool, _ []string) {
	dir := ts.MkAbs(".")
	started, err := modtest.Start(os.DirFS(dir), modtest.Options{})
	ts.Check(err)
	ts.Defer(func() { ts.Check(started.Close()) })
	for _, entry := range started.Env() {
		name, value, _ := strings.Cut(entry, "=")
		ts.Setenv(name, value)
	}
	ts.Setenv(modtest.HostPlaceholder, string(started.Host()))
	*ts.Value(worldKey{}).(**modtest.World) = started
	ts.Check(filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(name, []byte(strings.ReplaceAll(string(text), modtest.HostPlaceholder, string(started.Host()))), 0o644)
	}))
}

// publishing returns a command whose last argument is the file main.tf of what it publishes.
func publishing(publish func(w *modtest.World, name, version string, files fs.FS) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		if len(args) < 2 {
			ts.Fatalf("usage: COMMAND NAME [VERSION] FILE")
		}
		file := args[len(args)-1]
		name, version := args[0], strings.Join(args[1:len(args)-1], "")
		ts.Check(publish(world(ts), name, version, modtest.Txtar("-- main.tf --\n"+ts.ReadFile(file))))
	}
}
