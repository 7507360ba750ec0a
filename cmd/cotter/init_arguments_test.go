package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSharedFlags checks that Cotter parses the arguments of the stock tools' init as these
// tools do.
func TestSharedFlags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		env  map[string]string
		args []string
		want sharedFlags
	}{
		{args: nil},
		{args: []string{"-backend=false", "-input=false", "-migrate-state", "-get=false"}},
		{args: []string{"-upgrade"}, want: sharedFlags{{"upgrade", "true", false}}},
		{args: []string{"--upgrade=false"}, want: sharedFlags{{"upgrade", "false", false}}},
		{args: []string{"-lockfile=readonly"}, want: sharedFlags{{"lockfile", "readonly", false}}},
		{args: []string{"-lockfile", "readonly", "-json"}, want: sharedFlags{{"lockfile", "readonly", false}, {"json", "true", false}}},
		{args: []string{"-var", "a=-upgrade", "-var=b=c=d"}, want: sharedFlags{{"var", "a=-upgrade", false}, {"var", "b=c=d", false}}},
		{args: []string{"-var-file", "-upgrade"}, want: sharedFlags{{"var-file", "-upgrade", false}}},
		{args: []string{"-var="}, want: sharedFlags{{"var", "", false}}},
		{args: []string{"-upgradeX", "---upgrade", "upgrade", "-", "--"}},
		{
			env:  map[string]string{"TF_CLI_ARGS": "-json -no-color", "TF_CLI_ARGS_init": "-plugin-dir='/a b'", "TF_CLI_ARGS_get": "-upgrade"},
			args: []string{"-upgrade"},
			want: sharedFlags{{"plugin-dir", "/a b", true}, {"json", "true", true}, {"upgrade", "true", false}},
		},
	} {
		got, err := readSharedFlags(func(name string) string { return test.env[name] }, test.args)
		if err != nil {
			t.Errorf("%q: %v", test.args, err)
		}
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(sharedFlag{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.args, diff)
		}
	}
	for _, args := range [][]string{{"-var"}, {"-upgrade", "-lockfile"}} {
		if got, err := readSharedFlags(func(string) string { return "" }, args); err == nil {
			t.Errorf("%q: %v", args, got)
		}
	}
}
