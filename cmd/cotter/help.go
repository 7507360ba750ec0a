package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// addHelp adds the flag --help to a command and to all its subcommands. It adds the
// subcommand help to those that have subcommands.
func addHelp(command *cli.Command, out *output) {
	command.Flags = append(command.Flags, &cli.Flag{Name: "help", Short: "h", Usage: "show help", Local: true})
	if len(command.Commands) > 0 {
		command.Commands = append(command.Commands, helpCommand(out))
	}
	for _, sub := range command.Commands {
		addHelp(sub, out)
	}
}

func helpCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "print the help of a command",
		ArgsUsage: "[COMMAND...]",
		Hidden:    true,
		Run: func(_ context.Context, cmd *cli.Invocation) error {
			found, err := commandNamed(cmd.Command.Parent(), cmd.Args())
			if err == nil {
				printHelp(out.stdout, pageOf(found))
			}
			return err
		},
	}
}

// commandNamed returns the command that words name, such as "bundle" and "create".
func commandNamed(root *cli.Command, words []string) (*cli.Command, error) {
	cmd := root
	for _, word := range words {
		sub := cmd.Sub(word)
		if sub == nil {
			return nil, usageError{fmt.Errorf("there is no command %q", cmd.FullName()+" "+word)}
		}
		cmd = sub
	}
	return cmd, nil
}

// page is the description of a command, which printHelp prints.
type page struct {
	name, summary string
	synopsis      string
	description   []block
	commands      []entry
	options       []optionGroup
	examples      []example
}

// block is a paragraph to be filled, or verbatim lines.
type block struct {
	text     string
	verbatim bool
}

// entry is the name of a command, or an option with its value, and a description.
type entry struct{ name, text string }

type optionGroup struct {
	title   string
	options []entry
}

// flagGroups are the groups of flags that several commands share.
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

// pageOf returns the page of a command.
func pageOf(cmd *cli.Command) page {
	p := page{
		name:        cmd.FullName(),
		summary:     cmd.Usage,
		description: blocks(cmd.Description),
		options:     optionGroups(cmd),
		examples:    examples[cmd.FullName()],
	}
	for _, sub := range cmd.VisibleCommands() {
		p.commands = append(p.commands, entry{sub.Name, sub.Usage})
	}
	if cmd.Root() == cmd {
		p.commands = append(p.commands, entry{"help", "print the help of a command"})
	}
	p.synopsis = synopsis(cmd, len(p.commands) > 0)
	return p
}

func synopsis(cmd *cli.Command, hasCommands bool) string {
	words := []string{cmd.FullName()}
	if hasCommands {
		words = append(words, "COMMAND")
	}
	words = append(words, "[OPTION...]")
	if cmd.ArgsUsage != "" {
		words = append(words, cmd.ArgsUsage)
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

// shownFlags returns the flags of a command, without the spellings that are there only because users
// of stock tools type them.
func shownFlags(cmd *cli.Command) iter.Seq[*cli.Flag] {
	return func(yield func(*cli.Flag) bool) {
		for flag := range cmd.AllFlags() {
			hidden := cmd.Flag("lockfile") != nil && (flag.Name == "lockfile" || flag.Name == "upgrade" || flag.Name == "test-directory")
			if !hidden && !yield(flag) {
				return
			}
		}
	}
}

// optionGroups returns the flags of a command in groups: first those in none of flagGroups,
// then the groups of flagGroups.
func optionGroups(cmd *cli.Command) []optionGroup {
	groups := make([]optionGroup, len(flagGroups)+1)
	groups[0].title = "Options"
	for i, g := range flagGroups {
		groups[i+1].title = g.title
	}
	for flag := range shownFlags(cmd) {
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

// option returns a flag, with the name of its value and a description.
func option(flag *cli.Flag) entry {
	e := entry{name: "--" + flag.Name, text: strings.Replace(flag.Usage, "`", "", 2)}
	if flag.Short != "" {
		e.name += ", -" + flag.Short
	}
	if value := flag.ValueName(); value != "" {
		e.name += " " + value
	}
	if flag.Default != "" {
		e.text += " (default: " + flag.Default + ")"
	}
	if flag.Env != "" {
		e.text += " [$" + flag.Env + "]"
	}
	return e
}

// The measures of help on a terminal, in columns.
const (
	helpWidth = 80
	maxColumn = 28 // the maximum column at which the descriptions of options and commands begin
)

// printHelp prints a page for a terminal.
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

// columns formats commands or options in two columns.
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

// fill breaks a text into lines of at most helpWidth columns, each indented by indent blanks.
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
