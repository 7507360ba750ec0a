package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/internal/sanitize"
	"github.com/cotterpin/cotter/lockfile"
)

// The completion scripts of the shells. The scripts have no logic: they run
// `cotter __complete WORD...` with the words up to the cursor, and show the candidates
// that it prints.
var (
	//go:embed completions/cotter.bash
	bashCompletion string
	//go:embed completions/cotter.zsh
	zshCompletion string
	//go:embed completions/cotter.fish
	fishCompletion string
)

func completionCommand(out *output) *cli.Command {
	scripts := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that lets a shell complete commands, flags and module keys",
		ArgsUsage: "bash|zsh|fish",
		Run: func(_ context.Context, cmd *cli.Invocation) error {
			script, ok := scripts[cmd.Arg(0)]
			if !ok || cmd.NArg() != 1 {
				return usageError{fmt.Errorf("cotter completion takes one argument: bash, zsh or fish")}
			}
			_, err := fmt.Fprint(out.stdout, script)
			return err
		},
	}
}

// completeCommand returns the hidden command that prints the candidates for the last of
// its arguments.
func completeCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "__complete",
		Usage:     "print what can stand at the end of a command line",
		ArgsUsage: "WORD...",
		Hidden:    true,
		Raw:       true,
		Run: func(_ context.Context, cmd *cli.Invocation) error {
			line := readLine(cmd.Command.Root(), joinAssignments(cmd.Args()))
			for _, c := range line.candidates() {
				fmt.Fprintf(out.stdout, "%s\t%s\n", c.word, sanitize.Escape(c.text))
			}
			return nil
		},
	}
}

// candidate is a possible word at the cursor, with a description.
type candidate struct{ word, text string }

// These two candidates tell the shell to complete the names of files or directories
// itself.
var (
	anyFile = candidate{word: ":files"}
	anyDir  = candidate{word: ":dirs"}
)

// commandLine is an incomplete command line, up to the cursor.
type commandLine struct {
	command *cli.Command
	args    []string          // the arguments of the command
	flags   map[string]string // the values of flags so far
	pending *cli.Flag         // the flag whose value is at the cursor, or nil
	current string            // the word at the cursor
	prefix  string            // the text before current in the same word, such as "--for="
}

// joinAssignments joins the words that bash has split at "=".
func joinAssignments(words []string) []string {
	var joined []string
	for i, word := range words {
		last := len(joined) - 1
		if i == 0 || last < 0 {
			joined = append(joined, word)
			continue
		}
		switch flag := strings.HasPrefix(joined[last], "-"); {
		case word == "=" && flag && i == len(words)-1:
			joined = append(joined, "") // bash inserts the chosen candidate after the "="
		case word == "=" && flag:
		default:
			joined = append(joined, word)
		}
	}
	return joined
}

// readLine parses the words of a command line. The last word is the word at the cursor.
func readLine(root *cli.Command, words []string) commandLine {
	line := commandLine{command: root, flags: map[string]string{}}
	if len(words) == 0 {
		return line
	}
	words, line.current = words[:len(words)-1], words[len(words)-1]
	for _, word := range words {
		if line.pending != nil {
			line.flags[line.pending.Name], line.pending = word, nil
			continue
		}
		if !strings.HasPrefix(word, "-") {
			line.word(word)
			continue
		}
		name, value, assigned := strings.Cut(strings.TrimLeft(word, "-"), "=")
		flag := line.command.Flag(name)
		switch {
		case assigned:
			line.flags[name] = value
		case flag != nil && flag.Type != cli.Bool:
			line.pending = flag
		}
	}
	if name, value, ok := strings.Cut(line.current, "="); ok && line.pending == nil {
		if line.pending = line.command.Flag(strings.TrimLeft(name, "-")); line.pending != nil {
			line.prefix, line.current = name+"=", value
		}
	}
	return line
}

// word reads a word that is not a flag: the name of a subcommand, or an argument.
func (l *commandLine) word(word string) {
	if sub := l.command.Sub(word); sub != nil && len(l.args) == 0 {
		l.command = sub
		return
	}
	l.args = append(l.args, word)
}

