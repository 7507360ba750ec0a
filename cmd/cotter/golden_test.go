package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-shellwords"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const goldenDir = "testdata/golden"

// TestGolden runs the situations in testdata/golden and compares the output of the command
// with the expected output. Each situation is a file: its comment has the commands, and its
// other parts are the files of the project. The part "output" is the expected output, and
// the parts below "world/" are added to the servers that all situations share.
//
//	$ cotter ARGS            a command whose output is compared
//	> cotter ARGS            an earlier command, which must succeed
//	> replace FILE OLD NEW   replaces text in a file
//	> write FILE PART        writes a part over a file, which may be read-only
//	> rm FILE                removes a file or a directory
//	> env NAME=VALUE         sets a variable for the commands that follow
//	> movetag REPO TAG PART  moves a tag of a git repository to a new commit
//	> forge REPO PART KEY... gives entries of the lock the hashes of a package, and a commit of
//	                         it that only a pull request has, unless REPO is "-"
//	> publish MODULE VERSION PART
//	> archive NAME PART      replaces an archive
//	> fault STATUS PATH...   the servers answer these paths with the status
//	> shape PROVIDER VERSION SHAPE   gives a provider package a fault
//	> git ARGS...            runs git in the project
//
// In the output, lines of standard error begin with "! ". "mods.corp.local" stands for the
// address of the servers and has the same length.
func TestGolden(t *testing.T) {
	needCommands(t, "git")
	names, err := filepath.Glob(goldenDir + "/*.txtar")
	testenv.Must(t, err)
	situations := make(map[string]*txtar.Archive)
	files := fstest.MapFS{}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		testenv.Must(t, err)
		situations[name] = archive
		for _, file := range archive.Files {
			if path, ok := strings.CutPrefix(file.Name, "world/"); ok {
				files[path] = &fstest.MapFile{Data: file.Data, Mode: 0o644}
			}
		}
	}
	world := modtest.New(t, files)
	for _, entry := range world.Env() {
		name, value, _ := strings.Cut(entry, "=")
		t.Setenv(name, value)
	}
	t.Setenv("PATH", os.Getenv("PATH")+string(filepath.ListSeparator)+bothStockTools(t))
	for _, name := range testenv.Sample(names) {
		if filepath.Base(name) == "world.txtar" {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			s := &situation{t: t, world: world, archive: situations[name], dir: t.TempDir()}
			got := s.run()
			if *update {
				s.setOutput(got)
				testenv.Must(t, os.WriteFile(filepath.Join(s.start, name), txtar.Format(s.archive), 0o644))
				return
			}
			if diff := cmp.Diff(s.output(), got); diff != "" {
				t.Errorf("the output (-want +got):\n%s", diff)
			}
		})
	}
}

// bothStockTools returns a directory with both stock tools, which are empty scripts, so that what is
// assumed about a project does not depend on the tools of this machine.
func bothStockTools(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"tofu", "terraform"} {
		writeProgram(t, filepath.Join(dir, name), "#!/bin/sh\n")
	}
	return dir
}

type situation struct {
	t       *testing.T
	world   *modtest.World
	archive *txtar.Archive
	start   string // the directory of the test
	dir     string // the project
}

// run runs the commands in the situation's comment, and returns the output of those whose
// output is compared.
func (s *situation) run() string {
	s.t.Helper()
	home := s.t.TempDir()
	s.start, _ = os.Getwd()
	s.t.Chdir(s.dir)
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": "", "COTTER_CACHE_DIR": filepath.Join(home, "cache"), "COTTER_STATE_DIR": filepath.Join(home, "state"),
		"TF_CLI_CONFIG_FILE": filepath.Join(home, "cli.tfrc"), "TF_REGISTRY_DISCOVERY_RETRY": "1",
		"NO_COLOR": "1", "CI": "", "NETRC": "", "COTTER_MIRROR": "", "COTTER_POLICY": "", "COTTER_SETTINGS": "", "COTTER_LAYOUT": "",
	} {
		s.t.Setenv(name, value)
	}
	s.check(os.WriteFile(filepath.Join(home, "cli.tfrc"), nil, 0o644))
	for _, file := range s.archive.Files {
		if file.Name == "output" || strings.HasPrefix(file.Name, "world/") {
			continue
		}
		s.check(os.MkdirAll(filepath.Dir(file.Name), 0o755))
		s.check(os.WriteFile(file.Name, s.expand(file.Data), 0o644))
	}
	var out strings.Builder
	for line := range strings.Lines(string(s.expand(s.archive.Comment))) {
		line = strings.TrimSpace(line)
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			out.WriteString(s.command(command, true))
		} else if step, ok := strings.CutPrefix(line, "> "); ok {
			s.step(step)
		}
	}
	return s.normal(out.String())
}

