package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/text/sanitize"
	"github.com/cotterpin/cotter/lockfile"
)

// The completion scripts of the shells. They run `cotter __complete WORD...`, a command of cobra, with
// the words up to the cursor, and show what it prints: a candidate a line, and last a number that says
// whether names of files or directories fit as well. They evaluate nothing that was typed or read.
var (
	//go:embed completions/cotter.bash
	bashCompletion string
	//go:embed completions/cotter.zsh
	zshCompletion string
	//go:embed completions/cotter.fish
	fishCompletion string
)

func completionCommand(out *output) *cobra.Command {
	scripts := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
	return command(out, &cobra.Command{
		Use:    "completion bash|zsh|fish",
		Short:  "print a script that lets a shell complete commands, flags and module keys",
		Hidden: true, // it is for the installation of the program
	}, func(_ context.Context, cmd *invocation, out *output) error {
		script, ok := scripts[cmd.Arg(0)]
		if !ok || cmd.NArg() != 1 {
			return usageError{fmt.Errorf("cotter completion takes one argument: bash, zsh or fish")}
		}
		_, err := fmt.Fprint(out.stdout, script)
		return err
	}, nil)
}

// completeArguments returns what the usage of a command says about its next argument.
func completeArguments(c *cobra.Command, args []string, current string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var all []cobra.Completion
	directive := cobra.ShellCompDirectiveNoFileComp
	usage := strings.FieldsFunc(argsUsage(c), func(r rune) bool { return strings.ContainsRune("[]. |", r) })
	for _, kind := range usage {
		if kind == "DIR" && len(usage) > 1 && !strings.HasPrefix(current, ".") && !filepath.IsAbs(current) {
			continue // if there are several kinds, directories are offered only for words that begin like a path
		}
		found, files := completions(c, kind, current)
		all = append(all, slices.DeleteFunc(found, func(word cobra.Completion) bool {
			word, _, _ = strings.Cut(word, "\t")
			return slices.Contains(args, word)
		})...)
		if files != cobra.ShellCompDirectiveNoFileComp {
			directive = files
		}
	}
	return all, directive
}

func completeValue(placeholder string) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, current string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return completions(c, placeholder, current)
	}
}

// plain reports whether a shell takes a word literally. Shells insert candidates into the
// command line without quotes, and the words in a lock come from other people.
func plain(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
	}) < 0
}

var valueWords = map[string][]string{
	"TOOL":    {"tofu", "terraform", "auto"},
	"WHAT":    {"modules", "providers"},
	"MODE":    {"readonly"},
	"FORMAT":  {"text", "json", "mermaid", "dot", "html"},
	"OS_ARCH": {"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64", "windows_arm64"},
}

// completions returns the words that a placeholder in a usage stands for and that begin like current. A
// lower-case word stands for itself.
func completions(c *cobra.Command, placeholder, current string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var all []cobra.Completion
	add := func(word, text string) {
		if strings.HasPrefix(word, current) && plain(word) {
			all = append(all, cobra.CompletionWithDesc(word, sanitize.Escape(text)))
		}
	}
	switch placeholder {
	case "DIR":
		return nil, cobra.ShellCompDirectiveFilterDirs
	case "FILE", "OLD", "NEW", "BASE", "OURS", "THEIRS":
		return nil, cobra.ShellCompDirectiveDefault
	case "KEY":
		for _, m := range lockToComplete(c).Modules() {
			add(m.Key, strings.TrimSpace(addrs.Redact(m.Source.String())+" "+m.Version.String()))
		}
	case "PROVIDER":
		for _, p := range lockToComplete(c).Providers() {
			add(p.Address.ForDisplay(), p.Version.String())
		}
	case "COMMAND":
		for _, other := range visible(c.Root()) {
			add(other.Name(), other.Short)
		}
	default:
		words := valueWords[placeholder]
		if words == nil && placeholder == strings.ToLower(placeholder) {
			words = []string{placeholder}
		}
		for _, word := range words {
			add(word, "")
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// lockToComplete returns nil for a lock that cannot be read, because a completion cannot show the error.
func lockToComplete(c *cobra.Command) *lockfile.File {
	lock, _ := repository.ReadLock(c.Context(), os.Getenv, (&invocation{c, nil}).String("chdir"))
	return lock
}
