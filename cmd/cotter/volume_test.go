package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/modtest"
)

// TestVolume checks how much the command prints for 200 root modules: a line for each that has
// changed, and a few for all of them together.
func TestVolume(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	const roots, failing = 200, 20
	world := modtest.New(t, modtest.Txtar("-- registry/acme/vpc/aws/5.1.0/main.tf --\n-- registry/acme/tags/aws/1.0.0/main.tf --\n"))
	dir, home := t.TempDir(), t.TempDir()
	for i := range roots {
		version := "~> 5.1"
		if i >= roots-failing {
			version = "~> 9.0"
		}
		text := fmt.Sprintf("module \"vpc\" {\n  source  = \"%[1]s/acme/vpc/aws\"\n  version = %[2]q\n}\n\nmodule \"tags\" {\n  source = \"%[1]s/acme/tags/aws\"\n}\n", world.Host(), version)
		root := filepath.Join(dir, fmt.Sprintf("envs/root%03d", i))
		if err := os.MkdirAll(root, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "main.tf"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	environ := append(world.Env(), "HOME="+home, "COTTER_CACHE_DIR="+filepath.Join(home, "cache"), "COTTER_STATE_DIR="+filepath.Join(home, "state"),
		"TF_CLI_CONFIG_FILE="+os.DevNull, "NO_COLOR=1", "CI=", "COTTER_MIRROR=")
	// cotter runs the command, which must print at most the given numbers of lines, and lines that
	// match.
	cotter := func(most, mostErrors int, args []string, want ...string) {
		t.Helper()
		command := exec.Command(cotterBinary, args...)
		command.Dir, command.Env = dir, append(os.Environ(), environ...)
		var stdout, stderr bytes.Buffer
		command.Stdout, command.Stderr = &stdout, &stderr
		if err := command.Run(); err != nil && !is[*exec.ExitError](err) {
			t.Fatal(err)
		}
		if n, errors := strings.Count(stdout.String(), "\n"), strings.Count(stderr.String(), "\n"); n > most || errors > mostErrors {
			t.Errorf("cotter %s prints %d and %d lines, more than %d and %d:\n%s%s", strings.Join(args, " "), n, errors, most, mostErrors, &stdout, &stderr)
		}
		for _, pattern := range want {
			if !regexp.MustCompile(pattern).MatchString(stdout.String() + stderr.String()) {
				t.Errorf("cotter %s prints nothing that matches %q:\n%s%s", strings.Join(args, " "), pattern, &stdout, &stderr)
			}
		}
	}

	cotter(roots-failing+6, 18, []string{"install", "--recursive", "envs"},
		`(?m)^envs/root000  2 added$`,
		`(?m)^added  \S+/acme/vpc/aws   5\.1\.0 in 180 projects$`,
		`(?m)^180 of 200 projects installed in .*; 20 failed\.$`,
		`(?m)^  envs/root191: module vpc \(envs/root191/main\.tf:3\)$\n^  \.\.\. and 8 more \(--verbose lists all\)$`,
		`\n20 projects failed: envs/root180, .* and 14 more\.\n$`)
	if err := world.PublishVersion("acme/vpc/aws", "5.2.0", modtest.Txtar("-- main.tf --\n# next\n")); err != nil {
		t.Fatal(err)
	}
	cotter(3, 22, []string{"outdated", "--recursive", "envs"},
		`(?m)^\S+/acme/vpc/aws +5\.1\.0 +5\.2\.0 +5\.2\.0 +180 projects$`,
		`(?m)^Newer versions in 180 of 200 projects; 20 failed\. --verbose lists each call\.$`,
		"(?m)^Run `cotter install --chdir envs/root180` to install what is missing\\. Do the same for envs/root181, .* and 13 more\\.$")
	cotter(roots-failing+5, 18, []string{"update", "--recursive", "vpc"},
		`(?m)^envs/root000  1 changed$`,
		`(?m)^changed  \S+/acme/vpc/aws  5\.1\.0 -> 5\.2\.0 in 180 projects$`)
	cotter(1, 18, []string{"install", "--recursive", "envs"}, `^180 of 200 projects installed in .*; 20 failed\.\n`)
}
