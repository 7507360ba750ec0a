package configs_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/internal/configs"
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
output "id" {
  value = var.name
}
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
      configuration_aliases = [aws.peer]
    }
    null = "~> 3.0"
    random = {
      "version" = "3.0.0"
    }
  }
}
-- more.tf.json --
{"variable": {"json": {"type": "list(string)"}}, "output": {"other": {"value": 1}}}
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
	dir := t.TempDir()
	for _, file := range txtar.Parse([]byte(interfaceFiles)).Files {
		write(t, filepath.Join(dir, file.Name), string(file.Data))
	}
	got, err := configs.Reader{}.ReadInterface(t.Context(), configs.Dir{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := &configs.Interface{
		Variables: map[string]configs.DeclaredVariable{
			"name":     {Type: "string"},
			"zones":    {Type: "map(object({id = string, size = optional(number)}))"},
			"anything": {Type: "any", Required: true},
			"broken":   {Type: "any", Required: true},
			"json":     {Type: "list(string)", Required: true},
		},
		Outputs:   map[string]bool{"id": true, "other": true},
		Providers: map[string]string{"aws": "hashicorp/aws >= 5.0", "null": "~> 3.0", "random": "3.0.0"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ReadInterface (-want +got):\n%s", diff)
	}
}

// The rows of changes: added, removed, changed, and the same.
func TestDiffInterfaces(t *testing.T) {
	t.Parallel()
	before := &configs.Interface{
		Variables: map[string]configs.DeclaredVariable{"a": {Type: "string", Required: true}, "b": {Type: "any"}, "same": {Type: "bool"}},
		Outputs:   map[string]bool{"id": true, "same": true},
		Providers: map[string]string{"aws": "hashicorp/aws ~> 5.0", "null": "", "same": ""},
	}
	after := &configs.Interface{
		Variables: map[string]configs.DeclaredVariable{"a": {Type: "string"}, "c": {Type: "number", Required: true}, "same": {Type: "bool"}},
		Outputs:   map[string]bool{"arn": true, "same": true},
		Providers: map[string]string{"aws": "hashicorp/aws ~> 6.0", "tls": "", "same": ""},
	}
	want := []configs.InterfaceChange{
		{Kind: "variable", Name: "a", Old: "required string", New: "string"},
		{Kind: "variable", Name: "b", Old: "any"},
		{Kind: "variable", Name: "c", New: "required number"},
		{Kind: "output", Name: "arn", New: "declared"},
		{Kind: "output", Name: "id", Old: "declared"},
		{Kind: "provider", Name: "aws", Old: "hashicorp/aws ~> 5.0", New: "hashicorp/aws ~> 6.0"},
		{Kind: "provider", Name: "null", Old: "any version"},
		{Kind: "provider", Name: "tls", New: "any version"},
	}
	if diff := cmp.Diff(want, before.Diff(after)); diff != "" {
		t.Errorf("Diff (-want +got):\n%s", diff)
	}
	if same := before.Diff(before); same != nil {
		t.Errorf("Diff with itself = %v", same)
	}
}
