package main

import (
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// besideTool is a program that reads projects, and what it says after an installation by Cotter.
type besideTool struct {
	name, version string
	args          []string
	// differs says in which way its output is another one than after init of a stock tool; "" if it is the same.
	differs string
}

var besideTools = []besideTool{
	{name: "terraform-config-inspect", version: "of September 2026", args: []string{"--json", "."}},
	{name: "terraform-docs", version: "0.20", args: []string{"json", "."}, differs: "with module blocks in `.terraform.lock.hcl`, the versions of providers are missing; `lock_file` helps"},
	{name: "tflint", version: "0.64", args: []string{"--call-module-type=all", "--format=json"}},
	{name: "trivy", version: "0.74", args: []string{"config", "--skip-check-update", "--format=table", "."}},
}

const besideWorld = `
-- registry/acme/network/aws/1.0.0/main.tf --
module "subnets" {
  source = "./subnets"
}
-- registry/acme/network/aws/1.0.0/subnets/main.tf --
variable "unused" {}
-- git/dns.git/v1.0.0/modules/zone/main.tf --
variable "zone" {}
output "zone" {
  value = "${var.zone}"
}
terraform {
  required_providers {
    aws = {
      source = "MODTEST_HOST/acme/cloud"
    }
  }
}
resource "aws_s3_bucket" "zones" {}
-- providers/acme/cloud/1.0.0/linux_amd64/terraform-provider-cloud --
provider
-- project/main.tf --
terraform {
  required_providers {
    cloud = {
      source  = "HOST/acme/cloud"
      version = "~> 1.0"
    }
  }
}
resource "cloud_machine" "m" {}
module "network" {
  source  = "HOST/acme/network/aws"
  version = "~> 1.0"
}
module "zone" {
  source = "git::https://HOST/git/dns.git//modules/zone?ref=v1.0.0"
  zone   = "example.com"
}
`

// TestToolsBeside runs the programs of the table in docs/stock-tools.md, those that are installed, after tofu init and after
// cotter install.
func TestToolsBeside(t *testing.T) {
	t.Parallel()
	page := string(readFile(t, "../../docs/stock-tools.md"))
	for _, tool := range besideTools {
		says := tool.differs
		if says == "" {
			says = "the same"
		}
		if row := fmt.Sprintf("| %s | %s | %s |", tool.name, tool.version, says); !strings.Contains(page, row) {
			t.Errorf("docs/stock-tools.md has no row %s", row)
		}
		t.Run(tool.name, func(t *testing.T) {
			t.Parallel()
			needCommands(t, "git", tool.name)
			files := modtest.Txtar(besideWorld)
			project, err := fs.Sub(files, "project")
			testenv.Must(t, err)
			p := newStockProject(t, modtest.New(t, files), "tofu", project)
			output := func() string {
				command := exec.Command(tool.name, tool.args...)
				command.Dir, command.Env = p.project, p.environment()
				out, err := command.Output() // some programs fail if they find something
				if len(out) == 0 {
					t.Fatalf("%s %q: %v, and no output", tool.name, tool.args, err)
				}
				return string(out)
			}
			p.stock(t, "init")
			want := output()
			p.fresh(t)
			if end := p.run("install"); end.status != 0 {
				t.Fatalf("cotter install: %s", end.out)
			}
			if diff := cmp.Diff(want, output()); (diff != "") != (tool.differs != "") {
				t.Errorf("after init and after install, differences expected: %q (-init +install):\n%s", tool.differs, diff)
			}
		})
	}
}
