package main

import (
	"strings"
	"testing"
)

// TestWrongCommandLines checks the messages for mistakes in command lines. The exit status
// is 2.
func TestWrongCommandLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ line, want string }{
		{"instal", "unknown command \"instal\"\n\nDid you mean `cotter install`?"},
		{"outdatde", "unknown command \"outdatde\"\n\nDid you mean `cotter outdated`?"},
		{"frobnicate", "unknown command \"frobnicate\"\n\nRun `cotter --help` to see the commands."},
		{"get", "unknown command \"get\"\n\nRun `cotter install`."},
		{"upgrade", "unknown command \"upgrade\"\n\nRun `cotter update`."},
		{"check", "unknown command \"check\"\n\nRun `cotter verify` to compare what is installed, or `cotter lock --check` to compare the lock with the configuration."},
		{"ls", "unknown command \"ls\"\n\nRun `cotter tree`."},
		{"restore", "unknown command \"restore\"\n\nRun `cotter install`, or `cotter lock --offline` to put back entries of the lock and change nothing else."},
		{"vendor", "unknown command \"vendor\"\n\nUse `cotter bundle create` or `cotter mirror push` for machines without network, and a `replace` block in cotter.hcl for a module in a directory of your repository."},
		{"cache szie", "unknown command \"szie\"\n\nDid you mean `cotter cache size`?"},
		{"isntall --locked", "unknown command \"isntall\"\n\nDid you mean `cotter install`?"},
		{"hepl", "unknown command \"hepl\"\n\nDid you mean `cotter help`?"},
		{"bundle help create", "unknown command \"help\"\n\nRun `cotter bundle --help` to see the commands."},
		{"version", "unknown command \"version\"\n\nRun `cotter --version`."},
		{"bundle nosuch --help", "unknown command \"nosuch\"\n\nRun `cotter bundle --help` to see the commands."},
		{"--help nosuch", "unknown command \"nosuch\"\n\nRun `cotter --help` to see the commands."},
		{"help bundle nosuch", "there is no command \"cotter bundle nosuch\""},

		{"install --lockd", "there is no flag --lockd\n\nDid you mean --locked?"},
		{"install --upgrad", "there is no flag --upgrad\n\nDid you mean --upgrade?"},
		{"install --frozen-lockfile", "there is no flag --frozen-lockfile\n\nDid you mean --locked?"},
		{"install --frozen", "there is no flag --frozen\n\nDid you mean --locked?"},
		{"-V", "there is no flag -V\n\nDid you mean --version?"},
		{"install -V", "there is no flag -V\n\nRun `cotter --version`."},
		{"install --lokfile=readonly", "there is no flag --lokfile\n\nRun `cotter install --help` to see the flags."},
		{"verify --locked", "there is no flag --locked\n\nRun `cotter verify --help` to see the flags."},
		{"--chdr x install", "there is no flag --chdr\n\nDid you mean --chdir?"},
		{"tree --nosuch", "there is no flag --nosuch\n\nRun `cotter tree --help` to see the flags."},
		{"install -palicy=a", "there is no flag --palicy\n\nDid you mean --policy?"},
		{"tree --nosuch --help", "there is no flag --nosuch\n\nRun `cotter tree --help` to see the flags."},
		{"--nosuch install", "there is no flag --nosuch\n\nRun `cotter --help` to see the flags."},
		{"init -backend=false", "there is no flag --backend; put arguments for tofu or terraform after --, as in `cotter init -- -backend=false`\n\nRun `cotter init --help` to see the flags."},

		{"tree --for", "--for needs a value: TOOL"},
		{"--chdir", "--chdir needs a value: DIR"},
		{"init --for", "--for needs a value: TOOL; put arguments for tofu or terraform after --, as in `cotter init -- -backend=false`"},

		{"outdated --json=maybe", "--json takes true or false, got \"maybe\""},
		{"outdated -q=maybe", "--quiet takes true or false, got \"maybe\""},
		{"install --locked=a\"b", "--locked takes true or false, got \"a\\\"b\""},
		{"install -var " + secret, "-var takes NAME=VALUE, with a name and a \"=\""},
		{"init -- -var " + secret, "-var takes NAME=VALUE, with a name and a \"=\""},
		{"cache clean --older-than soon", "--older-than takes a time such as 30d or 12h, got \"soon\""},
		{"tree --format gif", "--format takes text, json, dot, html or mermaid, got \"gif\""},
		{"tree --out tree.png", "--out tree.png: no format has the ending \".png\"\n\nAdd `--format` with one of: text, json, dot, html, mermaid."},
		{"tree --recursive --out tree.html", "--format html is for one project"},

		{"tree a b", "cotter tree takes one key, source address or provider, got a and b"},
		{"diff a b c", "cotter diff takes at most two locks: files, directories or git revisions\n\nFor example, `cotter diff HEAD` shows what has changed since the last commit."},
		{"bundle create", "bundle create needs --out FILE"},
		{"bundle verify", "cotter bundle verify takes one file"},
		{"mirror push", "cotter mirror push needs the address of a mirror, as in oci://registry.example.com/modules"},
		{"merge-lock a b c", "unknown command \"merge-lock\"\n\nRemove `merge=cotter` from .gitattributes, and merge again: `cotter install` resolves what git leaves as a conflict in the lock."},
		{"cache dir extra", "cotter cache dir takes no argument, got \"extra\""},
		{"cache dir -- --json", "cotter cache dir takes no argument, got \"--json\""},
	} {
		var output strings.Builder
		status := run(t.Context(), append([]string{"cotter"}, strings.Fields(test.line)...), &output, &output)
		if got, want := output.String(), "Error: "+test.want+"\n"; status != exitUsage || got != want {
			t.Errorf("cotter %s: status %d\n%s\nwant\n%s", test.line, status, got, want)
		}
	}
}
