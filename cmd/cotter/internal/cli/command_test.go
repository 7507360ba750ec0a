package cli_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

func TestTree(t *testing.T) {
	t.Parallel()
	root := program()
	box := root.Sub("box")
	get := box.Sub("get")
	if get.FullName() != "tool box get" || get.Parent() != box || get.Root() != root || root.Parent() != nil || box.Sub("nosuch") != nil {
		t.Errorf("the tree is wrong at %q", get.FullName())
	}
	var visible, flags []string
	for _, sub := range box.VisibleCommands() {
		visible = append(visible, sub.Name)
	}
	for flag := range get.AllFlags() {
		flags = append(flags, flag.Name)
	}
	if diff := cmp.Diff([]string{"get"}, visible); diff != "" {
		t.Errorf("visible commands (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"all", "dir", "quiet"}, flags); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	if get.Flag("q") != root.Flag("quiet") || get.Flag("version") != nil || root.Flag("all") != nil {
		t.Error("a flag is known where it should not be, or is not known where it should be")
	}
}

func TestValueName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flag cli.Flag
		want string
	}{
		{cli.Flag{Type: cli.String, Usage: "write to `FILE`"}, "FILE"},
		{cli.Flag{Type: cli.String, Usage: "work in `DIR`, as `tool get` does"}, "DIR"},
		{cli.Flag{Type: cli.String, Usage: "write"}, ""},
		{cli.Flag{Usage: "work as `tool get` does"}, ""},
	} {
		if got := test.flag.ValueName(); got != test.want {
			t.Errorf("%q has the value %q, want %q", test.flag.Usage, got, test.want)
		}
	}
}
