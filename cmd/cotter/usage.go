package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// chosen returns what a word stands for, of a setting that takes only some. The word "" is the default.
func chosen[T any](setting, word string, words map[string]T) (T, error) {
	value, ok := words[word]
	if !ok {
		known := lists.Map(slices.DeleteFunc(slices.Sorted(maps.Keys(words)), func(known string) bool { return known == "" }), strconv.Quote)
		return value, usageError{fmt.Errorf("%s takes %s, got %q", setting, view.Alternatives(known), word)}
	}
	return value, nil
}

// flagsNote annotates a command with what errors about its flags add.
const flagsNote = "flags note"

// lineError turns an error about a flag into a usageError with a hint. Help that was asked for before the wrong
// flag is printed instead.
func lineError(c *cobra.Command, err error) error {
	if c.Flags().Changed("help") {
		return c.Help()
	}
	if err := checkGroup(c); err != nil {
		return err
	}
	err = flagError(c, err)
	if note := c.Annotations[flagsNote]; note != "" {
		err = fmt.Errorf("%w; %s", err, note)
	}
	return usageError{err}
}

func flagError(c *cobra.Command, err error) error {
	unknown, isUnknown := errors.AsType[*pflag.NotExistError](err)
	missing, isMissing := errors.AsType[*pflag.ValueRequiredError](err)
	invalid, isInvalid := errors.AsType[*pflag.InvalidValueError](err)
	switch {
	case isUnknown:
		name := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName())
		dashes := "--"
		if len(name) == 1 {
			dashes = "-"
		}
		return advice.Hinted(fmt.Errorf("there is no flag %s%s", dashes, name), flagHint(c, name))
	case isMissing:
		value, _ := pflag.UnquoteUsage(missing.GetFlag())
		return fmt.Errorf("--%s needs a value: %s", missing.GetFlag().Name, value)
	case isInvalid && invalid.GetFlag().Value.Type() == "bool":
		return fmt.Errorf("--%s takes true or false, got %q", invalid.GetFlag().Name, invalid.GetValue())
	case isInvalid:
		return invalid.Unwrap() // does not contain the value, which may be secret
	}
	return err
}

// otherFlags are flags of other programs, and ours for the same.
var otherFlags = map[string]string{"V": "version", "frozen": "locked", "frozen-lockfile": "locked", "immutable": "locked"}

// flagHint names the flag for the same or the flags with similar names, or says how to list all.
func flagHint(c *cobra.Command, name string) string {
	if other := otherFlags[name]; c.Root().Flags().Lookup(other) != nil && c.Flags().Lookup(other) == nil {
		return fmt.Sprintf("Run `cotter --%s`.", other)
	} else if c.Flags().Lookup(other) != nil {
		return view.DidYouMean([]string{"--" + other})
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	likely := lists.Map(view.Nearest(name, known), func(near string) string { return "--" + near })
	return cmp.Or(view.DidYouMean(likely), fmt.Sprintf("Run `%s --help` to see the flags.", c.CommandPath()))
}

// otherWords are words that people try.
var otherWords = map[string]string{
	"get":        "Run `cotter install`.",
	"upgrade":    "Run `cotter update`.",
	"check":      "Run `cotter verify` to compare what is installed, or `cotter lock --check` to compare the lock with the configuration.",
	"ls":         "Run `cotter tree`.",
	"list":       "Run `cotter tree`.",
	"why":        "Run `cotter tree` with the key of a module call, a source address or a provider.",
	"graph":      "Run `cotter tree`, or `cotter tree --out modules.html` for a page.",
	"restore":    "Run `cotter install`, or `cotter lock --offline` to put back entries of the lock and change nothing else.",
	"version":    "Run `cotter --version`.",
	"merge-lock": "Remove `merge=cotter` from .gitattributes, and merge again: `cotter install` resolves what git leaves as a conflict in the lock.",
	"vendor":     "Use `cotter bundle create` or `cotter mirror push` for machines without network, and a `replace` block in cotter.hcl for a module in a directory of your repository.",
}

// checkGroup refuses a word that is no command below c.
func checkGroup(c *cobra.Command) error {
	if !c.HasSubCommands() || c.Flags().NArg() == 0 {
		return nil
	}
	return unknownCommand(c, c.Flags().Arg(0))
}

// unknownCommand hints at the command that does it, at similar names, or at the list of all commands.
func unknownCommand(c *cobra.Command, name string) error {
	return usageError{advice.Hinted(fmt.Errorf("unknown command %q", name), commandHint(c, name))}
}

func commandHint(c *cobra.Command, name string) string {
	if hint, ok := otherWords[name]; ok && !c.HasParent() {
		return hint
	}
	known := lists.Map(visible(c), (*cobra.Command).Name)
	if !c.HasParent() {
		known = append(known, "help")
	}
	likely := lists.Map(view.Nearest(name, known), func(near string) string { return fmt.Sprintf("`%s %s`", c.CommandPath(), near) })
	return cmp.Or(view.DidYouMean(likely), fmt.Sprintf("Run `%s --help` to see the commands.", c.CommandPath()))
}

// flagAsArgument refuses the name of a flag after "--", as in `cotter install -- -upgrade`, except for commands
// that take the words of other commands.
func flagAsArgument(cmd *invocation) error {
	if strings.Contains(cmd.Use, "-- ") || cmd.ArgsLenAtDash() < 0 {
		return nil
	}
	for _, arg := range cmd.args[cmd.ArgsLenAtDash():] {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if strings.HasPrefix(arg, "-") && cmd.Flag(name) != nil {
			return usageError{advice.Hinted(
				fmt.Errorf("%s after -- is an argument and not a flag", arg),
				fmt.Sprintf("Flags come before --, as in `%s %s`. A directory of that name is written ./%s.", cmd.CommandPath(), arg, arg),
			)}
		}
	}
	return nil
}
