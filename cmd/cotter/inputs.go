package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// configFlags returns the flags of every command that reads configuration, followed by more.
// The flags have the same names as in stock tools.
func configFlags(more ...*cli.Flag) []*cli.Flag {
	return projectFlags(append([]*cli.Flag{
		{Name: "var", Type: cli.String, Usage: "set a variable that a source or a version depends on, as `NAME=VALUE`", Check: checkAssignment},
		{Name: "var-file", Type: cli.String, Usage: "set the variables in `FILE`"},
		{Name: "test-directory", Type: cli.String, Usage: "look for tests in `DIR`; their modules are installed too", Default: "tests"},
	}, more...)...)
}

// parseVariable parses a value of the flag -var or -var-file.
func parseVariable(flag, value string) (cotter.Variable, error) {
	if flag == "var-file" {
		return cotter.Variable{File: value}, nil
	}
	name, value, ok := strings.Cut(value, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return cotter.Variable{}, fmt.Errorf("-var takes NAME=VALUE, with a name and a \"=\"")
	}
	return cotter.Variable{Name: name, Value: value}, nil
}

// checkAssignment returns an error if a value of -var is not an assignment. The error does
// not contain the value, which may be secret.
func checkAssignment(value string) error {
	_, err := parseVariable("var", value)
	return err
}

// setInputs sets the inputs of a request from the flags and the environment: variables,
// workspace and test directory. If a variable has several values, the last one is used, so
// the values from the command line come last.
func setInputs(cmd *cli.Invocation, env func(string) string, req *cotter.Request) error {
	var err error
	if req.Inputs.Variables, err = variablesFromEnv(env); err != nil {
		return err
	}
	for _, given := range cmd.Given("var", "var-file") {
		set, err := parseVariable(given.Name, given.Value)
		if err != nil {
			return usageError{err}
		}
		req.Inputs.Variables = append(req.Inputs.Variables, set)
	}
	req.Inputs.TestDir = cmd.String("test-directory")
	req.Inputs.Workspace = env("TF_WORKSPACE")
	req.Inputs.Environment = make(map[string]string)
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if name, ok := strings.CutPrefix(name, "TF_VAR_"); ok {
			req.Inputs.Environment[name] = value
		}
	}
	return nil
}
