package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/urfave/cli/v3"
)

// hintedError is an error with what to do about it.
type hintedError struct {
	error
	hint string
}

func (e hintedError) Unwrap() error { return e.error }

// hinted returns an error with a hint, if there is one.
func hinted(err error, hint string) error {
	if hint == "" {
		return err
	}
	return hintedError{err, hint}
}

// The messages of package cli about flags.
var (
	unknownFlag  = regexp.MustCompile(`^flag provided but not defined: -+(.*)$`)
	missingValue = regexp.MustCompile(`^flag needs an argument: -+(.*)$`)
	invalidValue = regexp.MustCompile(`^invalid value "((?s).*)" for flag -+([^: ]*): ((?s).*)$`)
)

// flagError words an error about the flags of a command.
func flagError(cmd *cli.Command, err error) error {
	text := err.Error()
	if m := unknownFlag.FindStringSubmatch(text); m != nil {
		hint := didYouMean(m[1], flagNames(cmd))
		hint = strings.NewReplacer("mean ", "mean --", ", ", ", --", " or ", " or --").Replace(hint)
		if hint == "" {
			hint = fmt.Sprintf("Run `%s --help` to see the flags.", cmd.FullName())
		}
		return usageError{hintedError{fmt.Errorf("there is no flag --%s", m[1]), hint}}
	}
	if m := missingValue.FindStringSubmatch(text); m != nil {
		return usageError{fmt.Errorf("--%s needs a value: %s", m[1], takes(cmd, m[1]))}
	}
	if m := invalidValue.FindStringSubmatch(text); m != nil {
		if _, ok := flagOf(cmd, m[2]).(*cli.GenericFlag); ok {
			return usageError{fmt.Errorf("%s", m[3])} // which is ours, and has no secret value
		}
		return usageError{fmt.Errorf("--%s takes %s, got %q", m[2], takes(cmd, m[2]), m[1])}
	}
	return usageError{err}
}

// flagNames are the names of the flags that a command takes.
func flagNames(cmd *cli.Command) []string {
	var names []string
	for _, c := range cmd.Lineage() {
		for _, flag := range c.Flags {
			for _, name := range flag.Names() {
				if len(name) > 1 {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

func flagOf(cmd *cli.Command, name string) cli.Flag {
	for _, c := range cmd.Lineage() {
		for _, flag := range c.Flags {
			for _, n := range flag.Names() {
				if n == name {
					return flag
				}
			}
		}
	}
	return nil
}

// takes says what the value of a flag is.
func takes(cmd *cli.Command, name string) string {
	flag := flagOf(cmd, name)
	if flag == nil {
		return "a value"
	}
	switch flag.(type) {
	case *cli.BoolFlag:
		return "true or false"
	case *cli.IntFlag:
		return "a number of " + strings.ToLower(placeholder(flag))
	}
	return placeholder(flag)
}

// unknownCommand is the error for a word that is not the name of a subcommand.
func unknownCommand(cmd *cli.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands {
		if !c.Hidden {
			names = append(names, c.Names()...)
		}
	}
	var likely []string
	for _, other := range nearest(name, names) {
		likely = append(likely, fmt.Sprintf("`%s %s`", cmd.FullName(), other))
	}
	hint := fmt.Sprintf("Run `%s --help` to see the commands.", cmd.FullName())
	if len(likely) > 0 {
		hint = "Did you mean " + alternatives(likely) + "?"
	}
	return usageError{hintedError{fmt.Errorf("unknown command %q", name), hint}}
}
