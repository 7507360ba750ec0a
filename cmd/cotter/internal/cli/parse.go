package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invocation is a command line that was read: a command, its arguments, and the flags that
// were given.
type Invocation struct {
	Command *Command
	args    []string
	given   []Given
}

// Given is a flag of a command line, with its value.
type Given struct{ Name, Value string }

// UnknownCommandError is a word where the name of a subcommand is expected.
type UnknownCommandError struct{ Name string }

func (e *UnknownCommandError) Error() string { return fmt.Sprintf("unknown command %q", e.Name) }

// UnknownFlagError is a flag that the command does not know. Name has no dashes.
type UnknownFlagError struct{ Name string }

func (e *UnknownFlagError) Error() string { return "there is no flag --" + e.Name }

// MissingValueError is a flag at the end of the command line whose value is missing.
type MissingValueError struct {
	Name string // as written on the command line, without dashes
	Flag *Flag
}

func (e *MissingValueError) Error() string { return fmt.Sprintf("--%s needs a value", e.Name) }

// InvalidValueError is a value that a flag does not take.
type InvalidValueError struct {
	Name  string // as written on the command line, without dashes
	Flag  *Flag
	Value string
	Err   error // from Flag.Check or package strconv
}

func (e *InvalidValueError) Error() string {
	return fmt.Sprintf("--%s does not take %q: %v", e.Name, e.Value, e.Err)
}

func (e *InvalidValueError) Unwrap() error { return e.Err }

// Parse reads the words of a command line that follow the name of the program. root is the
// root of a linked tree. If a word is wrong, the invocation has what was read before it.
func Parse(root *Command, words []string) (*Invocation, error) {
	inv := &Invocation{Command: root}
	flagsEnded := false
	for len(words) > 0 {
		if inv.Command.Raw {
			inv.args = words
			break
		}
		word := words[0]
		words = words[1:]
		switch {
		case !flagsEnded && word == "--":
			flagsEnded = true
		case !flagsEnded && isFlag(word):
			var err error
			if words, err = inv.readFlag(word, words); err != nil {
				return inv, err
			}
		case len(inv.Command.Commands) > 0:
			sub := inv.Command.Sub(word)
			if sub == nil {
				return inv, &UnknownCommandError{word}
			}
			inv.Command, flagsEnded = sub, false
		default:
			inv.args = append(inv.args, word)
		}
	}
	return inv, nil
}

// isFlag reports whether a word is a flag: it begins with two dashes, or with one and a letter.
func isFlag(word string) bool {
	rest, ok := strings.CutPrefix(word, "-")
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && (first == '-' || unicode.IsLetter(first))
}

// readFlag reads a flag, whose value may be the next word. It returns the words that follow.
func (inv *Invocation) readFlag(word string, next []string) ([]string, error) {
	name, value, hasValue := strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
	flag := inv.Command.Flag(name)
	switch {
	case flag == nil:
		return nil, &UnknownFlagError{strings.TrimLeft(name, "-")}
	case flag.Type == Bool && value == "":
		value = "true"
	case flag.Type != Bool && !hasValue:
		if len(next) == 0 {
			return nil, &MissingValueError{name, flag}
		}
		value, next = next[0], next[1:]
	}
	return next, inv.Set(name, value)
}

// Set gives a flag a value, as if it were the last one on the command line.
func (inv *Invocation) Set(name, value string) error {
	flag := inv.Command.Flag(name)
	if flag == nil {
		return &UnknownFlagError{name}
	}
	var err error
	switch {
	case flag.Type == Bool:
		_, err = strconv.ParseBool(value)
	case flag.Type == Int:
		_, err = strconv.ParseInt(value, 0, strconv.IntSize)
	case flag.Check != nil:
		err = flag.Check(value)
	}
	if err != nil {
		return &InvalidValueError{name, flag, value, err}
	}
	inv.given = append(inv.given, Given{flag.Name, value})
	return nil
}

// Args returns the arguments.
func (inv *Invocation) Args() []string { return slices.Clone(inv.args) }

// NArg returns the number of arguments.
func (inv *Invocation) NArg() int { return len(inv.args) }

// Arg returns the argument with the index i, or "" if there are not as many.
func (inv *Invocation) Arg(i int) string {
	if i >= len(inv.args) {
		return ""
	}
	return inv.args[i]
}

// Given returns the flags with these names that were given, in the order of the command
// line. Without names it returns all.
func (inv *Invocation) Given(names ...string) []Given {
	return slices.DeleteFunc(slices.Clone(inv.given), func(g Given) bool {
		return len(names) > 0 && !slices.Contains(names, g.Name)
	})
}

// IsSet reports whether a flag was given, on the command line or by Set.
func (inv *Invocation) IsSet(name string) bool { return len(inv.Given(name)) > 0 }

// String returns the value of a String flag: the last one that was given, or the value of
// its environment variable, or the default. It returns "" for a flag that the command does
// not know.
func (inv *Invocation) String(name string) string {
	if given := inv.Given(name); len(given) > 0 {
		return given[len(given)-1].Value
	}
	flag := inv.Command.Flag(name)
	if flag == nil {
		return ""
	}
	if flag.Env != "" {
		if value := os.Getenv(flag.Env); value != "" {
			return value
		}
	}
	return flag.Default
}

// Bool returns the value of a Bool flag: false if it was not given.
func (inv *Invocation) Bool(name string) bool {
	value, _ := strconv.ParseBool(inv.String(name))
	return value
}

// Int returns the value of an Int flag: 0 if it was not given.
func (inv *Invocation) Int(name string) int {
	value, _ := strconv.ParseInt(inv.String(name), 0, strconv.IntSize)
	return int(value)
}

// Strings returns the values of a Strings flag.
func (inv *Invocation) Strings(name string) []string {
	var values []string
	for _, given := range inv.Given(name) {
		values = append(values, strings.Split(given.Value, ",")...)
	}
	return values
}