func (s *situation) step(line string) {
	s.t.Helper()
	words, err := shellwords.Parse(line)
	s.check(err)
	part := func(name string) fs.FS { return modtest.Txtar("-- main.tf --\n" + string(s.part(name))) }
	switch args := words[1:]; words[0] {
	case "cotter":
		s.command(line, false)
	case "replace":
		text, err := os.ReadFile(args[0])
		s.check(err)
		if !bytes.Contains(text, []byte(args[1])) {
			s.t.Fatalf("%s does not have %q:\n%s", args[0], args[1], text)
		}
		s.check(os.WriteFile(args[0], bytes.ReplaceAll(text, []byte(args[1]), []byte(args[2])), 0o644))
	case "write":
		if info, err := os.Stat(args[0]); err == nil {
			s.check(os.Chmod(args[0], info.Mode()|0o200))
		}
		s.check(os.WriteFile(args[0], s.expand(s.part(args[1])), 0o644))
	case "rm":
		s.check(os.RemoveAll(args[0]))
	case "env":
		name, value, _ := strings.Cut(args[0], "=")
		s.t.Setenv(name, value)
	case "git":
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			s.t.Fatalf("%s: %v\n%s", line, err, out)
		}
	case "movetag":
		s.check(s.world.MoveTag(args[0], args[1], part(args[2])))
	case "forge":
		commit := ""
		if args[0] != "-" {
			commit, err = s.world.ProposeCommit(args[0], "refs/pull/1/head", part(args[1]))
			s.check(err)
		}
		for _, key := range args[2:] {
			s.check(forgeEntry(stockLockName, key, part(args[1]), commit))
		}
	case "publish":
		s.check(s.world.PublishVersion(args[0], args[1], part(args[2])))
	case "archive":
		s.check(s.world.PublishArchive(args[0], part(args[1])))
	case "fault":
		status, err := strconv.Atoi(args[0])
		s.check(err)
		var faults []modtest.Fault
		for _, path := range args[1:] {
			faults = append(faults, modtest.Fault{Path: path, Status: status})
		}
		s.world.SetFaults(faults...)
		s.t.Cleanup(func() { s.world.SetFaults() })
	case "shape":
		s.check(s.world.SetProviderShape(args[0], args[1], shapes[args[2]]))
	default:
		s.t.Fatalf("no such step: %s", line)
	}
}

// command runs a command line and returns its output.
func (s *situation) command(line string, mayFail bool) string {
	s.t.Helper()
	args, err := shellwords.Parse(line)
	s.check(err)
	var stdout, stderr bytes.Buffer
	status := run(context.Background(), args, &stdout, &stderr)
	if status != 0 && !mayFail {
		s.t.Fatalf("%s: status %d\n%s%s", line, status, &stdout, &stderr)
	}
	text := "$ " + line + "\n" + stdout.String()
	for line := range strings.Lines(stderr.String()) {
		text += strings.TrimRight("! "+strings.TrimSuffix(line, "\n"), " ") + "\n"
	}
	if status != 0 {
		text += fmt.Sprintf("[exit status %d]\n", status)
	}
	return text
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

// normal replaces the parts of a text that differ from run to run.
func (s *situation) normal(text string) string {
	host := string(s.world.Host())
	text = strings.ReplaceAll(text, host, fmt.Sprintf("%-*s", len(host), "mods.corp.local")[:len(host)])
	text = strings.ReplaceAll(text, s.dir, "DIR")
	for _, v := range variable() {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return text
}

func (s *situation) expand(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte("MODTEST_HOST"), []byte(s.world.Host()))
}

func (s *situation) part(name string) []byte {
	for _, file := range s.archive.Files {
		if file.Name == name {
			return file.Data
		}
	}
	s.t.Fatalf("there is no part %q", name)
	return nil
}

func (s *situation) output() string {
	for _, file := range s.archive.Files {
		if file.Name == "output" {
			return string(file.Data)
		}
	}
	return ""
}

func (s *situation) setOutput(text string) {
	for i, file := range s.archive.Files {
		if file.Name == "output" {
			s.archive.Files[i].Data = []byte(text)
			return
		}
	}
	s.archive.Files = append(s.archive.Files, txtar.File{Name: "output", Data: []byte(text)})
}

func (s *situation) check(err error) {
	s.t.Helper()
	testenv.Must(s.t, err)
}
