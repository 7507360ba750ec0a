package configread_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/testenv"
)

const interfaceFiles = `
-- main.tf --
variable "name" {
  type = string
}
variable "zones" {
  type = map(object({ id = string, size = optional(number, 1) }))
  default = {}
}
variable "anything" {}
variable "broken" {
  type = lots(string)
}
variable "secret" {
  type      = "map"
  default   = { a = "x", /* b */ b = [1,
    2, ] }
  sensitive = true
  ephemeral = true
  nullable  = false
  deprecated = "Use name."
  validation {
    condition     = length(var.secret) > 1 && var.secret["a"] != "${"b"}"
    error_message = "Too short."
  }
}
output "id" {
  value      = var.name
  sensitive  = true
  deprecated = "Use other."
}
terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
      configuration_aliases = [aws.peer, aws.main]
    }
    null = "~> 3.0"
    random = {
      "version" = "3.0.0"
    }
  }
}
-- more.tf.json --
{"variable": {"json": {"type": "list(string)", "sensitive": true, "default": ["a", {"b": 1}]}}, "output": {"other": {"value": 1}},
"terraform": {"required_version": "< 2.0", "required_providers": {"tls": {"source": "hashicorp/tls"}}}}
-- main_override.tf --
variable "name" {
  default = "x"
}
-- wrong.tf --
variable {
-- old.txt --
variable "no" {}
`

func TestReadInterface(t *testing.T) {
	t.Parallel()
	got := interfaceOf(t, interfaceFiles)
	want := &configread.Interface{
		Variables: map[string]configread.DeclaredVariable{
			"name":     {Type: "string", Default: `"x"`},
			"zones":    {Type: "map(object({id = string, size = optional(number)}))", Default: "{}"},
			"anything": {Type: "any", Required: true},
			"broken":   {Type: "any", Required: true},
			"json":     {Type: "list(string)", Default: `["a", {"b": 1}]`, Sensitive: true},
			"secret": {
				Type: "map(any)", Default: `{a = "x", b = [1, 2]}`, NotNullable: true, Sensitive: true, Ephemeral: true, Deprecated: "Use name.",
				Validations: []string{`length(var.secret) > 1 && var.secret["a"] != "${"b"}"`},
			},
		},
		Outputs: map[string]configread.DeclaredOutput{"id": {Sensitive: true, Deprecated: "Use other."}, "other": {}},
		Providers: map[string]configread.DeclaredProvider{
			"aws":    {Source: "hashicorp/aws", Constraint: ">= 5.0", Aliases: []string{"aws.main", "aws.peer"}},
			"null":   {Constraint: "~> 3.0"},
			"random": {Constraint: "3.0.0"},
			"tls":    {Source: "hashicorp/tls"},
		},
		RequiredVersion: ">= 1.5, < 2.0",
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(configread.DeclaredVariable{})); diff != "" {
		t.Errorf("ReadInterface (-want +got):\n%s", diff)
	}
}

// interfaceOf reads the interface of a module. text is a txtar archive, or the content of the
// module's only file.
func interfaceOf(t *testing.T, text string) *configread.Interface {
	t.Helper()
	files := txtar.Parse([]byte(text)).Files
	if files == nil {
		files = []txtar.File{{Name: "main.tf", Data: []byte(text)}}
	}
	dir := t.TempDir()
	for _, file := range files {
		testenv.WriteFile(t, filepath.Join(dir, file.Name), string(file.Data))
	}
	found, err := configread.Reader{}.ReadInterface(t.Context(), configread.Dir{Path: dir})
	testenv.Must(t, err)
	return found
}

