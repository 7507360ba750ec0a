package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer/config"
)

func TestArgumentsFromEnv(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		env  map[string]string
		want []config.Variable
	}{
		{"nothing", nil, nil},
		{"other flags", map[string]string{"TF_CLI_ARGS": "-no-color -input=false -parallelism 3", "TF_CLI_ARGS_init": "-backend-config=var -upgrade"}, nil},
		{"one dash", map[string]string{"TF_CLI_ARGS": "-var a=1 -var=b=2"}, []config.Variable{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}}},
		{"two dashes", map[string]string{"TF_CLI_ARGS": "--var a=1 --var=b=2"}, []config.Variable{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}}},
		{"files", map[string]string{"TF_CLI_ARGS_init": "-var-file a.tfvars --var-file='b c.tfvars'"}, []config.Variable{{File: "a.tfvars"}, {File: "b c.tfvars"}}},
		{"between other flags", map[string]string{"TF_CLI_ARGS_get": `-update -var "a=x y" -no-color`}, []config.Variable{{Name: "a", Value: "x y"}}},
		{"tree", map[string]string{"TF_CLI_ARGS": `-var 'a=["x", "y"]'`}, []config.Variable{{Name: "a", Value: `["x", "y"]`}}},
		{"empty value", map[string]string{"TF_CLI_ARGS": `-var a=`}, []config.Variable{{Name: "a"}}},
		// The order is that of terraform's log for a subcommand.
		{"order", map[string]string{"TF_CLI_ARGS": "-var a=3", "TF_CLI_ARGS_get": "-var a=2", "TF_CLI_ARGS_init": "-var a=1", "TF_CLI_ARGS_plan": "-var a=0"},
			[]config.Variable{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}, {Name: "a", Value: "3"}}},
		{"no more flags", map[string]string{"TF_CLI_ARGS": "-var a=1 -- -var b=2"}, []config.Variable{{Name: "a", Value: "1"}}},
	} {
		got, err := argumentsFromEnv(func(name string) string { return test.env[name] })
		if diff := cmp.Diff(test.want, got.variables); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", test.name, err, diff)
		}
	}
}

func TestArgumentsFromEnvOther(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want stockArguments
	}{
		{"-plugin-dir a -plugin-dir='b c'", stockArguments{pluginDirs: []string{"a", "b c"}}},
		{"--test-directory=checks", stockArguments{testDir: "checks"}},
		{"-test-directory -upgrade", stockArguments{testDir: "-upgrade"}},
		{"-lockfile=readonly", stockArguments{lockMode: "readonly", lockModeIn: "TF_CLI_ARGS_init"}},
		{"-backend-config -upgrade -lock-timeout -update", stockArguments{}},
		{"-upgrade -update=false -from-module ./x", stockArguments{ignored: []ignoredArgument{{"upgrade", "TF_CLI_ARGS_init"}, {"from-module", "TF_CLI_ARGS_init"}}}},
		{"-upgrade=true", stockArguments{ignored: []ignoredArgument{{"upgrade", "TF_CLI_ARGS_init"}}}},
		{"-- -upgrade", stockArguments{}},
		{"-reconfigure -input=false -backend=false -get=true -get -json -no-color", stockArguments{}},
		{"-get=false", stockArguments{ignored: []ignoredArgument{{"get", "TF_CLI_ARGS_init"}}}},
	} {
		got, err := argumentsFromEnv(func(name string) string { return map[string]string{"TF_CLI_ARGS_init": test.text}[name] })
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(stockArguments{}, ignoredArgument{})); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", test.text, err, diff)
		}
	}
}

// TestArgumentsFromEnvFail checks that errors name the environment variable and never
// contain its value.
func TestArgumentsFromEnvFail(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"open quote":     `-var "a=` + secret,
		"last backslash": `-var a=` + secret + `\`,
		"no value":       `-var a=` + secret + ` -var-file`,
		"no name":        `-var ` + secret,
	} {
		_, err := argumentsFromEnv(func(name string) string { return map[string]string{"TF_CLI_ARGS_init": text}[name] })
		if err == nil || !strings.Contains(err.Error(), "TF_CLI_ARGS_init") || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want an error that names the variable only", name, err)
		}
	}
}
