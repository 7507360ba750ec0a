package lockfile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
	"github.com/cotterpin/cotter/lockfile"
)

// outline returns all nodes of a body with their ranges. A block's attributes have no fixed
// order, and their common node may have the range of any of them, so only their number is
// included. In text that is not UTF-8, the HCL lexer takes up to three bytes after some into one name, also line
// ends, which it does not count; a piece begins with the right number. So lines are left out then.
func outline(body *hclsyntax.Body, isUTF8 bool) []string {
	var nodes []string
	place := func(r hcl.Range) string {
		if !isUTF8 {
			r.Start.Line, r.End.Line = 0, 0
		}
		return r.String()
	}
	for _, block := range body.Blocks {
		var labels []string
		for _, at := range block.LabelRanges {
			labels = append(labels, place(at))
		}
		nodes = append(nodes, fmt.Sprintf("%s %q %s %s %s %s", block.Type, block.Labels, place(block.TypeRange), labels, place(block.OpenBraceRange), place(block.CloseBraceRange)))
		var inside []string
		_ = hclsyntax.VisitAll(block.Body, func(node hclsyntax.Node) hcl.Diagnostics {
			if attributes, ok := node.(hclsyntax.Attributes); ok {
				inside = append(inside, fmt.Sprintf("%d attributes", len(attributes)))
				return nil
			}
			text := fmt.Sprintf("%T %s %d", node, place(node.Range()), node.Range().End.Byte)
			if literal, ok := node.(*hclsyntax.LiteralValueExpr); ok {
				text += " " + literal.Val.GoString()
			}
			inside = append(inside, text)
			return nil
		})
		slices.Sort(inside)
		nodes = append(nodes, inside...)
	}
	return nodes
}

func samePieces(t *testing.T, src []byte, size int) {
	t.Helper()
	got, diags := lockfile.ParseSyntax(src, "x", size)
	file, want := hclsyntax.ParseConfig(src, "x", hcl.InitialPos)
	if diff := cmp.Diff(want.Error(), diags.Error()); diff != "" {
		t.Fatalf("diagnostics by pieces of %d (-want +got):\n%s", size, diff)
	}
	if got == nil {
		return
	}
	whole, isUTF8 := file.Body.(*hclsyntax.Body), utf8.Valid(src)
	if diff := cmp.Diff(outline(whole, isUTF8), outline(got, isUTF8)); diff != "" {
		t.Fatalf("%q by pieces of %d (-want +got):\n%s", src, size, diff)
	}
	if len(whole.Attributes) != len(got.Attributes) {
		t.Fatalf("%q by pieces of %d: %d attributes, want %d", src, size, len(got.Attributes), len(whole.Attributes))
	}
}

const module = "module \"a\" {\n  source = \"x\"\n}\n"

// Some of these files have lines that look like the end of a block but are not. The result must
// equal the HCL parser's.
var pieces = map[string]string{
	"modules":          strings.Repeat(module, 5),
	"spaced":           strings.Repeat(module+"\n\n", 5),
	"long":             "provider \"p\" {\n  version = \"1.0.0\"\n}\n\n" + strings.Repeat(module, 300),
	"comment":          module + "/*\n}\nmodule \"b\" {\n*/\n" + module,
	"line comment":     module + "# x\n" + module + "// \n}\n" + module,
	"heredoc":          module + "module \"b\" {\n  x = <<EOT\n}\nmodule \"c\" {\nEOT\n}\n" + module,
	"template":         module + "module \"b\" {\n  x = \"${{\n}\n}\"\n}\n" + module,
	"nested":           module + "module \"b\" {\nmodule \"c\" {\n}\nmodule \"d\" {\n}\n}\n" + module,
	"list":             module + "module \"b\" {\n  x = [{\n}\n]\n}\n" + module,
	"attributes":       "a = 1\n" + module + "a = 2\n" + module,
	"attribute":        "a = 1\n" + module + module,
	"error":            module + "module \"b\" {\n  x =\n}\n" + module,
	"unclosed":         module + "module \"b\" {\n" + module + module,
	"too many ends":    module + "}\n" + module + module,
	"carriage returns": strings.ReplaceAll(strings.Repeat(module, 5), "\n", "\r\n"),
	"byte order mark":  "\ufeff" + strings.Repeat(module, 3) + "\ufeff" + module,
	"invalid UTF-8":    module + "module \"\xff\" {\n}\n" + module,
	"line end in name": module + "\xeb\n0 {\n}\n" + module,
	"ends in a header": module + "module \"",
	"wide characters":  strings.Repeat("module \"ü\" {\n  ä = \"e\u0301\" # ü\n}\n", 5),
	"two attributes":   "A\"\"{\nY=\"\"\nB=\"\"\n}",
	"empty":            "",
}

func TestPieces(t *testing.T) {
	t.Parallel()
	for name, text := range pieces {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 20, 40, 1000, 1 << 20} {
				samePieces(t, []byte(text), size)
			}
		})
	}
}

func FuzzPieces(f *testing.F) {
	for _, text := range pieces {
		if len(text) < 1000 {
			f.Add([]byte(text), uint8(1))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, size uint8) {
		if file, _ := hcldepth.ParseConfig(t.Context(), src, "x", hcl.InitialPos); file != nil {
			samePieces(t, src, int(size)+1)
		}
	})
}
