package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// invocation is a command that runs, with its arguments.
type invocation struct {
	*cobra.Command
	args []string
}

func (c *invocation) Args() []string { return slices.Clone(c.args) }
func (c *invocation) NArg() int      { return len(c.args) }
func (c *invocation) Arg(i int) string {
	if i >= len(c.args) {
		return ""
	}
	return c.args[i]
}

// String, Bool and Strings return zero values for flags that the command does not have.
func (c *invocation) String(name string) string {
	if f := c.Flag(name); f != nil {
		return f.Value.String()
	}
	return ""
}

func (c *invocation) Bool(name string) bool {
	value, _ := c.Flags().GetBool(name)
	return value
}

func (c *invocation) Strings(name string) []string {
	value, _ := c.Flags().GetStringSlice(name)
	return value
}

// IsSet reports whether a flag was given, or set by the program.
func (c *invocation) IsSet(name string) bool { return c.Flags().Changed(name) }

// addFlag adds a flag to those of a command. Its usage has the name of its value in backquotes.
type addFlag = func(*pflag.FlagSet)

func toggle(name, usage string) addFlag {
	return func(set *pflag.FlagSet) { set.Bool(name, false, usage) }
}

func text(name, usage string) addFlag {
	return func(set *pflag.FlagSet) { set.String(name, "", usage) }
}

// texts is a flag that can be repeated. Each value is split at commas.
func texts(name, usage string) addFlag {
	return func(set *pflag.FlagSet) { set.StringSlice(name, nil, usage) }
}

// hidden leaves a flag out of help and completions: it is there only because users of stock tools type it.
func hidden(name string, add addFlag) addFlag {
	return func(set *pflag.FlagSet) {
		add(set)
		set.Lookup(name).Hidden = true
	}
}

// command completes a command. Without run, it only has the commands below it.
func command(out *output, c *cobra.Command, run func(context.Context, *invocation, *output) error, flags []addFlag, below ...*cobra.Command) *cobra.Command {
	c.Flags().SortFlags, c.PersistentFlags().SortFlags = false, false
	c.Flags().BoolP("help", "h", false, "show help")
	for _, add := range flags {
		add(c.Flags())
	}
	c.AddCommand(below...)
	c.Args = cobra.ArbitraryArgs // a command says itself what it takes
	c.ValidArgsFunction = completeArguments
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if value, _ := pflag.UnquoteUsage(f); f.NoOptDefVal == "" {
			_ = c.RegisterFlagCompletionFunc(f.Name, completeValue(value)) // fails only if it is registered twice
		}
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		cmd := &invocation{c, args}
		switch {
		case run == nil:
			return runGroup(cmd)
		case argsUsage(c) == "" && len(args) > 0:
			return usageError{fmt.Errorf("%s takes no argument, got %q", c.CommandPath(), args[0])}
		}
		if err := flagAsArgument(cmd); err != nil {
			return err
		}
		out.configure(cmd)
		return out.end(run(c.Context(), cmd, out))
	}
	return c
}

// runGroup prints the help of a command that only has others below it.
func runGroup(cmd *invocation) error {
	if cmd.NArg() == 0 {
		return cmd.Help()
	}
	return unknownCommand(cmd.Command, cmd.Arg(0))
}

// argsUsage names the arguments of a command, such as "FILE [DIR...]".
func argsUsage(c *cobra.Command) string {
	_, args, _ := strings.Cut(c.Use, " ")
	return args
}

// longFlags gives long flags with one dash, as users of stock tools type them, a second one. It leaves the
// words after "--" and the values of flags alone.
func longFlags(root *cobra.Command, words []string) []string {
	takesValue := make(map[string]bool)
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, set := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
			set.VisitAll(func(f *pflag.Flag) { takesValue[f.Name] = takesValue[f.Name] || f.NoOptDefVal == "" })
		}
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(root)
	words = slices.Clone(words)
	for i := 0; i < len(words) && words[i] != "--"; i++ {
		name, isFlag := strings.CutPrefix(words[i], "-")
		name, _, hasValue := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		if !isFlag {
			continue
		}
		if !strings.HasPrefix(words[i], "--") && utf8.RuneCountInString(name) > 1 {
			words[i] = "-" + words[i]
		}
		if takesValue[name] && !hasValue {
			i++ // the value
		}
	}
	return words
}
