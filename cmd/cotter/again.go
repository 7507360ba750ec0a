package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/cli/view"
)

// flagsAgain returns the flags of a run that an advised command needs too, because they decide what is read, selected or
// allowed. rest is what follows the command's name, and project the directory that --chdir names for it.
//
// The values of variables may be secret, so they are left to the user.
func flagsAgain(cmd *invocation, command, rest, project string) string {
	other, _, err := cmd.Root().Find([]string{command})
	if err != nil {
		return ""
	}
	var b strings.Builder
	add := func(flag, value string) { b.WriteString(" " + flag + " " + view.ShellWord(value)) }
	if policies, err := cmd.Flags().GetStringArray("policy"); err == nil && other.Flag("policy") != nil {
		for _, name := range policies {
			add("--policy", seenFrom(project, view.Below(cmd.String("chdir"), name)))
		}
	}
	for _, flag := range []string{"for", "mirror", "unify", "allow-file-reads"} {
		switch f := other.Flag(flag); {
		case f == nil || !cmd.IsSet(flag), flag == "mirror" && strings.Contains(rest, "--offline"):
		case f.Value.Type() == "bool":
			b.WriteString(" --" + flag)
		default:
			add("--"+flag, cmd.String(flag))
		}
	}
	for _, input := range inputsOf(cmd.Flag("var")) {
		if input.File != "" {
			add("--var-file", input.File)
		} else {
			add("--var", input.Name+"=VALUE")
		}
	}
	return b.String()
}

// inputsOf returns nil for a command without the flag.
func inputsOf(f *pflag.Flag) []config.Variable {
	if f == nil {
		return nil
	}
	return *f.Value.(*inputValue).all
}

// seenFrom returns a file as a command with --chdir dir takes it.
func seenFrom(dir, name string) string {
	from, err := filepath.Rel(dir, name)
	if err != nil || filepath.IsAbs(name) {
		return name
	}
	return filepath.ToSlash(from)
}
