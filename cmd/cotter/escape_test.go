package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/internal/text/sanitize"
	"github.com/cotterpin/cotter/modtest"
)

// payloads returns texts that control terminals or imitate a line of the output.
func payloads() []string {
	return []string{
		"\x1b[2J", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "\x1b]52;c;ZXZpbA==\x07", "\x1bP+q\x1b\\", "\x1b[6n", "\x1bc", "\u009b2J", "\u009d0;x\u009c", "\x07", "\b\b\b", "\r",
		"\x7f", "\x00", "\v", "\f", "\n\nError: forged", "\r\nforged", "\u2028forged", "\u2029forged", "\u0085forged", "\u202e", "\u2066\u2069", "\u200f", "\u061c", "\u200b", "\ufeff", "\u00ad", "\U000e0041", "\xff\xfe", "\xc2", "\xed\xa0\x80", "\t",
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for _, payload := range payloads() {
		foreign := "a" + payload + "b"
		for what, text := range map[string]string{
			"Escape":      sanitize.Escape(foreign),
			"string":      view.Escapef("- %s", foreign),
			"error":       view.Escapef("- %s", os.NewSyscallError(foreign, os.ErrInvalid)),
			"EscapeLines": strings.ReplaceAll(strings.ReplaceAll(sanitize.EscapeLines(foreign), "\n", ""), "\t", ""),
			"indentation": strings.ReplaceAll(strings.ReplaceAll(view.Indented(foreign), "\n  ", ""), "\t", ""),
		} {
			if i := strings.IndexFunc(text, harmful); i >= 0 {
				t.Errorf("%s of %q is %q", what, foreign, text)
			}
		}
		if strings.HasPrefix(payload, "\n") && strings.Contains(view.Indented(foreign), "\nError") {
			t.Errorf("indented(%q) = %q", foreign, view.Indented(foreign))
		}
	}
	if text := "ä日本 \U0001f600 ├── \"\\"; sanitize.Escape(text) != text {
		t.Errorf("sanitize.Escape(%q) = %q", text, sanitize.Escape(text))
	}
}

// harmful reports whether a character must not appear in any output. It deliberately does
// not use the implementation's own check.
func harmful(r rune) bool {
	return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar
}

func TestEscapeJSON(t *testing.T) {
	t.Parallel()
	for _, payload := range payloads() {
		var stdout strings.Builder
		out := &output{stdout: &stdout}
		want := records.Warning{Message: strings.ToValidUTF8(payload, "\ufffd")}
		testenv.Must(t, out.writeJSON(records.Warning{Message: payload}))
		line, _ := strings.CutSuffix(stdout.String(), "\n")
		if strings.ContainsFunc(line, harmful) {
			t.Errorf("writeJSON(%q) writes %q", payload, line)
		}
		var got records.Warning
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Errorf("writeJSON(%q) writes %q: %v", payload, line, err)
		} else if diff := cmp.Diff(want, got); diff != "" && !strings.ContainsRune(want.Message, '\ufffd') {
			t.Errorf("writeJSON(%q) (-want +got):\n%s", payload, diff)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, payload := range payloads() {
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, foreign string) {
		if text := view.Escapef("%s", foreign); strings.ContainsFunc(text, harmful) {
			t.Errorf("%q is printed as %q", foreign, text)
		}
		encoded, err := json.Marshal(foreign)
		testenv.Must(t, err)
		var want, got string
		escaped := view.EscapeJSON(string(encoded))
		if strings.ContainsFunc(escaped, harmful) {
			t.Errorf("%q is encoded as %q", foreign, escaped)
		}
		if json.Unmarshal(encoded, &want) != nil || json.Unmarshal([]byte(escaped), &got) != nil || got != want {
			t.Errorf("%q is encoded as %q, which means %q", foreign, escaped, got)
		}
	})
}

// TestForeignText puts escape sequences into every text from outside that Cotter may print.
func TestForeignText(t *testing.T) {
	t.Parallel()
	const evil = "\x1b]52;c;eA==\x07\x1b[2J\u202e\u009b31m"
	tree := fstest.MapFS{
		"registry/acme/net/aws/1.0.0/main.tf":  {Data: []byte("module \"x\" {\n  source = \"./sub\\nError: forged\\u001b[2J\"\n}\n")},
		"registry/acme/tree/aws/1.0.0/main.tf": {Data: []byte("module \"x\" {\n  source = \"./a\"\n")},
		"archives/name.zip/" + evil + ".tf":    {},
		"archives/name.tar.gz/a\nforged":       {},
		"archives/ok.zip/main.tf":              {},
		"git/net.git/v1.0.0\u202e/main.tf":     {},
		"git/net.git/1.0.0-\u200b/main.tf":     {},
		"files/page":                           {Data: []byte("<meta name=\"terraform-get\" content=\"ftp://\u202e\u009b2J" + "/\x1b[2J\">")},
	}
	world := modtest.New(t, tree)
	world.SetFaults(
		modtest.Fault{Path: "/v1/modules/acme/teapot/", Status: 418, Body: evil + "\nError: forged"},
		modtest.Fault{Path: "/v1/modules/acme/versions/", Status: 200, Body: `{"modules":[{"versions":[{"version":"1.0.0-\u001b[2J"},{"version":"2.0.0"},{"version":"\u202e"}]}]}`},
		modtest.Fault{Path: "/v1/modules/acme/json/", Status: 200, Body: `{"modules":` + evil},
		modtest.Fault{Path: "/v1/modules/acme/header/aws/versions", Status: 200, Body: `{"modules":[{"versions":[{"version":"1.0.0"}]}]}`},
		modtest.Fault{Path: "/v1/modules/acme/header/", Status: 204, Header: http.Header{"X-Terraform-Get": {"git::https://\u202e" + evil}}},
		modtest.Fault{Path: "/archives/redirect.zip", Status: 302, Header: http.Header{"Location": {"https://x\u009b2J/" + evil}}},
		modtest.Fault{Path: "/git/sideband.git", Status: 403, Body: evil + "\nfatal: forged"},
	)
	sources := []string{
		"MODTEST_HOST/acme/net/aws", "MODTEST_HOST/acme/tree/aws", "MODTEST_HOST/acme/teapot/aws", "MODTEST_HOST/acme/versions/aws", "MODTEST_HOST/acme/json/aws", "MODTEST_HOST/acme/header/aws",
		"https://MODTEST_HOST/archives/name.zip", "https://MODTEST_HOST/archives/name.tar.gz", "https://MODTEST_HOST/archives/redirect.zip", "https://MODTEST_HOST/files/page",
		"git::https://MODTEST_HOST/git/net.git?ref=v1.0.0", "git::https://MODTEST_HOST/git/sideband.git", "./a\\nError: forged\\u001b[2J\\u202e", "https://h.example/\\u001b[2J", "a\\u202e/b/c", "git::https://MODTEST_HOST/git/net.git//x\\nforged?ref=v1.0.0",
	}
	var config strings.Builder
	for i, source := range sources {
		config.WriteString("module \"m" + string(rune('a'+i)) + "\" {\n  source = \"" + source + "\"\n}\n")
	}
	s := newSite(t, world, "TF_REGISTRY_DISCOVERY_RETRY=0")
	s.write(t, "main.tf", config.String())
	for _, args := range [][]string{{"install"}, {"install", "--offline"}, {"tree"}, {"tree", "--out", "tree.html"}, {"outdated"}, {"install", evil}, {"tree", evil}} {
		checkPrinted(t, s, args...)
	}
	s.write(t, "main.tf", "module \"a\x1b[2J\" {\n  source = \"./x\"\n  \x1b]52\n}\n")
	checkPrinted(t, s, "install")
	s.write(t, "main.tf", "module \"net\" {\n  source = \"https://MODTEST_HOST/archives/ok.zip\"\n}\n")
	checkPrinted(t, s, "install")
	s.write(t, ".terraform/modules/net/\x1b[2J\nError: forged.tf", "")
	checkPrinted(t, s, "verify")
	s.write(t, ".terraform/modules/modules.json", `{"Modules":[{"Key":"net","Source":"\u001b[2J\nError: forged","Dir":"\u202e"}]}`)
	checkPrinted(t, s, "tree")
	s.write(t, ".terraform.lock.hcl", "module \"a\\u001b[2J\" {\n  source = \"\\u202e\"\n version = \"\x1b[2J\"\n}\n")
	checkPrinted(t, s, "install")
}

// TestCommandsOfBuildServers calls directories and modules as build servers write commands.
func TestCommandsOfBuildServers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("file names on Windows have no colons")
	}
	s := newSite(t, modtest.New(t, fstest.MapFS{"archives/ok.zip/main.tf": {}}))
	names := []string{"::add-mask::x", "::error file=a::x", " ::warning::x", "\u00a0::notice::x", "##[group]x", "a ##[error]x", "##vso[task.complete]x", "##teamcity[x]"}
	for _, name := range names {
		s.write(t, filepath.Join(name, "main.tf"), "module \"net\" {\n  source = \"https://MODTEST_HOST/archives/ok.zip\"\n}\nmodule \"own\" {\n  source = \"./"+name+"\"\n}\n")
		s.write(t, filepath.Join(name, name, name+".tf"), "locals {}\n")
		s.write(t, filepath.Join("broken", name, "main.tf"), "module \""+name+"\" {\n}\n")
	}
	command := regexp.MustCompile(`(?m)^[\pZ\s]*::|##(\[|vso\[|teamcity\[)`)
	run := func(args ...string) {
		end, err := warm.do(workerCommand{Dir: s.project, Env: s.environment(), Args: args}) // some of these commands fail
		testenv.Must(t, err)
		text := string(end.Out)
		if args[0] != "--chdir" && !regexp.MustCompile(`add-mask|error|group|vso`).MatchString(text) {
			t.Errorf("cotter %q prints no name:\n%s", args, text)
		}
		if found := command.FindAllString(text, -1); found != nil {
			t.Errorf("cotter %q prints the commands %q:\n%s", args, found, text)
		}
	}
	for _, args := range [][]string{
		{"install", "--recursive"}, {"install", "--recursive", "--json"}, {"verify", "--recursive"}, {"tree", "--recursive"}, {"tree", "--recursive", "--json"},
		{"sbom", "--recursive"}, {"lock", "--check", "--recursive"}, {"--chdir", names[0], "tree", names[1]}, {names[0]}, {"--" + names[4]},
	} {
		run(args...)
	}
	for _, name := range names {
		for _, args := range [][]string{{"install"}, {"tree"}, {"tree", "--json"}, {"tree", "--format", "dot"}, {"sbom"}, {"verify"}} {
			run(append([]string{"--chdir", s.locate(name)}, args...)...)
		}
	}
}

