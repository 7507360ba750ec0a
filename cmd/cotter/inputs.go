package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/cotterpin/cotter"
)

// configFlags are those of every command that reads configuration, under the
// names that they have in stock tools.
func configFlags(more ...cli.Flag) []cli.Flag {
	given := new([]cotter.Variable)
	return projectFlags(append([]cli.Flag{
		&cli.GenericFlag{Name: "var", Usage: "set a variable that a source or a version depends on, as `NAME=VALUE`", Value: &assignments{given: given}},
		&cli.GenericFlag{Name: "var-file", Usage: "set the variables in `FILE`", Value: &assignments{given: given, files: true}},
		&cli.StringFlag{Name: "test-directory", Usage: "look for tests in `DIR`, whose modules are installed too", Value: "tests"},
	}, more...)...)
}

// assignments are the values of one of the flags -var and -var-file. Both add
// to one list, because the later one counts.
type assignments struct {
	given *[]cotter.Variable
	files bool
}

// Set is called for each flag, in their order.
func (a *assignments) Set(text string) error {
	if a.files {
		*a.given = append(*a.given, cotter.Variable{File: text})
		return nil
	}
	name, value, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return fmt.Errorf("-var takes NAME=VALUE, with a name and a \"=\"")
	}
	*a.given = append(*a.given, cotter.Variable{Name: name, Value: value})
	return nil
}

// Get is the list of both flags.
func (a *assignments) Get() any { return *a.given }

// String is empty: a default that help would show. The values may be secret.
func (a *assignments) String() string { return "" }

// setInputs adds what flags and environment say about the configuration's
// variables to a request. Of two values for one variable the later one counts,
// so those of the command line come last.
func setInputs(cmd *cli.Command, env func(string) string, req *cotter.Request) error {
	var err error
	if req.Inputs.Variables, err = variablesFromEnv(env); err != nil {
		return err
	}
	given, _ := cmd.Value("var").([]cotter.Variable)
	req.Inputs.Variables = append(req.Inputs.Variables, given...)
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
