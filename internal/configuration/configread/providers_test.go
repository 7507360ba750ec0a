package configread_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/testenv"
)

// requirementsOf describes the requirements of a directory, one per line: the address with "~"
// for the default host, the constraint, "implied", and the place. Diagnostics follow as "error:
// SUMMARY" with their places.
func requirementsOf(t testing.TB, reader configread.Reader, files string) string {
	t.Helper()
	found := requirementsIn(t, reader, files, func(_, text string) string { return text })
	if diff := cmp.Diff(found, requirementsIn(t, reader, files, enlarged)); diff != "" {
		t.Errorf("small and large files differ (-small +large):\n%s", diff)
	}
	return found
}

func requirementsIn(t testing.TB, reader configread.Reader, files string, change func(name, text string) string) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range txtar.Parse([]byte(files)).Files {
		testenv.WriteFile(t, filepath.Join(dir, file.Name), change(filepath.Base(file.Name), string(file.Data)))
	}
	reader.Providers = true
	m, diags := reader.Read(t.Context(), configread.Dir{Path: dir, Display: ".", Tests: "tests"})
	if diags.HasErrors() {
		t.Fatalf("Read of %s: %v", files, diags)
	}
	var out strings.Builder
	for _, p := range m.Providers {
		address := p.Provider.String()
		for _, host := range []string{"registry.opentofu.org/", "registry.terraform.io/"} {
			address = strings.Replace(address, host, "~/", 1)
		}
		out.WriteString(address)
		if p.Constraint != "" {
			fmt.Fprintf(&out, " %s", p.Constraint)
		}
		if p.Implied {
			out.WriteString(" implied")
		}
		fmt.Fprintf(&out, " by %s at %s\n", p.By, short(&p.Range))
	}
	for _, diag := range m.ProviderDiagnostics {
		kind := "error"
		if diag.Severity != 1 {
			kind = "warning"
		}
		fmt.Fprintf(&out, "%s: %s at %s\n", kind, diag.Summary, short(diag.Subject))
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func mainFile(text string) string { return "-- main.tf --\n" + text }

func required(entries, more string) string {
	return mainFile("terraform {\n  required_providers {\n" + entries + "\n  }\n}\n" + more)
}

// Cases whose names begin with the same number test variants of one rule.
var providerCases = []struct{ name, files, want string }{
	{"1 object", required(`x = { source = "acme/x", version = "~> 1.0" }`, ""), "~/acme/x ~> 1.0 by required_providers at main.tf:3,1"},
	{"2 string", required(`null = "~> 1.0"`, ""), "~/hashicorp/null ~> 1.0 by required_providers at main.tf:3,1"},
	{"3 no source", required(`null = { version = "~> 1.0" }`, ""), "~/hashicorp/null ~> 1.0 by required_providers at main.tf:3,1"},
	{"3 empty", required(`null = {}`, ""), "~/hashicorp/null by required_providers at main.tf:3,1"},
	{"4 number", required(`x = 1`, ""), "~/hashicorp/x 1 by required_providers at main.tf:3,1"},
	{
		"6 implied", mainFile("resource \"null_resource\" \"a\" {}\ndata \"null_data_source\" \"b\" {}\nephemeral \"random_password\" \"c\" {}\n"),
		"~/hashicorp/null implied by resource null_resource.a at main.tf:1,1\n~/hashicorp/random implied by ephemeral random_password.c at main.tf:3,1",
	},
	{"6 in a check", mainFile("check \"x\" {\n  data \"http_get\" \"b\" {}\n}\n"), "~/hashicorp/http implied by data http_get.b at main.tf:2,3"},
	{"7 provider block", mainFile("provider \"aws\" {}\nprovider \"aws\" {\n  alias = \"west\"\n}\n"), `~/hashicorp/aws implied by provider "aws" at main.tf:1,1`},
	{
		"8 version", required(`aws = ">= 1.0"`, "provider \"aws\" {\n  version = \"~> 2.0\"\n}\n"),
		"~/hashicorp/aws >= 1.0 by required_providers at main.tf:3,1\n~/hashicorp/aws ~> 2.0 by provider \"aws\" at main.tf:6,1",
	},
	{
		"8 version without entry", mainFile("provider \"aws\" {\n  version = \"~> 2.0\"\n}\n"),
		"~/hashicorp/aws implied by provider \"aws\" at main.tf:1,1\n~/hashicorp/aws ~> 2.0 implied by provider \"aws\" at main.tf:1,1",
	},
	{"9 provider argument", mainFile("resource \"aws_a\" \"x\" {\n  provider = other\n}\n"), "~/hashicorp/other implied by resource aws_a.x at main.tf:1,1"},
	{"9 alias", mainFile("resource \"aws_a\" \"x\" {\n  provider = other.west\n}\n"), "~/hashicorp/other implied by resource aws_a.x at main.tf:1,1"},
	{"9 quoted", mainFile("resource \"aws_a\" \"x\" {\n  provider = \"other.west\"\n}\n"), "~/hashicorp/other implied by resource aws_a.x at main.tf:1,1"},
	{"9 instance", mainFile("resource \"aws_a\" \"x\" {\n  provider = other.by_region[each.key]\n}\n"), "~/hashicorp/other implied by resource aws_a.x at main.tf:1,1"},
	{
		"9 instance in JSON", "-- main.tf.json --\n" + `{"resource": {"aws_a": {"x": {"provider": "other.b[each.key]"}}}, "data": {"aws_d": {"x": {"provider": "third.b[\"k\"]"}}},
"ephemeral": {"aws_e": {"x": {"provider": "fourth.b[each.value.x]"}}}}`,
		"~/hashicorp/other implied by resource aws_a.x at main.tf.json:1,30\n~/hashicorp/third implied by data aws_d.x at main.tf.json:1,91\n" +
			"~/hashicorp/fourth implied by ephemeral aws_e.x at main.tf.json:2,30",
	},
	{"9 instance without alias", mainFile("resource \"aws_a\" \"x\" {\n  provider = other[each.key]\n}\n"), "error: Invalid provider reference at main.tf:2,14"},
	{"9 not a reference", mainFile("resource \"aws_a\" \"x\" {\n  provider = 1 + 1\n}\n"), "error: Invalid provider reference at main.tf:2,14"},
	{"10 entry", required(`foo = { source = "acme/bar" }`, "resource \"foo_thing\" \"a\" {}\n"), "~/acme/bar by required_providers at main.tf:3,1"},
	{
		"11 other type", required(`foo = { source = "acme/bar" }`, "resource \"bar_thing\" \"a\" {}\n"),
		"~/acme/bar by required_providers at main.tf:3,1\n~/hashicorp/bar implied by resource bar_thing.a at main.tf:6,1",
	},
	{
		"12 types", mainFile("resource \"foo\" \"a\" {}\nresource \"AWS_a\" \"a\" {}\n"),
		"~/hashicorp/foo implied by resource foo.a at main.tf:1,1\n~/hashicorp/aws implied by resource AWS_a.a at main.tf:2,1",
	},
	{"13 provider function", mainFile("output \"a\" {\n  value = provider::x::f()\n}\n"), ""},
	{"14 built in", mainFile("resource \"terraform_data\" \"a\" {}\ndata \"terraform_remote_state\" \"a\" {}\n"), ""},
	{"15 built in", required(`terraform = { source = "terraform.io/builtin/terraform" }`, ""), ""},
	{"15 no source", required(`terraform = {}`, ""), ""},
	{"16 version", required(`terraform = { source = "terraform.io/builtin/terraform", version = "1.0.0" }`, ""), "error: Invalid version constraint at main.tf:3,68"},
	{"16 string", required(`terraform = "~> 1.0"`, ""), "error: Invalid version constraint at main.tf:3,13"},
	{"17 unknown built in", required(`foo = { source = "terraform.io/builtin/foo" }`, ""), "error: Invalid provider address at main.tf:3,1"},
	{"18 of opentofu", required(`terraform = { source = "opentofu.org/builtin/terraform" }`, ""), ""},
	{"19 ordinary", required(`terraform = { source = "hashicorp/terraform" }`, "resource \"terraform_data\" \"a\" {}\n"), "~/hashicorp/terraform by required_providers at main.tf:3,1"},
	{"19 one part", required(`terraform = { source = "terraform" }`, ""), "~/hashicorp/terraform by required_providers at main.tf:3,1"},
	{"20 nothing", mainFile("terraform {\n  provider_meta \"foo\" {}\n}\nmoved {\n  from = a_b.c\n  to   = a_b.d\n}\nremoved {\n  from = e_f.g\n}\n"), ""},
	{"27 aliases", required(`x = {
  source                = "acme/x"
  configuration_aliases = [x.a, x.b]
}`, ""), "~/acme/x by required_providers at main.tf:3,1"},
	{
		"28 two in a file", required("a = {}", "terraform {\n  required_providers {\n    b = {}\n  }\n}\n"),
		"~/hashicorp/a by required_providers at main.tf:3,1\nerror: Duplicate required_providers block at main.tf:7,3",
	},
	{
		"28 two files", "-- a.tf --\nterraform {\n  required_providers {\n    a = {}\n  }\n}\n" + required("b = {}", ""),
		"~/hashicorp/a by required_providers at a.tf:3,5\nerror: Duplicate required_providers block at main.tf:2,3",
	},
	{
		"29 two names", required("a = { source = \"acme/x\", version = \"> 1.0\" }\nb = { source = \"Acme/X\", version = \"< 2.0\" }", ""),
		"~/acme/x > 1.0 by required_providers at main.tf:3,1\n~/acme/x < 2.0 by required_providers at main.tf:4,1\nwarning: Duplicate provider at main.tf:4,1",
	},
	{
		"30 override", required("a = { source = \"acme/a\", version = \"1.0.0\" }\nb = \"1.0.0\"", "") +
			"-- x_override.tf --\nterraform {\n  required_providers {\n    a = { source = \"other/a\" }\n    c = {}\n  }\n}\n",
		"~/hashicorp/b 1.0.0 by required_providers at main.tf:4,1\n~/other/a by required_providers at x_override.tf:3,5\n~/hashicorp/c by required_providers at x_override.tf:4,5",
	},
	{
		"30 blocks", mainFile("provider \"aws\" {\n  version = \"1.0.0\"\n}\nresource \"aws_a\" \"x\" {}\nresource \"b_c\" \"x\" {}\n") +
			"-- override.tf --\nprovider \"aws\" {\n  version = \"2.0.0\"\n}\nresource \"b_c\" \"x\" {\n  provider = d\n}\nresource \"aws_a\" \"x\" {}\n",
		"~/hashicorp/aws implied by provider \"aws\" at main.tf:1,1\n~/hashicorp/aws 2.0.0 implied by provider \"aws\" at main.tf:1,1\n~/hashicorp/d implied by resource b_c.x at main.tf:5,1",
	},
	{"31 import", mainFile("import {\n  to = aws_a.x\n  id = \"1\"\n}\n"), "~/hashicorp/aws implied by import aws_a.x at main.tf:1,1"},
	{"31 import with provider", mainFile("import {\n  to       = aws_a.x[each.key]\n  provider = other.west\n}\n"), "~/hashicorp/other implied by import aws_a.x at main.tf:1,1"},
	{
		"31 import with resource", mainFile("import {\n  to = aws_a.x\n}\nresource \"aws_a\" \"x\" {\n  provider = other\n}\n"),
		"~/hashicorp/aws implied by import aws_a.x at main.tf:1,1\n~/hashicorp/other implied by resource aws_a.x at main.tf:4,1",
	},
	{
		"31 import in JSON", "-- main.tf.json --\n" + `{"import": [{"to": "aws_a.x[each.key]"}, {"to": "foo_a.x[each.key]", "provider": "other.b[each.key]"}, {"to": "data.dns_a.x"}]}`,
		"~/hashicorp/aws implied by import aws_a.x at main.tf.json:1,12\n~/hashicorp/dns implied by import dns_a.x at main.tf.json:1,12\n" +
			"~/hashicorp/other implied by import foo_a.x at main.tf.json:1,12",
	},
	{"32 import into a module", mainFile("import {\n  to = module.c[each.key].aws_a.x[\"a\"]\n}\n"), "~/hashicorp/aws implied by import aws_a.x at main.tf:1,1"},
	{"34 prefix", required(`x = { source = "terraform-provider-x" }`, ""), "error: Provider that cannot be locked at main.tf:3,1"},
	{"34 prefix in a name", mainFile("resource \"opentofu-x_y\" \"a\" {}\n"), "error: Provider that cannot be locked at main.tf:1,1"},
	{"34 legacy", required(`x = { source = "-/x" }`, ""), "error: Legacy provider address at main.tf:3,1"},
	{"35 test file", mainFile("") + "-- tests/a.tftest.hcl --\nprovider \"tst\" {}\nmock_provider \"mock\" {}\n", "~/hashicorp/tst implied by test file tests/a.tftest.hcl at tests/a.tftest.hcl:1,1"},
	{
		"35 version", required(`tst = ">= 1.0"`, "") + "-- a.tftest.hcl --\nprovider \"tst\" {\n  version = \"< 2.0\"\n}\n",
		"~/hashicorp/tst < 2.0 by test file a.tftest.hcl at a.tftest.hcl:1,1\n~/hashicorp/tst >= 1.0 by required_providers at main.tf:3,1",
	},
	{"an action", mainFile("action \"aws_a\" \"x\" {}\n"), ""},
	{
		"36 run", mainFile("") + "-- a.tftest.hcl --\nmock_provider \"mock\" {}\nrun \"r\" {\n  module {\n    source = \"./m\"\n  }\n}\n", "",
	},
	{
		"37 JSON", "-- main.tf.json --\n" + `{"terraform": {"required_providers": {"x": {"source": "acme/x", "version": "~> 1.0"}, "null": "~> 2.0"}},
"resource": {"foo_a": {"b": {"provider": "other.west"}, "c": {}}}, "provider": {"aws": [{"version": "1.0.0"}]}}`,
		"~/acme/x ~> 1.0 by required_providers at main.tf.json:1,39\n~/hashicorp/null ~> 2.0 by required_providers at main.tf.json:1,87\n" +
			"~/hashicorp/other implied by resource foo_a.b at main.tf.json:2,29\n~/hashicorp/foo implied by resource foo_a.c at main.tf.json:2,62\n" +
			"~/hashicorp/aws implied by provider \"aws\" at main.tf.json:2,88\n~/hashicorp/aws 1.0.0 implied by provider \"aws\" at main.tf.json:2,88",
	},
	{"38 underscore", required(`my_prov = { source = "acme/x" }`, ""), "error: Invalid provider name at main.tf:3,1"},
	{"38 upper case", required(`AWS = {}`, ""), "error: Invalid provider name at main.tf:3,1"},
	{"38 upper case string", required(`AWS = "~> 1.0"`, ""), "~/hashicorp/aws ~> 1.0 by required_providers at main.tf:3,1"},
	{"39 variable", required(`x = { source = var.s }`, ""), "error: Invalid required_providers entry at main.tf:3,16"},
	{"39 version", required(`x = { source = "acme/x", version = var.v }`, ""), "error: Invalid required_providers entry at main.tf:3,36"},
	{"39 function", required(`x = { source = "acme/x", version = format("1") }`, ""), "error: Invalid required_providers entry at main.tf:3,36"},
	{"39 template", required(`x = { "source" = "acme/${"x"}", "version" = "${"1.0"}" }`, ""), "~/acme/x 1.0 by required_providers at main.tf:3,1"},
	{"40 unknown key", required(`x = { source = "acme/x", versions = "1.0" }`, ""), "~/acme/x by required_providers at main.tf:3,1\nerror: Invalid required_providers entry at main.tf:3,26"},
	{"40 list", required(`x = ["acme/x"]`, ""), "error: Invalid required_providers entry at main.tf:3,5"},
	{"40 null", required(`x = null`, ""), "error: Invalid required_providers entry at main.tf:3,5"},
	{"42 both", required("a = { source = \"hashicorp/null\" }\nb = { source = \"opentofu/null\" }", ""), "~/hashicorp/null by required_providers at main.tf:3,1\n~/opentofu/null by required_providers at main.tf:4,1"},
	{"43 .tofu", mainFile("provider \"a\" {}\n") + "-- main.tofu --\nprovider \"b\" {}\n", `~/hashicorp/b implied by provider "b" at main.tofu:1,1`},
	{"a bad source", required(`x = { source = "a/b/c/d" }`, "resource \"x_y\" \"z\" {}\n"), "error: Invalid provider source at main.tf:3,16"},
	{"a bad version", required(`x = { version = ">= 1.0," }`, ""), "~/hashicorp/x by required_providers at main.tf:3,1\nerror: Invalid version constraint at main.tf:3,17"},
	{"an empty version", required(`x = { version = "" }`, ""), "~/hashicorp/x by required_providers at main.tf:3,1\nerror: Invalid version constraint at main.tf:3,17"},
	{"a file with calls", mainFile("module \"m\" {\n  source = \"./m\"\n}\nresource \"foo_a\" \"b\" {}\n"), "~/hashicorp/foo implied by resource foo_a.b at main.tf:4,1"},
	{"a syntax error", mainFile("resource \"foo_a\" \"b\" {\n  x = \n}\nresource \"foo_a\" {}\n"), "~/hashicorp/foo implied by resource foo_a.b at main.tf:1,1\nerror: Missing name for resource at main.tf:4,18"},
}

func TestProviderRequirements(t *testing.T) {
	t.Parallel()
	for _, test := range providerCases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, requirementsOf(t, configread.Reader{}, test.files)); diff != "" {
				t.Errorf("requirements (-want +got):\n%s\nof\n%s", diff, test.files)
			}
		})
	}
}

