package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// TestVolume checks how much the command prints for 80 root modules: a line for each that has
// changed, and a few for all of them together.
func TestVolume(t *testing.T) {
	t.Parallel()
	needCommands(t, "git")
	const roots, failing = 80, 20
	world := modtest.New(t, modtest.Txtar("-- registry/acme/vpc/aws/5.1.0/main.tf --\n-- registry/acme/tags/aws/1.0.0/main.tf --\n"))
	s := newSite(t, world)
	for i := range roots {
		version := "~> 5.1"
		if i >= roots-failing {
			version = "~> 9.0"
		}
		s.write(t, fmt.Sprintf("envs/root%03d/main.tf", i), fmt.Sprintf("module \"vpc\" {\n  source  = \"MODTEST_HOST/acme/vpc/aws\"\n  version = %q\n}\n\nmodule \"tags\" {\n  source = \"MODTEST_HOST/acme/tags/aws\"\n}\n", version))
	}
	// cotter runs the command, which must print at most the given numbers of lines, and lines that
	// match.
	cotter := func(most, mostErrors int, line string, want ...string) {
		t.Helper()
		stdout, stderr, _ := warm.outputs(s.command(line)) // some projects fail
		if n, errors := strings.Count(stdout, "\n"), strings.Count(stderr, "\n"); n > most || errors > mostErrors {
			t.Errorf("cotter %s prints %d and %d lines, more than %d and %d:\n%s%s", line, n, errors, most, mostErrors, stdout, stderr)
		}
		for _, pattern := range want {
			if !regexp.MustCompile(pattern).MatchString(stdout + stderr) {
				t.Errorf("cotter %s prints nothing that matches %q:\n%s%s", line, pattern, stdout, stderr)
			}
		}
	}

	cotter(roots-failing+6, 18, "install --recursive envs",
		`(?m)^envs/root000  2 added$`,
		`(?m)^added  \S+/acme/vpc/aws   5\.1\.0 in 60 projects$`,
		`(?m)^60 of 80 projects installed in .*; 20 failed\.$`,
		`(?m)^  envs/root071: module vpc \(envs/root071/main\.tf:3\)$\n^  \.\.\. and 8 more \(--verbose lists all\)$`,
		`\n20 projects failed: envs/root060, .* and 14 more\.\n$`)
	testenv.Must(t, world.PublishVersion("acme/vpc/aws", "5.2.0", modtest.Txtar("-- main.tf --\n# next\n")))
	cotter(3, 22, "outdated --recursive envs",
		`(?m)^\S+/acme/vpc/aws +5\.1\.0 +5\.2\.0 +5\.2\.0 +60 projects$`,
		`(?m)^Newer versions in 60 of 80 projects; 20 failed\. --verbose lists each call\.$`,
		"(?m)^Run `cotter install --chdir envs/root060` to install what is missing\\. Do the same for envs/root061, .* and 13 more\\.$")
	cotter(roots-failing+5, 18, "update --recursive vpc",
		`(?m)^envs/root000  1 changed$`,
		`(?m)^changed  \S+/acme/vpc/aws  5\.1\.0 -> 5\.2\.0 in 60 projects$`)
	cotter(1, 18, "install --recursive envs", `^60 of 80 projects installed in .*; 20 failed\.\n`)
}
