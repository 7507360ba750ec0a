package cliconfig_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/cliconfig"
)

// TestSyntax reads syntax of HCL 1 that HCL 2 does not have. The stock tools use the same
// parser.
func TestSyntax(t *testing.T) {
	t.Parallel()
	const open, end = `credentials "reg.example.com" { token = `, " }"
	for text, want := range map[string]string{
		open + `"x"` + end: "x",
		"# c\n// d\n/* e */" + open + `"x" /* e */` + end: "x",
		"a = ": "",
		strings.ReplaceAll(credentials("x"), "\n", "\r\n"):                                     "x",
		`"credentials" "reg.example.com" { "token" = "x" }`:                                    "x",
		`credentials = { reg.example.com { token = "x", } }`:                                   "x",
		`a = 1, b = [true, -2.5, 1e9, {}], ` + open + `"x"` + end:                              "x",
		open + `"a", token = "x"` + end:                                                        "x",
		open + `"tr\"ue\\ \u00e9 \x41\n"` + end:                                                "tr\"ue\\ é A\n",
		open + `"${b("c")} ${"{}"} $$ {x}"` + end:                                              `${b("c")} ${"{}"} $$ {x}`,
		open + "<<EOF\nx\n  y\nEOF\n" + end:                                                    "x\n  y\n",
		open + "<<-EOF\n  x\n    y\n  EOF\n" + end:                                             "x\n  y\n",
		open + `true` + end:                                                                    "",
		open + `1` + end:                                                                       "",
		`bücher = 1 ` + open + `"x"` + end:                                                     "x",
		`{"credentials": {"reg.example.com": {"token": "x"}}}`:                                 "x",
		"\r\n{\"a\": [true, 1], \"credentials\": [{\"reg.example.com\": {\"token\": \"x\"}}]}": "x",
		`{"credentials": {"reg.example.com": {"token": "\u003cx\n"}}}`:                         "<x\n",
		`{"credentials": {"reg.example.com": {"token": null}}}`:                                "",
	} {
		config, diags := loadAll(t.Context(), cliconfig.Environment{Home: home(t, map[string]string{".tofurc": text})}, cliconfig.Options{})
		if got := tokenFor(t, config, host); got != want || diags.HasErrors() {
			t.Errorf("%q: the token is %q, want %q; %v", text, got, want, diags)
		}
	}
}

// TestSyntaxErrors checks that syntax errors have a place and quote nothing.
func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	const brackets = 2000
	for text, want := range map[string]hcl.Pos{
		"a = " + canary:                           {Line: 1, Column: 5},
		"a = upper(\"" + canary + "\")":           {Line: 1, Column: 5},
		"\n\n  a = " + canary:                     {Line: 3, Column: 7},
		"a = 1\n}":                                {Line: 2, Column: 1},
		"a {\n b = 1\n":                           {Line: 3, Column: 2},
		"a \"" + canary + "\" = 1":                {Line: 1, Column: 17},
		"a\n":                                     {Line: 2, Column: 1},
		"\xef\xbb\xbfa = 1":                       {Line: 1, Column: 1},
		`{"a": [null]}`:                           {Line: 1, Column: 1},
		strings.Repeat("a = 1\n", 20_000):         {Line: 1, Column: 1},
		"a = [1 2]":                               {Line: 1, Column: 8},
		"a = [":                                   {Line: 1, Column: 6},
		"a = \"" + canary + "\nb\"":               {Line: 2, Column: 3},
		"a = \"" + canary:                         {Line: 1, Column: 17},
		"a = \"" + canary + "${\"":                {Line: 1, Column: 20},
		"a = \"" + canary + `\q"`:                 {Line: 1, Column: 18},
		`a = "\`:                                  {Line: 1, Column: 8},
		"a = <<EOF\n" + canary:                    {Line: 2, Column: 12},
		"a = < 1":                                 {Line: 1, Column: 6},
		"/* " + canary:                            {Line: 1, Column: 15},
		"a = 'b'":                                 {Line: 1, Column: 5},
		"\x00":                                    {Line: 1, Column: 1},
		"\xff = 1":                                {Line: 1, Column: 1},
		"1 = 2":                                   {Line: 1, Column: 1},
		"= 2":                                     {Line: 1, Column: 1},
		"a = " + strings.Repeat("[", brackets+1):  {Line: 1, Column: 5 + brackets},
		"a = " + strings.Repeat("[", brackets):    {Line: 1, Column: 6},
		strings.Repeat("a {\n", brackets+1):       {Line: brackets + 1, Column: 3},
		strings.Repeat("a {\n", brackets):         {Line: brackets + 1, Column: 2},
		"{\n\"a\": " + canary + "}":               {Line: 2, Column: 6},
		"{\"a\": \"\\/" + canary + "\"}":          {Line: 1, Column: 1},
		strings.Repeat("{\"a\":\n", brackets+1):   {Line: brackets + 1, Column: 1},
		"{\"a\":\n" + strings.Repeat("x", 10_000): {Line: 2, Column: 1},
	} {
		short := text[:min(len(text), 30)]
		_, diags := loadAll(t.Context(), cliconfig.Environment{Home: home(t, map[string]string{".tofurc": text})}, cliconfig.Options{})
		check(t, short, diags)
		for _, diag := range diags {
			if diag.Subject == nil || diag.Subject.Start != want {
				t.Errorf("%q: %v at %v, want it at %v", short, diag.Detail, diag.Subject, want)
			}
		}
	}
}
