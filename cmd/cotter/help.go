package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cotterpin/cotter/internal/cli/view"
)

func helpCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{Use: "help [COMMAND...]", Short: "print the help of a command", Hidden: true}, func(_ context.Context, cmd *invocation, _ *output) error {
		found, rest, err := cmd.Root().Find(cmd.args)
		if err != nil || len(rest) > 0 {
			return usageError{fmt.Errorf("there is no command %q", "cotter "+strings.Join(cmd.args, " "))}
		}
		return found.Help()
	}, nil)
}

// visible returns the commands below c, without plumbing: commands that other programs run.
func visible(c *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(c.Commands()), func(below *cobra.Command) bool { return below.Hidden })
}

// entry is a command, or an option with its value.
type entry struct{ name, text string }

type optionGroup struct {
	title   string
	options []entry
}

// flagGroups are the flags that several commands share.
var flagGroups = []struct {
	title string
	flags []string
}{
	{"Packages", []string{"offline", "bundle", "mirror", "accept-unreachable"}},
	{"Providers", []string{"only", "platform", "project-providers", "prune-providers"}},
	{"Configuration", []string{"policy", "for", "var", "var-file", "allow-file-reads"}},
	{"Several projects", []string{"recursive", "since"}},
	{"All commands", []string{"json", "chdir", "quiet", "verbose", "no-color", "help"}},
}

func shownFlags(cmd *cobra.Command) []*pflag.Flag {
	var shown []*pflag.Flag
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			shown = append(shown, f)
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(add)
	cmd.Root().PersistentFlags().VisitAll(add)
	return shown
}

// optionGroups returns the flags of a command that are in no group first.
func optionGroups(cmd *cobra.Command) []optionGroup {
	groups := make([]optionGroup, len(flagGroups)+1)
	groups[0].title = "Options"
	for i, g := range flagGroups {
		groups[i+1].title = g.title
	}
	for _, flag := range shownFlags(cmd) {
		i := 0
		for j, g := range flagGroups {
			if slices.Contains(g.flags, flag.Name) {
				i = j + 1
			}
		}
		groups[i].options = append(groups[i].options, option(flag))
	}
	return slices.DeleteFunc(groups, func(g optionGroup) bool { return len(g.options) == 0 })
}

func option(flag *pflag.Flag) entry {
	value, text := pflag.UnquoteUsage(flag)
	e := entry{name: "--" + flag.Name, text: text}
	if flag.Shorthand != "" {
		e.name += ", -" + flag.Shorthand
	}
	if flag.NoOptDefVal == "" {
		e.name += " " + value
	}
	if flag.Name == "for" {
		e.text += " (default: " + flag.DefValue + ")"
	}
	return e
}

// In columns of a terminal.
const (
	helpWidth = 80
	maxColumn = 28 // the maximum column at which the descriptions of options and commands begin
)

func printHelp(w io.Writer, cmd *cobra.Command) {
	var b strings.Builder
	var commands []entry
	synopsis := cmd.CommandPath() + " [OPTION...] " + argsUsage(cmd)
	for _, sub := range visible(cmd) {
		commands = append(commands, entry{sub.Name(), sub.Short})
	}
	if commands != nil {
		synopsis = cmd.CommandPath() + " COMMAND [OPTION...]"
	}
	fmt.Fprintf(&b, "%s\nUsage:\n%s", fill(cmd.CommandPath()+": "+cmd.Short, 0), fill(synopsis, 2))
	for _, paragraph := range strings.Split(cmd.Long, "\n\n") {
		switch {
		case strings.HasPrefix(paragraph, " "): // it is verbatim
			fmt.Fprintf(&b, "\n%s\n", paragraph)
		case paragraph != "":
			fmt.Fprintf(&b, "\n%s", fill(paragraph, 0))
		}
	}
	if len(examples[cmd.CommandPath()]) > 0 {
		b.WriteString("\nExamples:\n")
	}
	for _, e := range examples[cmd.CommandPath()] {
		fmt.Fprintf(&b, "%s  %s\n", fill("# "+e.what, 2), e.command)
	}
	if commands != nil {
		b.WriteString("\nCommands:\n" + columns(commands))
	}
	for _, g := range optionGroups(cmd) {
		b.WriteString("\n" + g.title + ":\n" + columns(g.options))
	}
	if commands != nil {
		fmt.Fprintf(&b, "\nRun `%s COMMAND --help` for more about a command.\n", cmd.CommandPath())
	}
	fmt.Fprint(w, b.String())
}

func columns(list []entry) string {
	column := 0
	for _, e := range list {
		column = min(max(column, len(e.name)+4), maxColumn)
	}
	var b strings.Builder
	for _, e := range list {
		text := fill(e.text, column)
		if name := "  " + e.name; len(name) < column-1 {
			text = name + text[len(name):]
		} else {
			text = name + "\n" + text
		}
		b.WriteString(text)
	}
	return b.String()
}

// fill breaks a text into indented lines of at most helpWidth columns.
func fill(text string, indent int) string {
	blank := strings.Repeat(" ", indent)
	return view.Folded(blank+strings.Join(strings.Fields(text), " "), helpWidth, blank) + "\n"
}
