package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, f)
	}
}

// testApp returns the command with its output discarded.
func testApp() *cobra.Command {
	return newApp(&output{stdout: io.Discard, stderr: io.Discard, Run: advice.Run{Env: func(string) string { return "" }}})
}

// TestHelp checks the help of every command: it fits a terminal, and its examples are
// command lines that the command accepts.
func TestHelp(t *testing.T) {
	t.Parallel()
	app := testApp()
	known := map[string]bool{}
	eachCommand(app, func(cmd *cobra.Command) {
		if known[cmd.CommandPath()] {
			t.Errorf("there are two commands with the name %q", cmd.CommandPath())
		}
		known[cmd.CommandPath()] = true
		names := map[string]bool{}
		for _, flag := range shownFlags(cmd) {
			if names[flag.Name] || names[flag.Shorthand] {
				t.Errorf("%s has two flags with the name %q or %q", cmd.CommandPath(), flag.Name, flag.Shorthand)
			}
			names[flag.Name], names[flag.Shorthand] = true, flag.Shorthand != ""
		}
		name := cmd.CommandPath()
		var text bytes.Buffer
		printHelp(&text, cmd)
		for line := range strings.Lines(text.String()) {
			if line = strings.TrimSuffix(line, "\n"); len(line) > helpWidth || strings.HasSuffix(line, " ") {
				t.Errorf("%s --help has a line of %d columns: %q", name, len(line), line)
			}
		}
		if cmd.Short == "" || len(examples[name]) == 0 {
			t.Errorf("%s has no usage, or no example in examples.go", name)
		}
		for _, e := range examples[name] {
			checkExample(t, app, e)
			if len(e.command) > helpWidth-2 || e.what == "" {
				t.Errorf("example %+v: it is too long or says nothing", e)
			}
		}
		for _, g := range optionGroups(cmd) {
			for _, o := range g.options {
				if o.text == "" {
					t.Errorf("%s: %s has no usage", name, o.name)
				}
			}
		}
	})
	for name := range examples {
		if !known[name] {
			t.Errorf("examples.go has %q, which is no command", name)
		}
	}
	flags := map[string]bool{}
	eachCommand(app, func(cmd *cobra.Command) {
		for _, flag := range shownFlags(cmd) {
			flags[flag.Name] = true
		}
	})
	for _, g := range flagGroups {
		for _, name := range g.flags {
			if !flags[name] {
				t.Errorf("flagGroups has %q, which is no flag", name)
			}
		}
	}
}

// TestCommandList checks that the list of commands has no plumbing, and that a terminal shows it at once.
func TestCommandList(t *testing.T) {
	t.Parallel()
	want := []string{"install", "init", "lock", "verify", "update", "outdated", "diff", "tree", "sbom", "cache", "bundle", "mirror", "doctor", "demo"}
	app := testApp()
	if diff := cmp.Diff(want, lists.Map(visible(app), (*cobra.Command).Name)); diff != "" {
		t.Errorf("the commands (-want +got):\n%s", diff)
	}
	var text bytes.Buffer
	printHelp(&text, app)
	if lines := strings.Count(text.String(), "\n"); lines > 45 {
		t.Errorf("cotter --help has %d lines", lines)
	}
}

// checkExample fails unless every cotter command in a command line exists and has the given
// flags.
func checkExample(t *testing.T, app *cobra.Command, e example) {
	t.Helper()
	words := strings.Fields(strings.NewReplacer("$(", " ", ")", " ", `"`, " ", "(", " ").Replace(e.command))
	hasCotter := false
	for i, word := range words {
		if word != "cotter" {
			continue
		}
		hasCotter = true
		end := slices.IndexFunc(words[i:], func(w string) bool { return w == "&&" || w == "|" || w == ">" || w == ">>" })
		if end < 0 {
			end = len(words) - i
		}
		found, rest, err := app.Find(longFlags(app, words[i+1:i+end]))
		if err == nil {
			err = found.ParseFlags(rest)
		}
		if err != nil || found == app {
			t.Errorf("%q is not a command line: %v", e.command, err)
		} else if args := found.Flags().Args(); argsUsage(found) == "" && len(args) > 0 {
			t.Errorf("%q has arguments, and %s takes none", e.command, found.CommandPath())
		}
	}
	if !hasCotter {
		t.Errorf("example %+v: it has no cotter", e)
	}
}

// TestOptions checks the number of options that commands show in addition to the common ones, and
// which they are for install.
func TestOptions(t *testing.T) {
	t.Parallel()
	eachCommand(testApp(), func(cmd *cobra.Command) {
		var own []string
		for _, flag := range shownFlags(cmd) {
			if !slices.Contains(flagGroups[len(flagGroups)-1].flags, flag.Name) {
				own = append(own, flag.Name)
			}
		}
		if len(own) > 18 {
			t.Errorf("%s has %d options: %q", cmd.CommandPath(), len(own), own)
		}
		want := []string{
			"accept-unreachable", "allow-file-reads", "bundle", "dry-run", "for", "locked", "mirror", "offline", "only", "platform", "policy", "prune-providers",
			"recursive", "since", "unify", "upgrade", "var", "var-file",
		}
		if slices.Sort(own); cmd.CommandPath() == "cotter install" && !slices.Equal(own, want) {
			t.Errorf("the options of install are %q, want %q", own, want)
		}
	})
}

// TestHelpIsShown checks each way in which users ask for help.
func TestHelpIsShown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ line, want string }{
		{"cotter", "Usage:\n  cotter COMMAND [OPTION...]\n"},
		{"cotter --help", "Usage:\n  cotter COMMAND [OPTION...]\n"},
		{"cotter help", "Usage:\n  cotter COMMAND [OPTION...]\n"},
		{"cotter help verify", "Usage:\n  cotter verify [OPTION...] [DIR...]\n"},
		{"cotter verify -h", "Usage:\n  cotter verify [OPTION...] [DIR...]\n"},
		{"cotter bundle", "Usage:\n  cotter bundle COMMAND [OPTION...]\n"},
		{"cotter help cache key", "Usage:\n  cotter cache key [OPTION...] [DIR...]\n"},
		{"cotter help bundle create", "Usage:\n  cotter bundle create [OPTION...] [DIR...]\n"},
		{"cotter -h bundle create", "Usage:\n  cotter bundle create [OPTION...] [DIR...]\n"},
		{"cotter verify DIR --help", "Usage:\n  cotter verify [OPTION...] [DIR...]\n"},
		{"cotter verify --help --nosuch", "Usage:\n  cotter verify [OPTION...] [DIR...]\n"},
		{"cotter bundle create --help", "Usage:\n  cotter bundle create [OPTION...] [DIR...]\n"},
		{"cotter --version", "cotter " + version() + " on " + platform() + "\n"},
		{"cotter -version", "cotter " + version() + " on " + platform() + "\n"},
		{"cotter --version --json", `"version":"` + version() + `","platform":"` + platform() + `"`},
	} {
		var stdout, stderr strings.Builder
		if status := run(t.Context(), strings.Fields(test.line), &stdout, &stderr); status != 0 || stderr.Len() > 0 {
			t.Errorf("%s: status %d, %s", test.line, status, &stderr)
		}
		if !strings.Contains(stdout.String(), test.want) {
			t.Errorf("%s prints\n%s\nwithout %q", test.line, &stdout, test.want)
		}
	}
}
