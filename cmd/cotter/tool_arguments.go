package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/config"
)

// sharedFlag is a flag of the stock tools' init that is about modules, providers or the
// lock, and so applies to Cotter as well.
type sharedFlag struct {
	name, value string
	// environment is true if the flag is in an environment variable.
	environment bool
}

// sharedFlags are the shared flags of one run, in the order in which the tool reads them.
type sharedFlags []sharedFlag

// sharedNames has the names of shared flags. The value is true if the flag takes a value.
var sharedNames = map[string]bool{
	"upgrade": false, "json": false,
	"lockfile": true, "var": true, "var-file": true, "test-directory": true,
	"plugin-dir": true, "from-module": true, "chdir": true,
}

// readSharedFlags returns the shared flags in the environment and in args, the tool's
// arguments on the command line. The tool reads the environment itself.
func readSharedFlags(env func(string) string, args []string) (sharedFlags, error) {
	var found sharedFlags
	for _, variable := range []string{"TF_CLI_ARGS_init", "TF_CLI_ARGS"} {
		words, err := splitWords(env(variable))
		if err == nil {
			err = found.add(words, true)
		}
		if err != nil { // the values may be secret
			return nil, usageError{fmt.Errorf("the environment variable %s: %w", variable, err)}
		}
	}
	if err := found.add(args, false); err != nil {
		return nil, usageError{err}
	}
	return found, nil
}

// add appends the shared flags in args. It reads flags as package flag does, with one dash
// or two.
func (f *sharedFlags) add(args []string, environment bool) error {
	for i := 0; i < len(args); i++ {
		name, value, hasValue := strings.Cut(args[i], "=")
		name, isFlag := strings.CutPrefix(name, "-")
		name = strings.TrimPrefix(name, "-")
		takesValue, shared := sharedNames[name]
		switch {
		case !isFlag || !shared:
			continue
		case !takesValue && !hasValue:
			value = "true"
		case takesValue && !hasValue:
			if i++; i == len(args) {
				return fmt.Errorf("-%s needs a value", name)
			}
			value = args[i]
		}
		*f = append(*f, sharedFlag{name, value, environment})
	}
	return nil
}

func (f sharedFlags) has(name string) bool {
	return slices.ContainsFunc(f, func(flag sharedFlag) bool { return flag.name == name })
}

// apply sets Cotter's own flags to the values of the shared flags.
func (f sharedFlags) apply(cmd *cli.Invocation) error {
	for _, flag := range f {
		var err error
		switch flag.name {
		case "from-module":
			err = errors.New("-from-module creates a configuration, but Cotter needs an existing one: run the tool's own `init -from-module` first, and then `cotter init`")
		case "chdir":
			err = errors.New("-chdir cannot be used after --: use `cotter init DIR`")
		case "plugin-dir":
			// The tool takes providers only from this directory.
			if cmd.String("only") == "" {
				err = cmd.Set("only", "modules")
			}
		case "var", "var-file":
			if !flag.environment { // see setInputs
				err = cmd.Set(flag.name, flag.value)
			}
		default:
			err = cmd.Set(flag.name, flag.value)
		}
		if err != nil {
			return usageError{flagError(cmd.Command, err)}
		}
	}
	return nil
}

// toolArguments returns the arguments to start the tool with. The arguments that Cotter
// adds come before the user's, so that the user's take precedence.
func toolArguments(cmd *cli.Invocation, req cotter.Request, shared sharedFlags, args []string) []string {
	var all []string
	if req.Dir != "" && req.Dir != "." {
		all = append(all, "-chdir="+req.Dir)
	}
	all = append(all, "init")
	if shared.has("upgrade") && cmd.String("only") != "providers" {
		// The tool is to upgrade only providers. Without this flag it would also fetch all
		// modules again, regardless of the lock. Cotter has upgraded the modules.
		all = append(all, "-get=false")
	}
	if req.Locked && req.Providers != nil && !shared.has("lockfile") {
		all = append(all, "-lockfile=readonly")
	}
	if cmd.Bool("json") && !shared.has("json") {
		all = append(all, "-json")
	}
	if cmd.Bool("no-color") {
		all = append(all, "-no-color")
	}
	return append(all, args...)
}

// argumentVariables are the environment variables from which stock tools take arguments
// for init and get, in the order in which the tools insert them after the subcommand. The
// arguments on the command line come last, so they take precedence.
// https://opentofu.org/docs/cli/config/environment-variables/#tf_cli_args-and-tf_cli_args_name
var argumentVariables = []string{"TF_CLI_ARGS_init", "TF_CLI_ARGS_get", "TF_CLI_ARGS"}

// variablesFromEnv returns the variables that the flags -var and -var-file in the
// environment set. It ignores all other flags, which are for stock tools.
func variablesFromEnv(env func(string) string) ([]config.Variable, error) {
	var given []config.Variable
	for _, name := range argumentVariables {
		words, err := splitWords(env(name))
		if err == nil {
			given, err = appendVariables(given, words)
		}
		if err != nil { // the values may be secret
			return nil, usageError{fmt.Errorf("the environment variable %s: %w", name, err)}
		}
	}
	return given, nil
}

// appendVariables appends the variables that -var and -var-file in args set.
func appendVariables(given []config.Variable, args []string) ([]config.Variable, error) {
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		name, value, hasValue := strings.Cut(args[i], "=")
		name, isFlag := strings.CutPrefix(name, "-")
		name = strings.TrimPrefix(name, "-")
		if !isFlag || name != "var" && name != "var-file" {
			continue
		}
		if !hasValue {
			if i++; i == len(args) {
				return nil, fmt.Errorf("-%s needs a value", name)
			}
			value = args[i]
		}
		set, err := parseVariable(name, value)
		if err != nil {
			return nil, err
		}
		given = append(given, set)
	}
	return given, nil
}

// splitWords splits arguments as stock tools do, which is almost as a shell does. Blanks
// separate words. In single quotes every character is literal; elsewhere a backslash makes
// the next character literal. Outside of quotes one of ;&|<> ends the arguments. Nothing
// is expanded.
//
// Stock tools treat parentheses and backquotes outside of quotes specially: they refuse
// them, or take the text between them as one word. Here they are plain characters.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune // the open quotation mark, or 0
	started, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			escaped, started = false, true
			word.WriteRune(r)
		case r == '\\' && quote != '\'':
			escaped = true
		case r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, started = r, true
		case quote == 0 && strings.ContainsRune(" \t\r\n", r):
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		case quote == 0 && strings.ContainsRune(";&|<>", r):
			if started {
				words = append(words, word.String())
			}
			return words, nil // the rest would be another command
		default:
			started = true
			word.WriteRune(r)
		}
	}
	if escaped || quote != 0 {
		return nil, errors.New("a quotation mark is not closed, or a backslash is last")
	}
	if started {
		words = append(words, word.String())
	}
	return words, nil
}
