package configread_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
	"github.com/cotterpin/cotter/internal/testenv"
)

func parsedBlocks(t *testing.T, src []byte) ([]configread.ScannedBlock, bool) {
	file, diags := hcldepth.ParseConfig(t.Context(), src, "x.tf", hcl.InitialPos)
	if diags.HasErrors() {
		return nil, false
	}
	body := file.Body.(*hclsyntax.Body)
	var blocks []configread.ScannedBlock
	for _, b := range body.Blocks {
		_, sets := b.Body.Attributes["provider"]
		header := b.DefRange()
		blocks = append(blocks, configread.ScannedBlock{Kind: b.Type, Labels: b.Labels, Header: header.String(), Start: header.Start.Byte, End: b.CloseBraceRange.End.Byte, MaySet: sets, Source: sourceOf(b.Body)})
	}
	return blocks, len(body.Attributes) == 0
}

func sourceOf(body *hclsyntax.Body) string {
	attr := body.Attributes["source"]
	if attr == nil {
		return ""
	}
	value, diags := attr.Expr.Value(nil)
	if diags.HasErrors() || value.Type() != cty.String || !value.IsKnown() || value.IsNull() {
		return ""
	}
	return value.AsString()
}

const usual = "# a comment with { and \"\n" + `terraform {
  required_providers {
    aws = { source = "hashicorp/aws" } // }
  }
}

resource "aws_instance" "web" {
  provider  = aws.west
  user_data = <<-EOT
    echo "${join("}", ["{", "a ${var.x}"])}" # not a comment
    $${no} %%{no} %{ if var.x == "EOT" }yes%{ endif }
    EOT
  tags = { provider = "no", name = "x\"}${var.n}" }
  /* } provider = no */
}

provider aws {}
locals { a = "100%" }
resource "a" "b" { provider = c }
data "x_y" "provider" {
  x = 1 == 2 ? "a" : "b" # provider = no
  nested {
    provider = no
  }
}
module "net" {
  x = y ? source : z
  source  = "./net" # "
  nested {
    source = "no"
  }
}
`

func TestScanBlocks(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{"usual": usual, "CRLF": strings.ReplaceAll(usual, "\n", "\r\n"), "empty": "", "no newline": strings.TrimSpace(usual)} {
		want, ok := parsedBlocks(t, []byte(src))
		if !ok {
			t.Fatalf("%s has syntax errors", name)
		}
		got, ok := configread.ScanBlocks([]byte(src))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); !ok || diff != "" {
			t.Errorf("%s: ScanBlocks: %v (-parsed +scannedBlock):\n%s", name, ok, diff)
		}
	}
}

// Unusual files are left to the parser.
func TestScanBlocksFails(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		"a = 1\n", "\ufeffa {}\n", "a \"b\\\"c\" {}\n", "a \"${b}\" {}\n", "a \"é\" {}\n", "a {", "a {\n x = \"\n}\n", "a {} b {}\n", "a {}}\n",
		"/* c */ a {}\n", "a {\n x = <<E\n$$${x}\nE\n}\n", "a {\n x = \"${1 # }\"\n}\n",
		"a {\n\xe8 source = \"b\"\n}\n",
	} {
		if got, ok := configread.ScanBlocks([]byte(src)); ok {
			t.Errorf("ScanBlocks(%q) = %v", src, got)
		}
	}
}

func FuzzScanBlocks(f *testing.F) {
	f.Add([]byte(usual))
	f.Add([]byte("module \"x\" {\n  r\u00e9source = \"a\"\n}\n"))
	fixtures, err := filepath.Glob("testdata/*.txtar")
	testenv.Must(f, err)
	for _, fixture := range fixtures {
		text, err := os.ReadFile(fixture)
		testenv.Must(f, err)
		for part := range strings.SplitSeq(string(text), "\n-- ") {
			_, src, _ := strings.Cut(part, " --\n")
			f.Add([]byte(src))
		}
	}
	for _, piece := range []string{"$", "%", "${", "%{", "$${", "}", "\\", "\"", "<<E\n", "<<-E\n", " E\n", "E", "#", "//", "/*", "*/", "\r", "\r\n", "{", "provider=", "source=", "source=\"a\"", "=>", "==", "é", "~"} {
		f.Add([]byte("a \"b\" {\n  x = \"" + piece + "x\"\n}\n"))
		f.Add([]byte("a \"b\" {\n  x = " + piece + "\n}\n"))
		f.Add([]byte("a \"b\" {\n  x = <<E\n" + piece + "\n  " + piece + "E\nE\n}\n"))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		want, ok := parsedBlocks(t, src)
		if !ok {
			return
		}
		got, ok := configread.ScanBlocks(src)
		if !ok {
			return
		}
		for i := range want {
			want[i].MaySet = want[i].MaySet || i < len(got) && got[i].MaySet
			if i < len(got) && got[i].Source == "" {
				want[i].Source = "" // left to the parser
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("ScanBlocks of %q (-parsed +scannedBlock):\n%s", src, diff)
		}
	})
}
