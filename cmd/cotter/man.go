package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

func manCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "man",
		Usage:     "print a manual page, or write all of them into a directory",
		ArgsUsage: "[COMMAND...]",
		Description: "Prints the manual page of a command, or of cotter itself. With --out it writes\n" +
			"the pages of all commands into a directory.",
		Flags: []*cli.Flag{{Name: "out", Type: cli.String, Usage: "write the pages of all commands into `DIR`"}},
		Run: func(_ context.Context, cmd *cli.Invocation) error {
			if dir := cmd.String("out"); dir != "" {
				return writeManPages(cmd.Command.Root(), dir)
			}
			found, err := commandNamed(cmd.Command.Root(), cmd.Args())
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(out.stdout, manPage(pageOf(found)))
			return err
		},
	}
}

// commandNamed returns the command that words name, such as "bundle" and "create".
func commandNamed(root *cli.Command, words []string) (*cli.Command, error) {
	cmd := root
	for _, word := range words {
		sub := cmd.Sub(word)
		if sub == nil {
			return nil, usageError{fmt.Errorf("there is no command %q", cmd.FullName()+" "+word)}
		}
		cmd = sub
	}
	return cmd, nil
}

// writeManPages writes the pages of a command and of all its subcommands.
func writeManPages(cmd *cli.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	errs := []error{os.WriteFile(filepath.Join(dir, manName(cmd.FullName())+".1"), []byte(manPage(pageOf(cmd))), 0o644)}
	for _, sub := range cmd.VisibleCommands() {
		errs = append(errs, writeManPages(sub, dir))
	}
	return errors.Join(errs...)
}

// manName returns the name of a command's page in the style of git, such as
// cotter-bundle-create.
func manName(command string) string { return strings.ReplaceAll(command, " ", "-") }

// manPage renders a page in roff, with the macros of man(7). The page has the date of the
// commit, so that the same program always gives the same bytes.
func manPage(p page) string {
	var b roff
	b.macro("TH", strings.ToUpper(manName(p.name)), "1", commitDate(), "cotter "+version(), "Cotter")
	b.macro("SH", "NAME")
	b.text(manName(p.name) + " - " + p.summary)
	b.macro("SH", "SYNOPSIS")
	b.text(p.synopsis)
	if len(p.description) > 0 {
		b.macro("SH", "DESCRIPTION")
	}
	for i, block := range p.description {
		if block.verbatim {
			b.verbatim(block.text)
			continue
		}
		if i > 0 {
			b.macro("PP")
		}
		b.text(block.text)
	}
	b.definitions("COMMANDS", p.commands)
	for _, g := range p.options {
		b.definitions(strings.ToUpper(g.title), g.options)
	}
	if p.name == "cotter" {
		b.definitions("ENVIRONMENT", manEnvironment)
		b.definitions("FILES", manFiles)
		b.definitions("EXIT STATUS", manStatuses)
	}
	if len(p.examples) > 0 {
		b.macro("SH", "EXAMPLES")
	}
	for i, e := range p.examples {
		if i > 0 {
			b.macro("PP")
		}
		b.text(e.what)
		b.verbatim("  " + e.command)
	}
	b.macro("SH", "SEE ALSO")
	b.text(seeAlso(p))
	return b.String()
}

// seeAlso returns the names of the pages above and below a page.
func seeAlso(p page) string {
	var pages []string
	for words := strings.Fields(p.name); len(words) > 1; {
		words = words[:len(words)-1]
		pages = append(pages, strings.Join(words, "-")+"(1)")
	}
	for _, c := range p.commands {
		if c.name != "help" {
			pages = append(pages, manName(p.name+" "+c.name)+"(1)")
		}
	}
	return strings.Join(pages, ", ")
}

// roff is text with the macros of man(7).
type roff struct{ strings.Builder }

// macro writes a macro with its arguments, each quoted.
func (b *roff) macro(name string, args ...string) {
	b.WriteString("." + name)
	for _, arg := range args {
		b.WriteString(` "` + strings.ReplaceAll(escapeRoff(arg), `"`, `\(dq`) + `"`)
	}
	b.WriteByte('\n')
}

// text fills a paragraph and writes it.
func (b *roff) text(text string) { b.WriteString(escapeRoff(fill(text, 0))) }

// verbatim writes lines without filling them.
func (b *roff) verbatim(text string) {
	b.macro("PP")
	b.macro("nf")
	b.WriteString(escapeRoff(text) + "\n")
	b.macro("fi")
}

// definitions writes a section with a list of terms and descriptions. It writes nothing if
// the list is empty.
func (b *roff) definitions(title string, list []entry) {
	if len(list) == 0 {
		return
	}
	b.macro("SH", title)
	for _, e := range list {
		b.macro("TP")
		b.macro("B", e.name)
		b.text(e.text)
	}
}

// escapeRoff escapes a text so that roff prints it literally: lines are not requests,
// backslashes stay, and "-", "'" and "`" stay the ASCII characters that commands need.
func escapeRoff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// manEnvironment are the environment variables that cotter reads, for the manual.
var manEnvironment = []entry{
	{"COTTER_CACHE_DIR", "the package cache; by default cotter in the user's cache directory. {uid} stands for the number of the user"},
	{"COTTER_STATE_DIR", "the directory for the user's key and the record of what origins have confirmed. {uid} stands for the number of the user"},
	{"COTTER_STATE_KEY", "a key to use instead of the one in the state directory, for build servers that do not keep that directory"},
	{"COTTER_MIRROR", "the mirror to take locked packages from first: oci://HOST/REPOSITORY"},
	{"COTTER_MIRROR_KEY", "a file of public keys; one of them must have signed each entry of a mirror"},
	{"COTTER_CONFIG_FILE", "your own settings, instead of cotter/cotter.hcl in your configuration directory"},
	{"COTTER_POLICY", "the policy file, instead of the project's cotter.hcl"},
	{"COTTER_GIT_BACKEND", "the git client: git, go or auto"},
	{"COTTER_ALWAYS_GIT", "if set, the installed git sends all requests to git servers"},
	{"COTTER_MIN_RATE", "the minimum rate of a transfer in bytes per second; -1 for none"},
	{"TF_DATA_DIR", "the directory to use instead of .terraform"},
	{"TF_CLI_CONFIG_FILE", "the CLI configuration of tofu and terraform, with hosts, credentials and mirrors"},
	{"OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION", "as in tofu: 0 takes the addresses of Terraform's registry in a state as they are"},
	{"TF_TOKEN_*, TF_VAR_*, TF_CLI_ARGS_*", "as in tofu and terraform"},
	{"CI", "if set, install does not change the lock"},
	{"NO_COLOR", "if set, output has no colors"},
}

// manFiles are the files that cotter reads and writes, for the manual.
var manFiles = []entry{
	{".terraform.lock.hcl", "the lock; commit it to version control"},
	{"cotter.hcl", "the policy, the settings and the mirrors of a project or a repository"},
	{"~/.config/cotter/cotter.hcl", "your own mirrors, and the mirrors and keys that you trust"},
	{".terraform/modules, .terraform/providers", "the installed modules and providers, where tofu and terraform look for them"},
}

// manStatuses are the exit statuses, for the manual.
var manStatuses = []entry{
	{"0", "success"},
	{"1", "failure; verify: a package was changed"},
	{"2", "a wrong command line"},
	{"4", "verify: a package is not installed"},
	{"8", "verify: something could not be compared"},
	{"16", "verify: the lock does not fit the configuration, the policy refuses something, or an origin has other content"},
	{"130", "interrupted"},
}
