package cli_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// program returns the commands that these tests use.
func program() *cli.Command {
	return cli.Link(&cli.Command{
		Name: "tool",
		Flags: []*cli.Flag{
			{Name: "dir", Type: cli.String},
			{Name: "quiet", Short: "q"},
			{Name: "version", Local: true},
		},
		Commands: []*cli.Command{
			{Name: "get", Flags: []*cli.Flag{
				{Name: "json"},
				{Name: "age", Type: cli.Int, Usage: "skip what is newer than `DAYS`"},
				{Name: "for", Type: cli.String, Default: "auto"},
				{Name: "only", Type: cli.Strings},
				{Name: "policy", Type: cli.String, Env: "CLI_TEST_POLICY"},
				{Name: "var", Type: cli.String, Check: func(value string) error {
					if !strings.Contains(value, "=") {
						return errors.New("no assignment")
					}
					return nil
				}},
			}},
			{Name: "box", Commands: []*cli.Command{{Name: "get", Flags: []*cli.Flag{{Name: "all"}}}, {Name: "put", Hidden: true}}},
			{Name: "raw", Raw: true},
		},
	})
}

// flags returns the result of [cli.Invocation.Given] for these names and values.
func flags(namesAndValues ...string) []cli.Given {
	var list []cli.Given
	for pair := range slices.Chunk(namesAndValues, 2) {
		list = append(list, cli.Given{Name: pair[0], Value: pair[1]})
	}
	return list
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line    string
		command string
		flags   []cli.Given
		args    []string
	}{
		{line: "", command: "tool"},
		{line: "get", command: "tool get"},
		{line: "get a b", command: "tool get", args: []string{"a", "b"}},
		{line: "box", command: "tool box"},
		{line: "box get a", command: "tool box get", args: []string{"a"}},
		{line: "box put", command: "tool box put"}, // hidden
		{line: "get get box", command: "tool get", args: []string{"get", "box"}},

		// One dash or two.
		{line: "get -json", command: "tool get", flags: flags("json", "true")},
		{line: "get --json", command: "tool get", flags: flags("json", "true")},
		{line: "get -q", command: "tool get", flags: flags("quiet", "true")},
		{line: "get --q", command: "tool get", flags: flags("quiet", "true")},

		// Values.
		{line: "get -for tofu", command: "tool get", flags: flags("for", "tofu")},
		{line: "get --for=tofu", command: "tool get", flags: flags("for", "tofu")},
		{line: "get -for=a=b", command: "tool get", flags: flags("for", "a=b")},
		{line: "get -for= a", command: "tool get", flags: flags("for", ""), args: []string{"a"}},
		{line: "get -for -json", command: "tool get", flags: flags("for", "-json")},
		{line: "get -for -- -json", command: "tool get", flags: flags("for", "--", "json", "true")},
		{line: "get -age -3", command: "tool get", flags: flags("age", "-3")},
		{line: "get -age=0x10", command: "tool get", flags: flags("age", "0x10")},
		{line: "get -json=false", command: "tool get", flags: flags("json", "false")},
		{line: "get -json=", command: "tool get", flags: flags("json", "true")},
		{line: "get -json false", command: "tool get", flags: flags("json", "true"), args: []string{"false"}},
		{line: "get -var a=1", command: "tool get", flags: flags("var", "a=1")},

		// Repeated flags.
		{line: "get -for a --for=b", command: "tool get", flags: flags("for", "a", "for", "b")},
		{line: "get -only a,b -for x -only c", command: "tool get", flags: flags("only", "a,b", "for", "x", "only", "c")},

		// Flags can be anywhere, and the flags of a command can follow its subcommands.
		{line: "get a -json b --for=c d", command: "tool get", flags: flags("json", "true", "for", "c"), args: []string{"a", "b", "d"}},
		{line: "-q get", command: "tool get", flags: flags("quiet", "true")},
		{line: "-q box -q=false get -q", command: "tool box get", flags: flags("quiet", "true", "quiet", "false", "quiet", "true")},
		{line: "-dir get get", command: "tool get", flags: flags("dir", "get")},
		{line: "-version get", command: "tool get", flags: flags("version", "true")},

		// A "--" ends the flags of a command, but not those of its subcommands.
		{line: "get -- -json", command: "tool get", args: []string{"-json"}},
		{line: "get a -- b -- c", command: "tool get", args: []string{"a", "b", "--", "c"}},
		{line: "-- get -json", command: "tool get", flags: flags("json", "true")},

		// Arguments that are not flags.
		{line: "get -", command: "tool get", args: []string{"-"}},
		{line: "get -1 -json", command: "tool get", flags: flags("json", "true"), args: []string{"-1"}},
		{line: "get -=x", command: "tool get", args: []string{"-=x"}},
		{line: "raw", command: "tool raw"},
		{line: "-q raw -q -- --nosuch a", command: "tool raw", flags: flags("quiet", "true"), args: []string{"-q", "--", "--nosuch", "a"}},
	} {
		got, err := cli.Parse(program(), strings.Fields(test.line))
		if err != nil {
			t.Errorf("%q: %v", test.line, err)
			continue
		}
		if got.Command.FullName() != test.command {
			t.Errorf("%q is the command %q, want %q", test.line, got.Command.FullName(), test.command)
		}
		if diff := cmp.Diff(test.flags, got.Given(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q has other flags (-want +got):\n%s", test.line, diff)
		}
		if diff := cmp.Diff(test.args, got.Args(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q has other arguments (-want +got):\n%s", test.line, diff)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ line, command, want string }{
		{"nosuch", "tool", `unknown command "nosuch"`},
		{"nosuch --json", "tool", `unknown command "nosuch"`},
		{"-- -q", "tool", `unknown command "-q"`},
		{"box raw", "tool box", `unknown command "raw"`},

		{"--nosuch", "tool", "there is no flag --nosuch"},
		{"get -nosuch=x", "tool get", "there is no flag --nosuch"},
		{"get ---json", "tool get", "there is no flag --json"},
		{"get --=x", "tool get", "there is no flag --"},
		{"get -qq", "tool get", "there is no flag --qq"},
		{"-json get", "tool", "there is no flag --json"},           // of the subcommand
		{"get -version", "tool get", "there is no flag --version"}, // local
		{"get -all", "tool get", "there is no flag --all"},         // of another command

		{"get -for", "tool get", "--for needs a value"},
		{"-dir", "tool", "--dir needs a value"},

		{"get -json=yes", "tool get", `--json does not take "yes": strconv.ParseBool: parsing "yes": invalid syntax`},
		{"get -q=2", "tool get", `--q does not take "2": strconv.ParseBool: parsing "2": invalid syntax`},
		{"get -age 1.5", "tool get", `--age does not take "1.5": strconv.ParseInt: parsing "1.5": invalid syntax`},
		{"get -age=", "tool get", `--age does not take "": strconv.ParseInt: parsing "": invalid syntax`},
		{"get -age 99999999999999999999", "tool get", `--age does not take "99999999999999999999": strconv.ParseInt: parsing "99999999999999999999": value out of range`},
		{"get -var x", "tool get", `--var does not take "x": no assignment`},
	} {
		got, err := cli.Parse(program(), strings.Fields(test.line))
		if err == nil || err.Error() != test.want {
			t.Errorf("%q: %v, want %s", test.line, err, test.want)
		}
		if got.Command.FullName() != test.command {
			t.Errorf("%q ends at the command %q, want %q", test.line, got.Command.FullName(), test.command)
		}
	}
}

// TestParseBeforeError checks the part of the result that was parsed before a mistake.
func TestParseBeforeError(t *testing.T) {
	t.Parallel()
	got, err := cli.Parse(program(), []string{"get", "-json", "a", "-nosuch", "-q"})
	if err == nil || !got.Bool("json") || got.Bool("quiet") || got.Arg(0) != "a" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestValues(t *testing.T) {
	t.Setenv("CLI_TEST_POLICY", "from-environment")
	parse := func(line string) *cli.Invocation {
		inv, err := cli.Parse(program(), strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		return inv
	}
	for _, test := range []struct {
		line  string
		value func(*cli.Invocation) any
		want  any
	}{
		{"get", func(inv *cli.Invocation) any { return inv.String("for") }, "auto"},
		{"get -for a -for b", func(inv *cli.Invocation) any { return inv.String("for") }, "b"},
		{"get -for=", func(inv *cli.Invocation) any { return inv.String("for") }, ""},
		{"box get", func(inv *cli.Invocation) any { return inv.String("for") }, ""},
		{"get", func(inv *cli.Invocation) any { return inv.String("policy") }, "from-environment"},
		{"get -policy a", func(inv *cli.Invocation) any { return inv.String("policy") }, "a"},
		{"get -policy=", func(inv *cli.Invocation) any { return inv.String("policy") }, ""},
		{"get", func(inv *cli.Invocation) any { return inv.IsSet("policy") }, false},

		{"get", func(inv *cli.Invocation) any { return inv.Bool("json") }, false},
		{"get -json", func(inv *cli.Invocation) any { return inv.Bool("json") }, true},
		{"get -json -json=F", func(inv *cli.Invocation) any { return inv.Bool("json") }, false},
		{"get -json=false", func(inv *cli.Invocation) any { return inv.IsSet("json") }, true},
		{"-q get", func(inv *cli.Invocation) any { return inv.Bool("quiet") }, true},
		{"-version get", func(inv *cli.Invocation) any { return inv.Bool("version") }, true},

		{"get", func(inv *cli.Invocation) any { return inv.Int("age") }, 0},
		{"get -age 7", func(inv *cli.Invocation) any { return inv.Int("age") }, 7},
		{"get -age 0x10", func(inv *cli.Invocation) any { return inv.Int("age") }, 16},

		{"get", func(inv *cli.Invocation) any { return inv.Strings("only") }, []string(nil)},
		{"get -only a,b -only c", func(inv *cli.Invocation) any { return inv.Strings("only") }, []string{"a", "b", "c"}},
		{"get -only a,,b -only=", func(inv *cli.Invocation) any { return inv.Strings("only") }, []string{"a", "", "b", ""}},

		{"get -for x -var a=1 -json -for y", func(inv *cli.Invocation) any { return inv.Given("for", "var") }, flags("for", "x", "var", "a=1", "for", "y")},
		{"get a", func(inv *cli.Invocation) any { return inv.Arg(0) + inv.Arg(1) }, "a"},
		{"get a b", func(inv *cli.Invocation) any { return inv.NArg() }, 2},
	} {
		if diff := cmp.Diff(test.want, test.value(parse(test.line))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.line, diff)
		}
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	inv, err := cli.Parse(program(), []string{"get", "-for", "a"})
	if err != nil {
		t.Fatal(err)
	}
	if err := inv.Set("for", "b"); err != nil || inv.String("for") != "b" {
		t.Errorf("--for is %q: %v", inv.String("for"), err)
	}
	var invalid *cli.InvalidValueError
	if err := inv.Set("json", "maybe"); !errors.As(err, &invalid) || inv.IsSet("json") {
		t.Errorf("--json was set to something that is neither true nor false: %v", err)
	}
	var unknown *cli.UnknownFlagError
	if err := inv.Set("nosuch", "a"); !errors.As(err, &unknown) {
		t.Errorf("--nosuch was set: %v", err)
	}
}

// FuzzParse parses each command line twice, the second time with two dashes instead of one.
func FuzzParse(f *testing.F) {
	for _, line := range []string{
		"", "get a -json b", "-q box get -all=false", "get -for -- -x", "get -- -json", "get -only a,b -age 7 -var a=b", "raw -- -x", "-dir= get - -1", "get -ä=",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		one := strings.Split(line, " ")
		two := slices.Clone(one)
		for i, word := range one {
			if oneDash(word) {
				two[i] = "-" + word
			}
		}
		gotOne, errOne := cli.Parse(program(), one)
		gotTwo, errTwo := cli.Parse(program(), two)
		if typeOne, typeTwo := fmt.Sprintf("%T", errOne), fmt.Sprintf("%T", errTwo); typeOne != typeTwo {
			t.Errorf("%q: %v, and with two dashes %v", line, errOne, errTwo)
		}
		if diff := cmp.Diff(content(gotOne), content(gotTwo)); diff != "" {
			t.Errorf("%q differs with two dashes (-one +two):\n%s", line, diff)
		}
	})
}

// oneDash reports whether a word is a flag with one dash.
func oneDash(word string) bool {
	rest, ok := strings.CutPrefix(word, "-")
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && unicode.IsLetter(first)
}

// content returns the words of an invocation in a form in which one dash and two dashes are
// equal, because values and arguments can look like flags.
func content(inv *cli.Invocation) []string {
	words := append([]string{inv.Command.FullName()}, inv.Args()...)
	for _, g := range inv.Given() {
		words = append(words, g.Name, g.Value)
	}
	for i, word := range words {
		if shorter, ok := strings.CutPrefix(word, "-"); ok && oneDash(shorter) {
			words[i] = shorter
		}
	}
	return words
}
