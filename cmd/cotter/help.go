package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

func visible(c *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(c.Commands()), func(below *cobra.Command) bool { return below.Hidden })
}

// page describes a command.
type page struct {
	name, summary string
	synopsis      string
	description   []block
	commands      []entry
	options       []optionGroup
	examples      []example
}

// block is a paragraph to fill, or verbatim lines.
type block struct {
	text     string
	verbatim bool
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

func pageOf(cmd *cobra.Command) page {
	p := page{
		name:        cmd.CommandPath(),
		summary:     cmd.Short,
		description: blocks(cmd.Long),
		options:     optionGroups(cmd),
		examples:    examples[cmd.CommandPath()],
	}
	for _, sub := range visible(cmd) {
		p.commands = append(p.commands, entry{sub.Name(), sub.Short})
	}
	if cmd.Root() == cmd {
		p.commands = append(p.commands, entry{"help", "print the help of a command"})
	}
	p.synopsis = synopsis(cmd, len(p.commands) > 0)
	return p
}

func synopsis(cmd *cobra.Command, hasCommands bool) string {
	words := []string{cmd.CommandPath()}
	if hasCommands {
		words = append(words, "COMMAND")
	}
	words = append(words, "[OPTION...]")
	if args := argsUsage(cmd); args != "" {
		words = append(words, args)
	}
	return strings.Join(words, " ")
}

// blocks splits a text into paragraphs. A paragraph that begins with a blank is verbatim.
func blocks(text string) []block {
	var list []block
	for _, part := range strings.Split(text, "\n\n") {
		if part = strings.Trim(part, "\n"); part == "" {
			continue
		}
		if strings.HasPrefix(part, " ") {
			list = append(list, block{part, true})
			continue
		}
		list = append(list, block{strings.Join(strings.Fields(part), " "), false})
	}
	return list
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

func printHelp(w io.Writer, p page) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nUsage:\n%s", fill(p.name+": "+p.summary, 0), fill(p.synopsis, 2))
	for _, block := range p.description {
		text := block.text + "\n"
		if !block.verbatim {
			text = fill(block.text, 0)
		}
		fmt.Fprintf(&b, "\n%s", text)
	}
	if len(p.examples) > 0 {
		b.WriteString("\nExamples:\n")
	}
	for _, e := range p.examples {
		fmt.Fprintf(&b, "%s  %s\n", fill("# "+e.what, 2), e.command)
	}
	if len(p.commands) > 0 {
		b.WriteString("\nCommands:\n" + columns(p.commands))
	}
	for _, g := range p.options {
		b.WriteString("\n" + g.title + ":\n" + columns(g.options))
	}
	if len(p.commands) > 0 {
		fmt.Fprintf(&b, "\nRun `%s COMMAND --help` for more about a command.\n", p.name)
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
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
		case column+1+len(word) > helpWidth:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		if column == 0 {
			b.WriteString(strings.Repeat(" ", indent))
			column = indent
		}
		b.WriteString(word)
		column += len(word)
	}
	b.WriteByte('\n')
	return b.String()
}
