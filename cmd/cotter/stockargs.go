package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mattn/go-shellwords"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
)

// argumentVariables are those from which stock tools take arguments for init and get, in the order in which the
// tools insert them, before the command line's:
// https://opentofu.org/docs/cli/config/environment-variables/#tf_cli_args-and-tf_cli_args_name
var argumentVariables = []string{"TF_CLI_ARGS_init", "TF_CLI_ARGS_get", "TF_CLI_ARGS"}

// stockArguments are the arguments for init and get of stock tools that decide what is installed.
type stockArguments struct {
	variables []config.Variable // -var and -var-file
	// pluginDirs replace all sources of providers. Relative ones are in the configuration's directory.
	pluginDirs []string
	testDir    string
	// lockMode is the value of -lockfile, and lockModeIn the variable with it.
	lockMode, lockModeIn string
	// ignored are the flags that Cotter does not follow, each with its variable.
	ignored []ignoredArgument
}

type ignoredArgument struct{ flag, variable string }

// valueFlags are the flags of init and get that have a value, which may be the next word.
var valueFlags = []string{"backend-config", "from-module", "json-into", "lock-timeout", "lockfile", "plugin-dir", "test-directory", "var", "var-file"}

// argumentsFromEnv returns what the arguments in the environment say. Flags that change nothing that is installed
// are skipped.
func argumentsFromEnv(env func(string) string) (stockArguments, error) {
	var found stockArguments
	for _, name := range argumentVariables {
		words, err := shellwords.Parse(env(name)) // as stock tools do
		if err != nil {
			err = errors.New("a quotation mark is not closed, a backslash is last, or there is a parenthesis outside of quotation marks")
		} else {
			err = eachArgument(words, func(flag, value string) error { return found.add(name, flag, value) })
		}
		if err != nil { // the values may be secret
			return stockArguments{}, usageError{fmt.Errorf("the environment variable %s: %w", name, err)}
		}
	}
	return found, nil
}

func (a *stockArguments) add(variable, flag, value string) error {
	switch flag {
	case "var", "var-file":
		set, err := parseVariable(flag, value)
		if err != nil {
			return err
		}
		a.variables = append(a.variables, set)
	case "plugin-dir":
		a.pluginDirs = append(a.pluginDirs, value)
	case "test-directory":
		a.testDir = value
	case "lockfile":
		a.lockMode, a.lockModeIn = value, variable
	case "upgrade", "update", "from-module":
		if value != "false" {
			a.ignored = append(a.ignored, ignoredArgument{flag, variable})
		}
	case "get":
		if value == "false" {
			a.ignored = append(a.ignored, ignoredArgument{flag, variable})
		}
	}
	return nil
}

// appendVariables appends what -var and -var-file in arguments of a tool set.
func appendVariables(given []config.Variable, args []string) ([]config.Variable, error) {
	found := stockArguments{variables: given}
	err := eachArgument(args, func(flag, value string) error {
		if flag != "var" && flag != "var-file" {
			return nil
		}
		return found.add("", flag, value)
	})
	return found.variables, err
}

// eachArgument calls use for each flag, without its dashes, up to a "--". The value of a flag that takes none is "",
// unless it has one after an equals sign.
func eachArgument(args []string, use func(flag, value string) error) error {
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		name, value, hasValue := strings.Cut(args[i], "=")
		name, isFlag := strings.CutPrefix(name, "-")
		name = strings.TrimPrefix(name, "-")
		if !isFlag {
			continue
		}
		if !hasValue && slices.Contains(valueFlags, name) {
			if i++; i == len(args) {
				return fmt.Errorf("-%s needs a value", name)
			}
			value = args[i]
		}
		if err := use(name, value); err != nil {
			return err
		}
	}
	return nil
}

const reattachVar = "TF_REATTACH_PROVIDERS"

// reattached returns the providers for which stock tools use processes that the user has started. An address without a
// host is that of either registry.
func reattached(env func(string) string) ([]addrs.Provider, error) {
	text := env(reattachVar)
	if text == "" {
		return nil, nil
	}
	var processes map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &processes); err != nil {
		return nil, usageError{fmt.Errorf("%s is not a JSON object with an entry for each provider", reattachVar)}
	}
	var found []addrs.Provider
	for _, name := range slices.Sorted(maps.Keys(processes)) {
		for _, host := range []addrs.Hostname{addrs.DefaultRegistryHost, addrs.TerraformRegistryHost} {
			provider, err := (addrs.Parser{DefaultRegistryHost: host}).ParseProviderSource(name)
			if err != nil {
				return nil, usageError{fmt.Errorf("%s: %w", reattachVar, err)}
			}
			if !slices.Contains(found, provider) {
				found = append(found, provider)
			}
		}
	}
	return found, nil
}

// warnUnmanaged names the providers of [reattached].
func (o *output) warnUnmanaged(all []addrs.Provider) {
	var names []string
	for _, p := range all {
		if name := p.ForDisplay(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		o.warnf("%s is set, so these providers are neither installed, locked nor checked: %s", reattachVar, strings.Join(names, ", "))
	}
}

// enforced reports whether a variable of tofu is set as tofu requires.
func enforced(env func(string) string, name string) bool { return env(name) == "true" }

// warnIgnored warns about arguments for init that a run does not follow.
func (o *output) warnIgnored(cmd *invocation, args stockArguments, dialect installer.Dialect) {
	const validation = "OPENTOFU_ENFORCE_GPG_VALIDATION"
	if enforced(o.Env, validation) && dialect != installer.DialectTerraform {
		o.warnf("%s is set, which Cotter does not follow: providers of registry.opentofu.org for which it has no keys are accepted", validation)
	}
	for _, ignored := range args.ignored {
		switch {
		case ignored.flag == "from-module":
			o.warnf("%s has -from-module, which Cotter does not follow: it installs the modules of the configuration that is here", ignored.variable)
		case ignored.flag == "get":
			if cmd.String("only") != "providers" {
				o.warnf("%s has -get=false, which Cotter does not follow: it installs the modules, unless --only providers leaves them out", ignored.variable)
			}
		case !cmd.Bool("upgrade"):
			o.warnf("%s has -%s, which Cotter does not follow: locked versions stay until `cotter update` or --upgrade\nWith it, tofu and terraform fetch all modules again, regardless of the lock.", ignored.variable, ignored.flag)
		}
	}
}
