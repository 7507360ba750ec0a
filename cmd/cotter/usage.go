package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

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

// commandHint returns a hint for a subcommand that does not exist: the subcommands with
// similar names, or how to list all subcommands.
func commandHint(command *cli.Command, name string) string {
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
