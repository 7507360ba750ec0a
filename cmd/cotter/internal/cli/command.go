// Package cli reads command lines.
//
// # Commands
//
// A program is a tree of commands, which [Link] makes from their declarations. A command line
// names one of them, from the root down:
//
//	cotter --quiet bundle create --out=modules.tar network dns
//
// A command with subcommands takes no arguments: the first word that is not a flag is the
// name of a subcommand. Other commands take any number of arguments. A raw command takes
// all words after its name as arguments and reads no flags.
//
// # Flags
//
// A flag begins with one dash or two, which are the same: -json and --json. It is known to
// the command that declares it and, unless it is local, to the subcommands of that command.
// So it can come before or after the subcommand's name, and before, between or after
// arguments. Names are written in full, and -qv is not -q -v.
//
// The value of a flag is in the same word, as in -for=tofu, or it is the next word, even if
// that begins with a dash. A boolean flag takes its value in the same word only; -json and
// -json= mean -json=true.
//
// If a flag is repeated, the last value counts. A [Strings] flag has all its values, each
// split at commas.
//
// The word -- ends the flags of a command: all words after it are arguments, or the name
// of a subcommand, which reads flags again. Before it, a single dash is an argument, and so
// is a dash followed by a character that is not a letter, as in -1.
package cli

import (
	"context"
	"iter"
	"slices"
	"strings"
)

// Command is a command, or a subcommand of another one.
type Command struct {
	Name        string
	Usage       string // what the command does, in one line
	ArgsUsage   string // the names of its arguments, such as "FILE [DIR...]"
	Description string // a longer description
	FlagsNote   string // text that programs add to errors about its flags

	Flags    []*Flag
	Commands []*Command

	// Hidden commands can be run, but are not shown.
	Hidden bool
	// Raw commands take all words as arguments.
	Raw bool

	// Run runs the command. It is nil if the command only has subcommands.
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
	Strings             // a list of texts
)

// Flag is a flag of a command.
type Flag struct {
	Name  string
	Short string // another name, of one letter
	Type  Type
	Usage string // what the flag does, with the name of its value in backquotes

	// Default is the value of a String flag that is not given.
	Default string
	// Env is the name of an environment variable that overrides Default, unless it is empty.
	Env string
	// Check, if set, returns an error for a value that a String flag does not take.
	Check func(value string) error
	// Local flags are not known to subcommands.
	Local bool
}

// Link connects the commands of a tree with their parents, and returns the root. The
// subcommands of a command must have different names, and so must the flags that it knows.
func Link(root *Command) *Command {
	for _, sub := range root.Commands {
		sub.parent = root
		Link(sub)
	}
	return root
}

// FullName returns the names from the root to the command, separated by blanks.
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

// AllFlags returns the flags that are known to the command: its own, and then those of its
// parents that are not local.
func (c *Command) AllFlags() iter.Seq[*Flag] {
	return func(yield func(*Flag) bool) {
		for command := c; command != nil; command = command.parent {
			for _, flag := range command.Flags {
				if (command == c || !flag.Local) && !yield(flag) {
					return
				}
			}
		}
	}
}

// Flag returns the flag of a name, or nil if the command does not know it.
func (c *Command) Flag(name string) *Flag {
	for flag := range c.AllFlags() {
		if name != "" && (name == flag.Name || name == flag.Short) {
			return flag
		}
	}
	return nil
}

// ValueName returns the name of the flag's value, which is in backquotes in Usage. It
// returns "" for a boolean flag.
func (f *Flag) ValueName() string {
	if f.Type == Bool {
		return ""
	}
	_, rest, _ := strings.Cut(f.Usage, "`")
	value, _, _ := strings.Cut(rest, "`")
	return value
}
