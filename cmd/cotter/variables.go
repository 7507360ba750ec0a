package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mattn/go-shellwords"

	"github.com/cotterpin/cotter/installer/config"
)

// argumentVariables are those from which stock tools take arguments for init and get, in the order in which the
// tools insert them, before the command line's:
// https://opentofu.org/docs/cli/config/environment-variables/#tf_cli_args-and-tf_cli_args_name
var argumentVariables = []string{"TF_CLI_ARGS_init", "TF_CLI_ARGS_get", "TF_CLI_ARGS"}

// variablesFromEnv returns what -var and -var-file in the environment set. Other flags are for stock tools.
func variablesFromEnv(env func(string) string) ([]config.Variable, error) {
	var given []config.Variable
	for _, name := range argumentVariables {
		words, err := shellwords.Parse(env(name)) // as stock tools do
		if err != nil {
			err = errors.New("a quotation mark is not closed, a backslash is last, or there is a parenthesis outside of quotation marks")
		} else {
			given, err = appendVariables(given, words)
		}
		if err != nil { // the values may be secret
			return nil, usageError{fmt.Errorf("the environment variable %s: %w", name, err)}
		}
	}
	return given, nil
}

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
