package main

import (
	"io"
	"strings"
	"testing"
)

// TestWrongCommandLines checks the messages for mistakes in command lines. The exit status
// is 2.
func TestWrongCommandLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ line, want string }{
		{"isntall --locked", "unknown command \"isntall\"\n\nDid you mean `cotter install`?"},
		{"hepl", "unknown command \"hepl\"\n\nDid you mean `cotter help`?"},
		{"bundle nosuch --help", "unknown command \"nosuch\"\n\nRun `cotter bundle --help` to see the commands."},
		{"--help nosuch", "unknown command \"nosuch\"\n\nRun `cotter --help` to see the commands."},
		{"help bundle nosuch", "there is no command \"cotter bundle nosuch\""},

		{"tree --nosuch", "there is no flag --nosuch\n\nRun `cotter tree --help` to see the flags."},
		{"install -palicy=a", "there is no flag --palicy\n\nDid you mean --policy?"},
		{"tree --nosuch --help", "there is no flag --nosuch\n\nRun `cotter tree --help` to see the flags."},
		{"--json version", "there is no flag --json\n\nRun `cotter --help` to see the flags."},
		{"init -backend=false", "there is no flag --backend; put arguments for tofu or terraform after --, as in `cotter init -- -backend=false`\n\nRun `cotter init --help` to see the flags."},

		{"tree --for", "--for needs a value: TOOL"},
		{"--chdir", "--chdir needs a value: DIR"},
		{"init --for", "--for needs a value: TOOL; put arguments for tofu or terraform after --, as in `cotter init -- -backend=false`"},

		{"version --json=maybe", "--json takes true or false, got \"maybe\""},
		{"version -q=maybe", "--quiet takes true or false, got \"maybe\""},
		{"install --locked=a\"b", "--locked takes true or false, got \"a\\\"b\""},
		{"install -var " + secret, "-var takes NAME=VALUE, with a name and a \"=\""},
		{"init -- -var " + secret, "-var takes NAME=VALUE, with a name and a \"=\""},

		{"version extra", "cotter version takes no argument, got \"extra\""},
		{"version -- --json", "cotter version takes no argument, got \"--json\""},
	} {
		var stderr strings.Builder
		status := run(t.Context(), append([]string{"cotter"}, strings.Fields(test.line)...), io.Discard, &stderr)
		if got, want := stderr.String(), "Error: "+test.want+"\n"; status != exitUsage || got != want {
			t.Errorf("cotter %s: status %d\n%s\nwant\n%s", test.line, status, got, want)
		}
	}
}
