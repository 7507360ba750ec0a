// Package cli reads command lines.
//
// # Commands
//
// A program is a tree of commands, which [Link] makes of their declarations. A command line
// names one of them, from the root down:
//
//	cotter --quiet bundle create --out=modules.tar network dns
//
// A command with subcommands takes no arguments: its first word that is not a flag is the
// name of a subcommand. A command without them takes any number. The arguments of a raw
// command are all words behind its name, as they are.
//
// # Flags
//
// A flag begins with one dash or two, which are the same: -json and --json. It is known to
// the command that declares it and, unless it is local, to the subcommands of that command.
// So it may stand before and behind the subcommand's name, and before, between and behind
// arguments. Flags are written in full; -qv is not -q -v.
//
// The value of a flag is in the same word or is the next one, whatever that begins with:
// -for=tofu and -for tofu. A boolean flag takes its value in the same word only: -json and
// -json= are -json=true.
//
// If a flag is repeated, its last value counts. The values of a [Strings] flag are collected;
// each is split at commas.
//
// The word -- ends the flags of the command. Behind it, all words are arguments. Before it,
// a dash alone is an argument, and so is a dash followed by a character that is not a
// letter, as in -1.
package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Command is a command, or a subcommand of another one.
type Command struct {
	Name        string
	Usage       string // what it does, in a line
	ArgsUsage   string // what its arguments are, such as "FILE [DIR...]"
	Description string // what else there is to know
	FlagsNote   string // is added to errors about its flags

	Flags    []*Flag
	Commands []*Command

	// Hidden commands work, and are not shown.
	Hidden bool
	// Raw commands read no flags.
	Raw bool

	// Run does what the command is for. It is nil if only its subcommands do something.
	Run func(ctx context.Context, cmd *Invocation) error

	parent *Command
}

// Type is what the values of a flag are.
type Type int

// The types of flags.
const (
	Bool    Type = iota // true or false, as [strconv.ParseBool] reads it
	Int                 // an integer, as [strconv.ParseInt] reads it with its prefix
	String              // any text
	Strings             // texts
)

// Flag is a flag of a command.
type Flag struct {
	Name  string
	Short string // another name, of one letter
	Type  Type
	Usage string // what it does; the name of its value is in backquotes

	// Default is the value of a String flag that is not given.
	Default string
	// Env is an environment variable. If it is not empty, it overrides the default.
	Env string
	// Check refuses values of a String flag. Each is checked when it is read.
	Check func(value string) error
	// Local says that subcommands do not have the flag.
	Local bool
}

// Link tells the commands of a tree their parents, and returns the root. It panics if a
// command has two flags, or two subcommands, of one name.
func Link(root *Command) *Command {
	seen := map[string]bool{}
	for _, name := range root.flagNames() {
		if seen[name] {
			panic(fmt.Sprintf("%s has two flags with the name %q", root.FullName(), name))
		}
		seen[name] = true
	}
	for _, sub := range root.Commands {
		if root.Sub(sub.Name) != sub {
			panic(fmt.Sprintf("%s has two commands with the name %q", root.FullName(), sub.Name))
		}
		sub.parent = root
		Link(sub)
	}
	return root
}

func (c *Command) flagNames() []string {
	var names []string
	for _, flag := range c.AllFlags() {
		names = append(names, flag.Names()...)
	}
	return names
}

// FullName returns the names on the way from the root to the command, with blanks between
// them.
func (c *Command) FullName() string {
	if c.parent == nil {
		return c.Name
	}
	return c.parent.FullName() + " " + c.Name
}

// Parent returns the command that has this one as a subcommand, or nil for the root.
func (c *Command) Parent() *Command { return c.parent }

// Root returns the command at the top of the tree.
func (c *Command) Root() *Command {
	if c.parent == nil {
		return c
	}
	return c.parent.Root()
}

// Sub returns the subcommand of a name, or nil.
func (c *Command) Sub(name string) *Command {
	for _, sub := range c.Commands {
		if sub.Name == name {
			return sub
		}
	}
	return nil
}

// VisibleCommands returns the subcommands that are not hidden.
func (c *Command) VisibleCommands() []*Command {
	return slices.DeleteFunc(slices.Clone(c.Commands), func(sub *Command) bool { return sub.Hidden })
}

// AllFlags returns the flags that the command takes: those that it declares, and those that
// the commands above it share with it.
func (c *Command) AllFlags() []*Flag {
	flags := slices.Clone(c.Flags)
	for above := c.parent; above != nil; above = above.parent {
		for _, flag := range above.Flags {
			if !flag.Local {
				flags = append(flags, flag)
			}
		}
	}
	return flags
}

// Flag returns the flag of a name, or nil if the command does not take it.
func (c *Command) Flag(name string) *Flag {
	for _, flag := range c.AllFlags() {
		if slices.Contains(flag.Names(), name) {
			return flag
		}
	}
	return nil
}

// Names returns the names of a flag, without dashes.
func (f *Flag) Names() []string {
	if f.Short == "" {
		return []string{f.Name}
	}
	return []string{f.Name, f.Short}
}

// ValueName returns the name of the flag's value, which stands in backquotes in its usage. It is
// empty for a boolean flag.
func (f *Flag) ValueName() string {
	if f.Type == Bool {
		return ""
	}
	_, rest, _ := strings.Cut(f.Usage, "`")
	value, _, _ := strings.Cut(rest, "`")
	return value
}
