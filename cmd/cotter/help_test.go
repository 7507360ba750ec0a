package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// eachCommand calls f for the command and each visible subcommand.
func eachCommand(cmd *cli.Command, f func(*cli.Command)) {
	f(cmd)
	for _, sub := range cmd.VisibleCommands() {
		eachCommand(sub, f)
	}
}

// testApp returns the command with its output discarded.
func testApp() *cli.Command {
	return newApp(&output{stdout: io.Discard, stderr: io.Discard, env: func(string) string { return "" }})
}

// TestHelp checks the help of every command: it fits a terminal, and its examples are
// command lines that the command accepts.
func TestHelp(t *testing.T) {
	t.Parallel()
	app := testApp()
	known := map[string]bool{}
	eachCommand(app, func(cmd *cli.Command) {
		if known[cmd.FullName()] {
			t.Errorf("there are two commands with the name %q", cmd.FullName())
		}
		known[cmd.FullName()] = true
		names := map[string]bool{}
		for flag := range cmd.AllFlags() {
			if names[flag.Name] || names[flag.Short] {
				t.Errorf("%s has two flags with the name %q or %q", cmd.FullName(), flag.Name, flag.Short)
			}
			names[flag.Name], names[flag.Short] = true, flag.Short != ""
		}
		page := pageOf(cmd)
		var text bytes.Buffer
		printHelp(&text, page)
		for line := range strings.Lines(text.String()) {
			if line = strings.TrimSuffix(line, "\n"); len(line) > helpWidth || strings.HasSuffix(line, " ") {
				t.Errorf("%s --help has a line of %d columns: %q", page.name, len(line), line)
			}
		}
		if page.summary == "" || len(page.examples) == 0 {
			t.Errorf("%s has no usage, or no example in examples.go", page.name)
		}
		for _, e := range page.examples {
			checkExample(t, app, e)
		}
		for _, g := range page.options {
			for _, o := range g.options {
				if o.text == "" {
					t.Errorf("%s: %s has no usage", page.name, o.name)
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
	eachCommand(app, func(cmd *cli.Command) {
		for _, flag := range cmd.Flags {
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

// checkExample fails unless every cotter command in a command line exists and has the given
// flags.
func checkExample(t *testing.T, app *cli.Command, e example) {
	t.Helper()
	words := strings.Fields(strings.NewReplacer("$(", " ", ")", " ", `"`, " ", "(", " ").Replace(e.command))
	found := false
	for i, word := range words {
		if word != "cotter" {
			continue
		}
		found = true
		end := slices.IndexFunc(words[i:], func(w string) bool { return w == "&&" || w == "|" || w == ">" || w == ">>" })
		if end < 0 {
			end = len(words) - i
		}
		line := readLine(app, append(slices.Clone(words[i+1:i+end]), ""))
		if line.command == app {
			t.Errorf("%q has no command", e.command)
		}
		if line.command.ArgsUsage == "" && len(line.args) > 0 {
			t.Errorf("%q has arguments, and %s takes none", e.command, line.command.FullName())
		}
		for _, word := range words[i+1 : i+end] {
			if word == "--" {
				break // the rest is for another program
			}
			if name, isFlag := strings.CutPrefix(word, "--"); isFlag && line.command.Flag(name) == nil {
				t.Errorf("%q has the flag %s, which %s does not have", e.command, word, line.command.FullName())
			}
		}
	}
	if !found || len(e.command) > helpWidth-2 || e.what == "" {
		t.Errorf("example %+v: it is too long, says nothing, or has no cotter", e)
	}
}

// TestOptions checks the number of options that commands show in addition to the common ones, and
// which they are for install.
func TestOptions(t *testing.T) {
	t.Parallel()
	eachCommand(testApp(), func(cmd *cli.Command) {
		var own []string
		for flag := range shownFlags(cmd) {
			if !slices.Contains(flagGroups[len(flagGroups)-1].flags, flag.Name) {
				own = append(own, flag.Name)
			}
		}
		if len(own) > 18 {
			t.Errorf("%s has %d options: %q", cmd.FullName(), len(own), own)
		}
		want := []string{
			"accept-unreachable", "allow-file-reads", "bundle", "dry-run", "for", "locked", "mirror", "offline", "only", "platform", "policy", "prune-providers",
			"recursive", "since", "unify", "var", "var-file",
		}
		if slices.Sort(own); cmd.FullName() == "cotter install" && !slices.Equal(own, want) {
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
		{"cotter bundle help create", "Usage:\n  cotter bundle create [OPTION...] [DIR...]\n"},
		{"cotter help bundle create", "Usage:\n  cotter bundle create [OPTION...] [DIR...]\n"},
		{"cotter -h bundle create", "Usage:\n  cotter bundle create [OPTION...] [DIR...]\n"},
		{"cotter verify DIR --help", "Usage:\n  cotter verify [OPTION...] [DIR...]\n"},
		{"cotter verify --help --nosuch", "Usage:\n  cotter verify [OPTION...] [DIR...]\n"},
		{"cotter bundle create --help", "Usage:\n  cotter bundle create [OPTION...] [DIR...]\n"},
		{"cotter --version", "cotter " + version() + " on " + platform() + "\n"},
		{"cotter -version", "cotter " + version() + " on " + platform() + "\n"},
		{"cotter version", "cotter " + version() + " on " + platform() + "\n"},
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