// checkPrinted runs the command with text and with JSON output, and checks each line.
func checkPrinted(t *testing.T, s *site, args ...string) {
	t.Helper()
	for _, format := range []string{"--no-color", "--json"} {
		end, err := warm.do(workerCommand{Dir: s.project, Env: s.environment(), Args: append(args, format)})
		testenv.Must(t, err)
		if len(end.Out) == 0 {
			t.Errorf("cotter %s prints nothing", args)
		}
		for line := range strings.Lines(string(end.Out)) {
			line = strings.TrimSuffix(line, "\n")
			forged := strings.HasPrefix(line, "Error: forged") || strings.HasPrefix(line, "forged")
			if forged || strings.ContainsFunc(strings.ReplaceAll(line, "\t", ""), harmful) {
				t.Errorf("cotter %s %s prints %q", args, format, line)
			}
		}
	}
}

// A cell of a Markdown table ends at a "|" with an even number of backslashes before it.
func TestMarkdownCell(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a|b": "`a\\|b`", "a`b": "`a'b`", `a\|b`: "`a\\ \\|b`", `a\\|b`: "`a\\\\ \\|b`", "a\nb": "`a\\nb`", `a\`: "`a\\`",
	} {
		if got := markdownCell(text); got != want {
			t.Errorf("markdownCell(%q) = %q, want %q", text, got, want)
		}
	}
}
