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
	for _, flag := range get.AllFlags() {
		flags = append(flags, flag.Names()...)
	}
	if diff := cmp.Diff([]string{"get"}, visible); diff != "" {
		t.Errorf("visible commands (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"all", "dir", "quiet", "q"}, flags); diff != "" {
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

func TestLinkPanics(t *testing.T) {
	t.Parallel()
	for name, root := range map[string]*cli.Command{
		"two flags":               {Flags: []*cli.Flag{{Name: "a"}, {Name: "a"}}},
		"a short name":            {Flags: []*cli.Flag{{Name: "all", Short: "a"}, {Name: "a"}}},
		"a flag of the parent":    {Flags: []*cli.Flag{{Name: "a"}}, Commands: []*cli.Command{{Name: "get", Flags: []*cli.Flag{{Name: "a"}}}}},
		"two commands":            {Commands: []*cli.Command{{Name: "get"}, {Name: "get"}}},
		"two commands below":      {Commands: []*cli.Command{{Name: "box", Commands: []*cli.Command{{Name: "get"}, {Name: "get"}}}}},
		"a flag of a grandparent": {Flags: []*cli.Flag{{Name: "a"}}, Commands: []*cli.Command{{Name: "box", Commands: []*cli.Command{{Name: "get", Flags: []*cli.Flag{{Name: "a"}}}}}}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			cli.Link(root)
		}()
	}
	local := &cli.Command{Flags: []*cli.Flag{{Name: "a", Local: true}}, Commands: []*cli.Command{{Name: "get", Flags: []*cli.Flag{{Name: "a"}}}}}
	cli.Link(local) // does not panic
}
