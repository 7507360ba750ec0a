package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// maxSuggested is the maximum number of suggestions for a word.
const maxSuggested = 3

// nearest returns the known words that resemble a word, the most similar first.
func nearest(word string, known []string) []string {
	type candidate struct {
		word     string
		distance int
	}
	var found []candidate
	for _, other := range known {
		d := editDistance(strings.ToLower(word), strings.ToLower(other))
		if d <= max(1, min(len(word), len(other))/3) && other != word {
			found = append(found, candidate{other, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.word, b.word))
	})
	var words []string
	for _, c := range found[:min(len(found), maxSuggested)] {
		if !slices.Contains(words, c.word) {
			words = append(words, c.word)
		}
	}
	return words
}

// didYouMean returns a question with the known words that resemble a word. It returns "" if
// no known word does.
func didYouMean(word string, known []string) string {
	words := nearest(word, known)
	if len(words) == 0 {
		return ""
	}
	return "Did you mean " + alternatives(words) + "?"
}

// alternatives returns words as a list, such as "a, b or c".
func alternatives(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// enumeration joins words with commas and "and".
func enumeration(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// editDistance returns the number of edits that turn one word into another. An edit inserts,
// removes or replaces a character, or swaps it with the next one. For words that are too long
// to compare, editDistance returns a large number.
func editDistance(from, to string) int {
	const longest = 256
	a, b := []rune(from), []rune(to)
	if len(a) > longest || len(b) > longest {
		return longest
	}
	// rows[i][j] is the distance of the first i characters of a to the first j of b.
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// hintedError is an error with a hint on what to do about it.
type hintedError struct {
	error
	hint string
}

func (e hintedError) Unwrap() error { return e.error }

// hinted returns an error with a hint. It returns err if the hint is "".
func hinted(err error, hint string) error {
	if hint == "" {
		return err
	}
	return hintedError{err, hint}
}

// lineError turns an error of the parser into a usageError with a better text or a hint. The
// error is about the name of a command, or about a flag of command.
func lineError(command *cli.Command, err error) error {
	var unknown *cli.UnknownCommandError
	if errors.As(err, &unknown) {
		return usageError{hintedError{err, commandHint(command, unknown.Name)}}
	}
	err = flagError(command, err)
	if command.FlagsNote != "" {
		err = fmt.Errorf("%w; %s", err, command.FlagsNote)
	}
	return usageError{err}
}

// flagError adds a better text or a hint to an error about a flag.
func flagError(command *cli.Command, err error) error {
	var unknown *cli.UnknownFlagError
	var missing *cli.MissingValueError
	var invalid *cli.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return hintedError{err, flagHint(command, unknown.Name)}
	case errors.As(err, &missing):
		return fmt.Errorf("%w: %s", err, takes(missing.Flag))
	case errors.As(err, &invalid) && invalid.Flag.Check != nil:
		return invalid.Err // does not contain the value, which may be secret
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s takes %s, got %q", invalid.Name, takes(invalid.Flag), invalid.Value)
	}
	return err
}

// takes describes the values that a flag takes.
func takes(flag *cli.Flag) string {
	switch flag.Type {
	case cli.Bool:
		return "true or false"
	case cli.Int:
		return "a number of " + strings.ToLower(flag.ValueName())
	}
	return flag.ValueName()
}

// flagHint returns a hint for a flag that the command does not have: the flags with similar
// names, or how to list all flags.
func flagHint(command *cli.Command, name string) string {
	var known []string
	for flag := range command.AllFlags() {
		known = append(known, flag.Name)
	}
	likely := nearest(name, known)
	if len(likely) == 0 {
		return fmt.Sprintf("Run `%s --help` to see the flags.", command.FullName())
	}
	for i := range likely {
		likely[i] = "--" + likely[i]
	}
	return "Did you mean " + alternatives(likely) + "?"
}

// otherWords are words that people try, with the commands that do it.
var otherWords = map[string]string{
	"get":     "Run `cotter install`.",
	"upgrade": "Run `cotter update`.",
	"check":   "Run `cotter verify` to compare what is installed, or `cotter lock --check` to compare the lock with the configuration.",
	"ls":      "Run `cotter tree`.",
	"list":    "Run `cotter tree`.",
	"why":     "Run `cotter tree` with the key of a module call, a source address or a provider.",
	"graph":   "Run `cotter tree`, or `cotter tree --out modules.html` for a page.",
	"restore": "Run `cotter install`, or `cotter lock --offline` to put back entries of the lock and change nothing else.",
	"vendor":  "Set `vendor` in the settings block of cotter.hcl: `cotter install` then writes that directory.",
}

// commandHint returns a hint for a subcommand that does not exist: the command that does it, the
// subcommands with similar names, or how to list all subcommands.
func commandHint(command *cli.Command, name string) string {
	if hint, ok := otherWords[name]; ok && command.Parent() == nil {
		return hint
	}
	known := []string{"help"}
	for _, sub := range command.VisibleCommands() {
		known = append(known, sub.Name)
	}
	likely := nearest(name, known)
	if len(likely) == 0 {
		return fmt.Sprintf("Run `%s --help` to see the commands.", command.FullName())
	}
	for i := range likely {
		likely[i] = fmt.Sprintf("`%s %s`", command.FullName(), likely[i])
	}
	return "Did you mean " + alternatives(likely) + "?"
}

// flagAsArgument returns an error if an argument after "--" is the name of a flag of the command, as
// in `cotter install -- -upgrade`. Commands that take the words of other commands are excluded.
func flagAsArgument(cmd *cli.Invocation) error {
	if cmd.Command.Raw || strings.Contains(cmd.Command.ArgsUsage, "-- ") {
		return nil
	}
	for _, arg := range cmd.Args() {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if strings.HasPrefix(arg, "-") && cmd.Command.Flag(name) != nil {
			return usageError{hintedError{
				fmt.Errorf("%s after -- is an argument and not a flag", arg),
				fmt.Sprintf("Flags come before --, as in `%s %s`. A directory of that name is written ./%s.", cmd.Command.FullName(), arg, arg),
			}}
		}
	}
	return nil
}
