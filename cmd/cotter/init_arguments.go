package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// sharedFlag is a flag of the stock tools' init that says something about modules,
// providers or the lock, so that Cotter must know of it.
type sharedFlag struct {
	name, value string
	// environment says that it is in an environment variable.
	environment bool
}

// sharedFlags are those of one run, in the order in which the tool reads them.
type sharedFlags []sharedFlag

// sharedNames are their names, and whether they take a value.
var sharedNames = map[string]bool{
	"upgrade": false, "json": false,
	"lockfile": true, "var": true, "var-file": true, "test-directory": true,
	"plugin-dir": true, "from-module": true, "chdir": true,
}

// readSharedFlags reads what the environment and the command line have for the tool.
// The tool adds what is in the environment by itself.
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

// add reads arguments as package flag does, with one dash or two.
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

// apply sets Cotter's own flags to what the tool's say.
func (f sharedFlags) apply(cmd *cli.Invocation) error {
	for _, flag := range f {
		var err error
		switch flag.name {
		case "from-module":
			err = errors.New("-from-module makes a configuration, and Cotter installs what one needs: run the tool's own `init -from-module` first, and then `cotter init`")
		case "chdir":
			err = errors.New("-chdir does not stand behind --: use `cotter init DIR`")
		case "plugin-dir":
			// The tool takes providers from there and nowhere else.
			if cmd.String("only") == "" {
				err = cmd.Set("no-providers", "true")
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

// toolArguments are the arguments with which the tool is started. Those that Cotter adds
// stand before the user's, which count more.
func toolArguments(cmd *cli.Invocation, req cotter.Request, shared sharedFlags, args []string) []string {
	var all []string
	if req.Dir != "" && req.Dir != "." {
		all = append(all, "-chdir="+req.Dir)
	}
	all = append(all, "init")
	if shared.has("upgrade") && cmd.String("only") != "providers" {
		// The tool upgrades providers. It would fetch all modules again, too, past the
		// lock: Cotter has upgraded those.
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
