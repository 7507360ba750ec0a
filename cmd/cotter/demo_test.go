package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// TestDemo runs the README's first command, without a terminal, and then the commands that
// it prints, unchanged.
func TestDemo(t *testing.T) {
	t.Parallel()
	needCommands(t, "git")
	var stdout, stderr strings.Builder
	if status := run(context.Background(), []string{"cotter", "demo"}, &stdout, &stderr); status != 0 || stderr.Len() > 0 {
		t.Fatalf("cotter demo: status %d\n%s%s", status, &stdout, &stderr)
	}
	for _, want := range []string{
		"/acme/network/aws 1.2.3",
		"├── app  ./app",
		"module \"dns\" {\n  source = \"git::https://127.0.0.1:",
		"$ cotter install --locked\nError: ",
		"--accept-changed dns",
		"The servers have stopped.",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("cotter demo does not print %q:\n%s", want, &stdout)
		}
	}
	printed := printedCommands(stdout.String())
	for _, command := range printed[2 : len(printed)-1] {
		if len(command) > 80-len("  ") {
			t.Errorf("a terminal of 80 columns wraps %q", command)
		}
	}
	environment, err := os.ReadFile(strings.TrimPrefix(printed[0], ". "))
	if err != nil || strings.Contains(string(environment), "SSL") {
		t.Errorf("the environment has certificates of servers that have stopped: %v\n%s", err, environment)
	}
	for command, status := range runPrinted(t, printed) {
		want := "0"
		if command == "cotter verify" {
			want = "0 1" // before and after the change of a file
		}
		if status != want {
			t.Errorf("%s: the exit statuses are %q, want %q", command, status, want)
		}
	}
	removal := strings.Fields(printed[len(printed)-1])
	if _, err := os.Stat(removal[2]); !os.IsNotExist(err) || removal[0] != "rm" {
		t.Errorf("the last command is %q, and then: %v", removal, err)
	}
}

// printedCommands returns the indented lines at the end of the demo's output.
func printedCommands(text string) []string {
	_, text, _ = strings.Cut(text, "Try")
	var commands []string
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "  "); ok {
			commands = append(commands, strings.TrimSuffix(command, "\n"))
		}
	}
	return commands
}

// runPrinted runs commands in one shell with the environment of a user's new terminal. It
// returns the exit statuses by command.
func runPrinted(t *testing.T, commands []string) map[string]string {
	t.Helper()
	var script strings.Builder
	marks := make([]string, len(commands))
	for i, command := range commands {
		bare, _, _ := strings.Cut(command, "  #")
		marks[i] = strings.TrimSpace(bare)
		script.WriteString(command + "\necho \"STATUS $?\"\n")
	}
	shell := exec.Command("sh")
	shell.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + os.Getenv("TMPDIR"), "CHECKPOINT_DISABLE=1"}
	shell.Dir, shell.Stdin = t.TempDir(), strings.NewReader(script.String())
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("sh: %v\n%s", err, out)
	}
	t.Logf("%s", out)
	statuses := make(map[string]string)
	i := 0
	for line := range strings.Lines(string(out)) {
		status, ok := strings.CutPrefix(line, "STATUS ")
		if !ok {
			continue
		}
		statuses[marks[i]] = strings.TrimSpace(statuses[marks[i]] + " " + status)
		i++
	}
	if i != len(commands) {
		t.Errorf("%d of %d commands ran:\n%s", i, len(commands), out)
	}
	return statuses
}

// TestKeepProgram runs a program from the copy that the demo keeps.
func TestKeepProgram(t *testing.T) {
	t.Parallel()
	program := testenv.Program(t, "true")
	dir := filepath.Join(t.TempDir(), "bin")
	testenv.Must(t, keepProgram(program, dir))
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 1 || !slices.Contains([]string{"cotter", "cotter.exe"}, filepath.Base(names[0])) {
		t.Fatalf("the directory has %v, %v", names, err)
	}
}