// Cases in which Terraform differs from OpenTofu.
func TestProviderRequirementsOfTerraform(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, files, want string }{
		{"18 of opentofu", required(`terraform = { source = "opentofu.org/builtin/terraform" }`, ""), "opentofu.org/builtin/terraform by required_providers at main.tf:3,1"},
		{"31 import with resource", mainFile("import {\n  to = aws_a.x\n}\nresource \"aws_a\" \"x\" {\n  provider = other\n}\n"), "~/hashicorp/other implied by resource aws_a.x at main.tf:4,1"},
		{"31 import", mainFile("import {\n  to = aws_a.x\n}\n"), "~/hashicorp/aws implied by import aws_a.x at main.tf:1,1"},
		{"an action", mainFile("action \"aws_a\" \"x\" {}\n"), "~/hashicorp/aws implied by action aws_a.x at main.tf:1,1"},
		{"32 import into a module", mainFile("import {\n  to = module.c.aws_a.x\n}\n"), ""},
		{"31 import in JSON", "-- main.tf.json --\n" + `{"import": [{"to": "aws_a.x[each.key]"}]}`, "~/hashicorp/aws implied by import aws_a.x at main.tf.json:1,12"},
		{"9 instance", mainFile("resource \"aws_a\" \"x\" {\n  provider = other.b[each.key]\n}\n"), "error: Invalid provider reference at main.tf:2,14"},
		{"35 test file", mainFile("") + "-- tests/a.tftest.hcl --\nprovider \"tst\" {}\n", ""},
		{"35 declared", required(`tst = { source = "acme/tst" }`, "") + "-- tests/a.tftest.hcl --\nprovider \"tst\" {}\n", "~/acme/tst by required_providers at main.tf:3,1"},
		{"43 .tofu", mainFile("provider \"a\" {}\n") + "-- main.tofu --\nprovider \"b\" {}\n", `~/hashicorp/a implied by provider "a" at main.tf:1,1`},
		{"a prefix", required(`x = { source = "acme/opentofu-x" }`, ""), "~/acme/opentofu-x by required_providers at main.tf:3,1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, requirementsOf(t, configread.Reader{Terraform: true}, test.files)); diff != "" {
				t.Errorf("requirements (-want +got):\n%s\nof\n%s", diff, test.files)
			}
		})
	}
}