// candidates returns the words that fit at the cursor.
func (l *commandLine) candidates() []candidate {
	var all []candidate
	switch {
	case l.pending != nil:
		all = l.values(l.pending.ValueName())
	case strings.HasPrefix(l.current, "-"):
		l.current = "--" + strings.TrimLeft(l.current, "-")
		for flag := range shownFlags(l.command) {
			all = append(all, candidate{"--" + flag.Name, option(flag).text})
		}
	default:
		if len(l.args) == 0 {
			for _, sub := range l.command.VisibleCommands() {
				all = append(all, candidate{sub.Name, sub.Usage})
			}
		}
		all = append(all, l.arguments()...)
	}
	var fitting []candidate
	for _, c := range all {
		switch {
		case slices.Contains(fitting, c):
		case c == anyFile || c == anyDir:
			fitting = append(fitting, c)
		case strings.HasPrefix(c.word, l.current) && plain(c.word):
			fitting = append(fitting, candidate{l.prefix + c.word, c.text})
		}
	}
	return fitting
}

// plain reports whether a shell takes a word literally. Shells insert candidates into the
// command line without quotes, and the words in a lock come from other people.
func plain(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
	}) < 0
}

// arguments returns the words that can be arguments, according to the command's ArgsUsage.
func (l *commandLine) arguments() []candidate {
	var all []candidate
	usage := strings.FieldsFunc(l.command.ArgsUsage, func(r rune) bool { return strings.ContainsRune("[]. |", r) })
	for _, kind := range usage {
		if kind == "DIR" && len(usage) > 1 && !strings.HasPrefix(l.current, ".") && !filepath.IsAbs(l.current) {
			continue // if there are several kinds, directories are offered only for words that begin like a path
		}
		all = append(all, l.values(kind)...)
	}
	return slices.DeleteFunc(all, func(c candidate) bool { return slices.Contains(l.args, c.word) })
}

// valueWords are the words that a placeholder stands for.
var valueWords = map[string][]string{
	"TOOL":    {"tofu", "terraform", "auto"},
	"WHAT":    {"modules", "providers"},
	"MODE":    {"readonly"},
	"FORMAT":  {"text", "json", "mermaid", "dot", "html"},
	"OS_ARCH": {"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64", "windows_arm64"},
}

// values returns the words that a placeholder in the usage of a command or a flag stands
// for. A lower-case word stands for itself.
func (l *commandLine) values(placeholder string) []candidate {
	switch placeholder {
	case "DIR":
		return []candidate{anyDir}
	case "FILE", "OLD", "NEW", "BASE", "OURS", "THEIRS":
		return []candidate{anyFile}
	case "KEY":
		return l.lockedModules()
	case "PROVIDER":
		return l.lockedProviders()
	case "COMMAND":
		var all []candidate
		for _, sub := range l.command.Parent().VisibleCommands() {
			all = append(all, candidate{sub.Name, sub.Usage})
		}
		return all
	}
	words := valueWords[placeholder]
	if words == nil && placeholder == strings.ToLower(placeholder) {
		words = []string{placeholder}
	}
	var all []candidate
	for _, word := range words {
		all = append(all, candidate{word: word})
	}
	return all
}

// lockedModules returns the keys of the modules in the project's lock.
func (l *commandLine) lockedModules() []candidate {
	var all []candidate
	if lock := l.lock(); lock != nil {
		for _, m := range lock.Modules() {
			all = append(all, candidate{m.Key, strings.TrimSpace(m.Source + " " + m.Version.String())})
		}
	}
	return all
}

// lockedProviders returns the providers in the project's lock.
func (l *commandLine) lockedProviders() []candidate {
	var all []candidate
	if lock := l.lock(); lock != nil {
		for _, p := range lock.Providers() {
			all = append(all, candidate{p.Address.ForDisplay(), p.Version.String()})
		}
	}
	return all
}

// lock returns the lock of the project, or nil if it cannot be read. A completion cannot
// show the error.
func (l *commandLine) lock() *lockfile.File {
	dir := l.flags["chdir"]
	found, err := readSettings(os.Getenv, dir)
	if err != nil {
		return nil
	}
	lock, err := readLock(filepath.Join(dir, cmp.Or(found.LockFile, stockLockName)))
	if err != nil {
		return nil
	}
	return lock
}