// Each row has the configuration before and after a change, and the expected changes. "!" marks
// breaking changes.
func TestDiffInterfaces(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after string
		want          []string
	}{
		"the same but for its form": {
			`variable "a" { default = [1, 2] }`, "variable \"a\" {\n  default = [\n    1, # one\n    2,\n  ]\n}", nil,
		},
		"new variables": {"", `variable "a" {}
			variable "b" { default = 1 }`, []string{"!variable a :  -> required any", "variable b :  -> any"}},
		"removed":    {`variable "a" {}`, "", []string{"!variable a : required any -> "}},
		"required":   {`variable "a" { default = 1 }`, `variable "a" {}`, []string{"!variable a : any -> required any"}},
		"optional":   {`variable "a" {}`, `variable "a" { default = 1 }`, []string{"variable a : required any -> any"}},
		"wider type": {`variable "a" { type = number }`, `variable "a" { type = string }`, []string{"variable a : required number -> required string"}},
		"other type": {`variable "a" { type = string }`, `variable "a" { type = number }`, []string{"!variable a : required string -> required number"}},
		"set of list": {
			`variable "a" { type = list(string) }`, `variable "a" { type = set(string) }`, []string{"variable a : required list(string) -> required set(string)"},
		},
		"an optional attribute more": {
			`variable "a" { type = object({ x = string }) }`, `variable "a" { type = object({ x = string, y = optional(number) }) }`,
			[]string{"variable a : required object({x = string}) -> required object({x = string, y = optional(number)})"},
		},
		"a required attribute more": {
			`variable "a" { type = object({ x = optional(string) }) }`, `variable "a" { type = object({ x = string }) }`,
			[]string{"!variable a : required object({x = optional(string)}) -> required object({x = string})"},
		},
		"a type that any value had": {`variable "a" {}`, `variable "a" { type = map(string) }`, []string{"!variable a : required any -> required map(string)"}},
		"default":                   {`variable "a" { default = "x" }`, `variable "a" { default = "y" }`, []string{`variable a default: "x" -> "y"`}},
		"default of a secret": {
			"variable \"a\" {\n default = \"x\"\n sensitive = true\n}", "variable \"a\" {\n default = \"y\"\n sensitive = true\n}",
			[]string{"variable a default: (sensitive) -> (another)"},
		},
		"flags of a variable": {
			"variable \"a\" {\n ephemeral = true\n}", "variable \"a\" {\n nullable = false\n sensitive = true\n deprecated = \"No.\"\n}",
			[]string{"variable a nullable: true -> false", "variable a sensitive: false -> true", "!variable a ephemeral: true -> false", "variable a deprecated:  -> No."},
		},
		"validation": {
			"variable \"a\" {\n validation {\n condition = var.a > 1\n}\n validation {\n condition = var.a < 9\n}\n}",
			"variable \"a\" {\n validation {\n condition = var.a   > 2\n}\n validation {\n condition = var.a < 9\n}\n}",
			[]string{"variable a validation: var.a > 1 -> var.a > 2"},
		},
		"outputs": {
			"output \"a\" {}\noutput \"b\" {}", "output \"b\" {\n sensitive = true\n}\noutput \"c\" {}",
			[]string{"!output a : declared -> ", "!output b sensitive: false -> true", "output c :  -> declared"},
		},
		"providers": {
			"terraform {\n required_version = \">= 1.0\"\n required_providers {\n a = \"~> 1.0\"\n b = { source = \"x/b\" }\n }\n}",
			"terraform {\n required_version = \">= 1.6\"\n required_providers {\n a = \"~> 2.0\"\n b = { source = \"x/b\", configuration_aliases = [b.peer] }\n c = {}\n }\n}",
			[]string{"provider a : ~> 1.0 -> ~> 2.0", "!provider b configuration_aliases:  -> b.peer", "provider c :  -> any version", "required_version  : >= 1.0 -> >= 1.6"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := interfaceOf(t, test.before), interfaceOf(t, test.after)
			if diff := cmp.Diff(test.want, changeLines(before.Diff(after))); diff != "" {
				t.Errorf("Diff (-want +got):\n%s", diff)
			}
			if same := after.Diff(after); same != nil {
				t.Errorf("Diff with itself = %v", same)
			}
		})
	}
}

func changeLines(changes []config.InterfaceChange) []string {
	var lines []string
	for _, c := range changes {
		line := c.Kind + " " + c.Name + " " + c.Aspect + ": " + c.Old + " -> " + c.New
		if c.Breaking {
			line = "!" + line
		}
		lines = append(lines, line)
	}
	return lines
}

// The arguments that a call sets decide which changes break it, and where.
func TestForCall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.WriteFile(t, filepath.Join(dir, "main.tf"), `module "net" {
  source    = "acme/net/aws"
  version   = "1.0.0"
  providers = { aws = aws }
  for_each  = {}
  removed   = 1
  set       = 2
  type      = 3
}
output "id" {
  value = [module.net["a"].id, module.net[each.key].name, "${module.net[*].zone}", module.net, module.other.x]
}
`)
	testenv.WriteFile(t, filepath.Join(dir, "net_override.tf"), "module \"net\" {\n  more = 1\n}\n")
	calls, err := configread.Reader{}.ReadArguments(t.Context(), configread.Dir{Path: dir, Display: "."})
	testenv.Must(t, err)
	call := calls["net"]
	if got := strings.Join(slices.Sorted(maps.Keys(call.Set)), " "); got != "more removed set type" {
		t.Errorf("ReadArguments = %q", got)
	}
	if got := strings.Join(slices.Sorted(maps.Keys(call.Used)), " "); got != "id name zone" {
		t.Errorf("ReadArguments found uses of %q", got)
	}
	before := interfaceOf(t, "variable \"removed\" {}\nvariable \"unset\" {}\nvariable \"type\" {\n  type = string\n}\noutput \"id\" {}\n")
	after := interfaceOf(t, "variable \"set\" {}\nvariable \"new\" {}\nvariable \"type\" {\n  type = bool\n}\n")
	changes := configread.ForCall(before.Diff(after), call)
	want := []string{
		"!variable new :  -> required any", "!variable removed : required any -> ", "!variable type : required string -> required bool",
		"!output id : declared -> ", "variable set :  -> required any", "variable unset : required any -> ",
	}
	if diff := cmp.Diff(want, changeLines(changes)); diff != "" {
		t.Errorf("ForCall (-want +got):\n%s", diff)
	}
	var lines []int
	for _, c := range changes {
		lines = append(lines, c.At.Start.Line)
	}
	if diff := cmp.Diff([]int{1, 6, 8, 11, 0, 0}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// Expressions that would take forever are not evaluated.
func TestReadInterfaceWithoutEvaluation(t *testing.T) {
	t.Parallel()
	bomb := "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
	for range 30 {
		bomb = "[for x in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] : " + bomb + "]"
	}
	found := interfaceOf(t, `variable "a" {
  type      = object({ x = optional(list(any), `+bomb+`) })
  default   = `+bomb+`
  sensitive = `+bomb+`
}
variable "b" {
  type = `+bomb+`
}
terraform {
  required_version = `+bomb+`
  required_providers {
    a = `+bomb+`
    b = { source = `+bomb+`, version = 1e999999999 }
  }
}
`)
	if got := found.Variables["a"].Type; got != "any" {
		t.Errorf("type = %q", got)
	}
}
