package cliconfig_test

import (
	"errors"
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

// TestFaults checks that errors in files have a place and quote nothing.
func TestFaults(t *testing.T) {
	t.Parallel()
	const block = "\"reg.example.com\" {\n"
	for name, test := range map[string]struct {
		text string
		line int
	}{
		"syntax":             {"credentials " + block + "  token = " + canary + "\n", 2},
		"no end":             {"credentials " + block + "  token = \"" + canary + "\n}\n", 2},
		"label":              {"\n\ncredentials {\n  token = \"" + canary + "\"\n}\n", 4},
		"no block":           {"credentials = \"" + canary + "\"", 1},
		"host":               {"credentials \"no host\" {\n  token = \"" + canary + "\"\n}\n", 1},
		"punycode":           {"host \"xn--bcher-kva.example\" {\n services = {}\n}", 1},
		"no services":        {"host " + block + "}\n", 1},
		"services":           {"host " + block + " services = \"" + canary + "\"\n}\n", 2},
		"nesting":            {"\nx = " + strings.Repeat("[", 10_000), 2},
		"json":               {`{"credentials": {"reg.example.com": {"token": ` + canary + `}}}`, 1},
		"json nesting":       {strings.Repeat(`{"a":`, 10_000), 1},
		"helper":             {"credentials_helper \"../" + "x\" {}", 1},
		"empty helper":       {"credentials_helper \"\" {}", 1},
		"two helpers":        {"credentials_helper \"a\" {}\ncredentials_helper \"b\" {}", 2},
		"helper args":        {"credentials_helper \"a\" {\n args = \"" + canary + "\"\n}", 1},
		"retries":            {"registry_protocols {\n retry_count = \"" + canary + "\"\n}", 1},
		"negative":           {"registry_protocols {\n retry_count = -1\n}", 1},
		"too many retries":   {"registry_protocols {\n retry_count = 101\n}", 1},
		"fraction":           {"registry_protocols {\n request_timeout_seconds = 0.5\n}", 1},
		"two registry":       {"registry_protocols {}\nregistry_protocols {}", 2},
		"oci label":          {"oci_credentials \"https://r.com\" {\n username = \"u\"\n password = \"" + canary + "\"\n}", 1},
		"oci path":           {"oci_credentials \"r.com/Team\" {\n username = \"u\"\n password = \"" + canary + "\"\n}", 1},
		"oci empty":          {"oci_credentials \"r.com\" {}", 1},
		"oci half":           {"oci_credentials \"r.com\" {\n password = \"" + canary + "\"\n}", 1},
		"oci half tokens":    {"oci_credentials \"r.com\" {\n access_token = \"" + canary + "\"\n}", 1},
		"oci mixed":          {"oci_credentials \"r.com\" {\n access_token = \"x\"\n refresh_token = \"x\"\n username = \"u\"\n}", 1},
		"oci number":         {"oci_credentials \"r.com\" {\n username = \"u\"\n password = 1234\n}", 1},
		"oci twice":          {strings.Repeat("oci_credentials \"r.com\" { docker_credentials_helper = \"x\" }\n", 2), 2},
		"oci helper path":    {"oci_credentials \"r.com/a\" { docker_credentials_helper = \"x\" }", 1},
		"oci helper name":    {"oci_credentials \"r.com\" { docker_credentials_helper = \"../x\" }", 1},
		"defaults twice":     {"oci_default_credentials {}\noci_default_credentials {}", 2},
		"defaults value":     {"oci_default_credentials = \"" + canary + "\"", 1},
		"defaults helper":    {"oci_default_credentials { docker_credentials_helper = \"\" }", 1},
		"defaults bool":      {"oci_default_credentials { discover_ambient_credentials = \"" + canary + "\" }", 1},
		"defaults files":     {"oci_default_credentials { docker_style_config_files = \"" + canary + "\" }", 1},
		"defaults, contrary": {"oci_default_credentials {\n discover_ambient_credentials = false\n docker_style_config_files = []\n}", 1},
	} {
		dir := home(t, map[string]string{".tofurc": test.text})
		config, diags := loadAll(t.Context(), cliconfig.Environment{Home: dir, Variables: []string{"TF_TOKEN_reg_example_com=kept"}}, cliconfig.Options{})
		check(t, name, diags)
		for _, diag := range diags {
			if diag.Subject == nil || diag.Subject.Start.Line != test.line || !strings.HasSuffix(diag.Subject.Filename, ".tofurc") {
				t.Errorf("%s: the place is %v, want line %d", name, diag.Subject, test.line)
			}
		}
		if got := tokenFor(t, config, host); got != "kept" {
			t.Errorf("%s: the token from the environment is %q", name, got)
		}
	}
}

func TestFileLimit(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	text := credentials("x")
	dir := home(t, map[string]string{".tofurc": text + strings.Repeat("#", limit-len(text))})
	if got := tokenFor(t, load(t, cliconfig.Environment{Home: dir}), host); got != "x" {
		t.Errorf("a file of the largest size gives the token %q", got)
	}
	dir = home(t, map[string]string{".tofurc": text + strings.Repeat("#", limit+1-len(text))})
	_, diags := loadAll(t.Context(), cliconfig.Environment{Home: dir}, cliconfig.Options{})
	check(t, "a larger file", diags)
}

func TestForeignBlocks(t *testing.T) {
	t.Parallel()
	text := "plugin_cache_dir = \"$HOME/.cache\"\ndisable_checkpoint = true\n" +
		"provider_installation {\n  filesystem_mirror {\n    path = \"/usr/share\"\n    include = [\"example.com/*/*\"]\n  }\n  direct {}\n}\n" +
		"providers {\n  privatecloud = \"/path\"\n}\n" + credentials("x")
	if got := tokenFor(t, load(t, cliconfig.Environment{Home: home(t, map[string]string{".tofurc": text})}), host); got != "x" {
		t.Errorf("the token is %q, want x", got)
	}
}

func FuzzLoad(f *testing.F) {
	for _, src := range []string{
		credentials("x"), `{"credentials": {"reg.example.com": {"token": "x"}}}`, "host \"a.b\" {\n services = { \"modules.v1\" = \"x\" }\n}\n",
		helperBlock, "registry_protocols {\n retry_count = 1\n request_timeout_seconds = \"2\"\n}",
		"oci_credentials \"r.com/a\" {\n username = \"u\"\n password = \"p\"\n}", "oci_default_credentials {\n docker_style_config_files = [\"x\"]\n}",
		"a = <<-X\n y\n X\n", `a = "${b}\x41"`, "a = [1, {b = 2}, [3]] # c", "/* */ a {}", "a.b-c = -1.5e+3", `{"host": {"h.com": [{"services": {"b": ["c", 1, null, true]}}]}}`,
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		config, diags := loadAll(t.Context(), cliconfig.Environment{Home: home(t, map[string]string{".tofurc": string(src)})}, cliconfig.Options{})
		if config == nil {
			t.Fatalf("Load returned no configuration and %v", diags)
		}
		if config.Attempts < 0 || config.Timeout < 0 {
			t.Errorf("Load: attempts %d, timeout %s", config.Attempts, config.Timeout)
		}
	})
}

func TestLoadNamesAllFaults(t *testing.T) {
	t.Parallel()
	dir := home(t, map[string]string{".tofurc": "plugin_cache_dir = 1\n", ".terraform.d/a.tfrc": "plugin_cache_dir = 2\n", ".terraform.d/b.tfrc": "host = {\n"})
	config, err := cliconfig.Environment{Home: dir}.Load(t.Context(), cliconfig.Options{})
	var faults hcl.Diagnostics
	if !errors.As(err, &faults) || len(faults) < 3 || config == nil {
		t.Fatalf("Load = %v, %v, want 3 faults and a configuration", config, err)
	}
	for _, name := range []string{".tofurc", "a.tfrc", "b.tfrc"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error does not name %s: %s", name, err)
		}
	}
}
