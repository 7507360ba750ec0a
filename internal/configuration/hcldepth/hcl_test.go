package hcldepth_test

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
	"github.com/cotterpin/cotter/internal/testenv"
)

// hostileUnit describes a file that exhausts the stack when it is parsed. The file repeats
// opener, and then closer as often.
type hostileUnit struct {
	name, before, opener, middle, closer, after string
}

func (h hostileUnit) source(n int) []byte {
	return []byte(h.before + strings.Repeat(h.opener, n) + h.middle + strings.Repeat(h.closer, n) + h.after + "\n")
}

var hostile = []hostileUnit{
	{name: "tuple", before: "a = ", opener: "[", closer: "]"},
	{name: "unclosed tuple", before: "a = ", opener: "["},
	{name: "parentheses", before: "a = ", opener: "(", middle: "1", closer: ")"},
	{name: "object", before: "a = ", opener: "{a=", middle: "1", closer: "}"},
	{name: "object on lines", before: "a = ", opener: "{\na=", middle: "1", closer: "\n}"},
	{name: "call", before: "a = ", opener: "f(", middle: "1", closer: ")"},
	{name: "index", before: "a = ", opener: "b[", middle: "1", closer: "]"},
	{name: "for tuple", before: "a = ", opener: "[for x in ", middle: "y", closer: ":x]"},
	{name: "for object", before: "a = ", opener: "{for x in y:x=>", middle: "z", closer: "}"},
	{name: "template", before: "a = ", opener: `"${`, middle: "1", closer: `}"`},
	{name: "trimming template", before: "a = ", opener: `"${~`, middle: "1", closer: `~}"`},
	{name: "heredoc", before: "a = ", opener: "<<A\n${", middle: "1", closer: "}\nA\n"},
	{name: "directive", before: `a = "`, opener: "%{if a}", closer: "%{endif}", after: `"`},
	{name: "directive for", before: `a = "`, opener: "%{ for a in b ~}", closer: "%{~ endfor }", after: `"`},
	{name: "minus", before: "a = ", opener: "-", middle: "1"},
	{name: "bang", before: "a = ", opener: "! ", middle: "1"},
	{name: "conditional", before: "a = ", opener: "a?b:", middle: "1"},
	{name: "conditional, first branch", before: "a = ", opener: "a?", middle: "1", closer: ":b"},
	{name: "full splat", before: "a = a", opener: "[*]"},
	{name: "blocks", opener: "b {\n", closer: "}\n"},
	{name: "labeled blocks", opener: "b \"l\" {\n", closer: "}\n"},
	// For these, the parser's recovery after an error skips the closing brackets.
	{name: "recovery in block", opener: "b {\n x }\n"},
	{name: "recovery in block of one line", opener: "a {\n b { x }\n}\n"},
	{name: "recovery in template", before: `a = "`, opener: `${"${(}"}${)}`, after: `"`},
	{name: "recovery after bad escape", opener: "b {\n x = (\"\\q\") }\n"},
	{name: "recovery after bad number", opener: "b {\n c { x = (1.2.3) }\n}\n"},
}

// TestParseConfigRefusesHostileFiles parses files that use up the budget exactly, for which the
// stack of TestMain must be sufficient, and files that are twice as large as a smaller budget
// allows. It uses a single goroutine, because growing its stack takes longer than parsing.
func TestParseConfigRefusesHostileFiles(t *testing.T) {
	t.Parallel()
	for _, h := range hostile {
		if _, diags := parse(t, string(h.mostWithin(hcldepth.Budget))); !diags.HasErrors() {
			t.Errorf("%s: ParseConfig of what weighs the budget has no errors", h.name)
		}
		if _, diags := hcldepth.ParseWithin(t.Context(), h.mostWithin(2*smallBudget), "x", hcl.InitialPos, smallBudget); !diags.HasErrors() {
			t.Errorf("%s: ParseConfig of what weighs twice the budget has no errors", h.name)
		}
	}
}

// smallBudget is half of the budget, with which tests take half of the time.
const smallBudget = hcldepth.Budget / 2

func parse(t *testing.T, src string) (*hcl.File, hcl.Diagnostics) {
	return hcldepth.ParseConfig(t.Context(), []byte(src), "x", hcl.InitialPos)
}

const small = 20

func TestParseConfigReturnsWhatTheParserDoes(t *testing.T) {
	t.Parallel()
	sources := slices.Clone(wellFormed)
	for _, h := range hostile {
		sources = append(sources, string(h.source(small)))
	}
	for _, src := range sources {
		file, diags := parse(t, src)
		want, wantDiags := hclsyntax.ParseConfig([]byte(src), "x", hcl.InitialPos)
		if file == nil || len(file.Body.(*hclsyntax.Body).Blocks) != len(want.Body.(*hclsyntax.Body).Blocks) {
			t.Errorf("ParseConfig(%.60q) = %v, want the parser's file", src, file)
		}
		if diff := cmp.Diff(wantDiags.Error(), diags.Error()); diff != "" {
			t.Errorf("ParseConfig(%.60q): diagnostics (-want +got):\n%s", src, diff)
		}
	}
}

func (h hostileUnit) mostWithin(budget int) []byte {
	none, one := weight(h.source(0)), weight(h.source(1))
	return h.source((budget - none) / (one - none))
}

// weight returns the smallest budget for all of src.
func weight(src []byte) int {
	budget := 0
	for hcldepth.Fitting(src, budget) < len(src) {
		budget++
	}
	return budget
}

// TestParserStack checks that the parser exhausts the stack if there is no budget. It does so in
// a child, because that ends the process. To keep the test small, it uses a thousandth of Go's
// gigabyte. The size of a stack is a power of two, so the stack for 1,250 units must be larger
// than half a mebibyte.
func TestParserStack(t *testing.T) {
	t.Parallel()
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			out, err := testenv.OwnProcess(t, func() string {
				debug.SetTraceback("none")
				debug.SetMaxStack(1_000_000)
				_, _ = hclsyntax.ParseConfig(h.source(1_250), "x", hcl.InitialPos)
				return ""
			})
			if exhausted := strings.Contains(out, "goroutine stack exceeds"); err == nil || !exhausted {
				t.Errorf("the parser survives %q (%v)\n%.2000s", h.source(3), err, out)
			}
		})
	}
}

var wellFormed = []string{
	"",
	"\ufeffa = 1\n",
	"# ((((\n// [[[[\n/* {{{{ \n */\na = 1 # {{{",
	"a = \"((((\\\"[[[\" \nb = \"$${ %%{ \\u00e9\"\n",
	"a = \"$$${x} %${\"y\"} $\"\n",
	"a = <<EOT\n((((\n  EOT x\n${b}EOT\n$${ {{{\n  EOT\nb = 1\n",
	"a = <<-EOT\r\n  {{{\r\n  EOT\r\nb = 1\r\n",
	"a = <<A\n${<<B\n[\nB\n}\nA\n",
	"module \"x\" {\n  source = \"./x\"\n  count = a ? 1 : b ? 2 : 3\n}\n",
	"b l \"m\" { x = [1,\n2] }\nc {}\nd { # comment\n}\ne {\n\n  f {\n  }\n}\n",
	"a = [for k, v in x : \"${k}-${v}\" if v != null && !v]\n",
	"a = {for k, v in x : k => v... if v}\nb = {\n  for x in y : x => x\n}\n",
	"a = { a = 1, \"b\" : 2\n  (c) = x ? 1 : 2\n  # comment\n  d.e = -1 }\n",
	"a = x.y[0].z[*].w.*.v.0[\"k\"]\nb = x.*\nc = x[ * ].y\n",
	"a = f(x, [1, 2]...)\nb = n::m::f()\nc = f(\n  1,\n)\n",
	"a = -x + - y * !z % 2 == 3 && 1 <= 2 || 1e5 >= 1.5\n",
	"a = \"%{ if x ~} a %{~ else }b%{ endif }%{ for a, b in c }${a}%{ endfor }\"\n",
	"a = (\n  1 # x\n  +\n  2\n)\nfor = [for-x, 1.foo]\n",
	"if = if\nin = [forx]\n",
}

func TestParseConfigLimits(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return "a = " + strings.Repeat("[", n) + strings.Repeat("]", n) + "\n" }
	deep := func(line, column int) error { return &hcldepth.DepthError{Line: line, Column: column} }
	tooLarge := func(line, column int) error {
		return &hcldepth.DepthError{Line: line, Column: column, TooLarge: true}
	}
	tests := []struct {
		name, src string
		want      error
	}{
		{"at the limit", nested(200), nil},
		{"above", nested(201), deep(1, 205)},
		{"on a later line", "\n\nb=\"é\"\n" + nested(201), deep(4, 205)},
		{"the first of two", nested(201) + strings.Replace(nested(201), "a", "b", 1), deep(1, 205)},
		{"a long list of lists", "a = [" + strings.Repeat("[1, -2, x[*].y, a ? b : c],\n", 500) + "]\n", nil},
		{"a long list on one line", "a = [" + strings.Repeat("[1], ", 1_875) + "[2]]\n", nil},
		{"a long list of objects", "a = [\n" + strings.Repeat("  {\n    a = 1\n    b = [1]\n  },\n", 500) + "]\n", nil},
		{"a long list in a call", "a = toset(concat([" + strings.Repeat("[1],\n", 1_000) + "], []))\n", nil},
		{"a long list in a template", "a = \"x${jsonencode([" + strings.Repeat("[1],\n", 1_000) + "])}\"\n", nil},
		{"long lists in one list", "a = [" + strings.Repeat("["+strings.Repeat("[1],\n", 250)+"],\n", 5) + "]\n", nil},
		{"a long list of comprehensions", "a = [" + strings.Repeat("[for x in y : {(x) = 1}],\n", 375) + "]\n", nil},
		{"a comprehension of a long list", "a = {for x in [" + strings.Repeat("[1],\n", 1_000) + "] : x => x}\n", nil},
		{"long lists in a block", "b {\n" + manyAttributes(2, "["+strings.Repeat("[1, -2, x[*].y, a ? b : c],\n", 325)+"]\n") + "}\n", nil},
		{"long lists in an object", "b = { " + manyAttributes(4, "["+strings.Repeat("[1],\n", 375)+"],") + "}\n", nil},
		{"a long list in a block of one line", "b { a = [" + strings.Repeat("[1], ", 1_250) + "] }\n", nil},
		{"much around a long list", "a = [[\"" + strings.Repeat("x", 75_000) + "\"], [" + strings.Repeat("[],", 40_000) + "]]\n", tooLarge(1, 1)},
		{"a long sum of lists", "\na = " + strings.Repeat("[1]+", 1_250) + "1\n", tooLarge(2, 1)},
		{"many long lists", manyAttributes(2, "["+strings.Repeat("[1, -2, x[*].y, a ? b : c],\n", 325)+"]\n"), nil},
		{"many conditionals in an object", "a = {\n" + strings.Repeat("x = a ? b : c\n", 2_500) + "}\n", nil},
		{"many directives", "a = \"" + strings.Repeat("%{if a}x%{else}y%{endif}${b}", 175) + "\"\n", nil},
		{"brackets in a string", "a = \"" + strings.Repeat("[", 6_250) + "\"\n", nil},
		{"brackets in a heredoc", "a = <<A\n" + strings.Repeat("}{\n", 763) + "A\n", nil},
		{"brackets in a comment", "/*" + strings.Repeat("{", 6_250) + "*/ a = 1 # {\n", nil},
		{"a long comment", strings.Repeat("b {\n}\n", 750) + "/*" + strings.Repeat("b {\n}\n", 3_750) + "*/\n", nil},
		{"many blocks", strings.Repeat("b \"c\" {\n d { x = 1 }\n}\n", 500), nil},
		{"many blocks with comments", strings.Repeat("b \"c\" {\n d { x = 1 }\n} # end\n", 500), nil},
		{"blocks in a block", "a {\n" + strings.Repeat("b {\n}\n", 1_875) + "}\n", nil},
		{"a short sum", "a = 1" + strings.Repeat("+1", 4_000) + "\n", nil},
		{"a long sum", "a = 1" + strings.Repeat("+1", 4_001) + "\n", deep(1, 5)},
		{"a longer sum", "a = 1" + strings.Repeat("+1", 6_250) + "\n", tooLarge(1, 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file, diags := hcldepth.ParseWithin(t.Context(), []byte(tt.src), "x", hcl.InitialPos, smallBudget)
			if tt.want == nil {
				if file == nil || diags.HasErrors() {
					t.Errorf("ParseConfig = %v, %v, want a file", file, diags)
				}
				return
			}
			if file != nil || len(diags) != 1 {
				t.Fatalf("ParseConfig = %v, %v, want one error", file, diags)
			}
			if diff := cmp.Diff(tt.want, diags[0].Extra); diff != "" {
				t.Errorf("Extra (-want +got):\n%s", diff)
			}
		})
	}
}

func manyAttributes(n int, value string) string {
	var src strings.Builder
	for i := range n {
		fmt.Fprintf(&src, "a%d = %s", i, value)
	}
	return src.String()
}

func TestParseConfigReportsTheSyntaxErrorOfALargeFile(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("b {\n}\n", 1_250)
	for name, tt := range map[string]struct {
		src, summary string
		line         int
	}{
		"first item":      {"a = )\n" + many, "Invalid expression", 1},
		"last item":       {many + "a = )\n", "Invalid expression", 2_501},
		"closing bracket": {"b {\n x }\n" + many, "Argument or block definition required", 2},
		"unclosed":        {many + "b {\n", "Unclosed configuration block", 2_501},
		"element":         {many + "a = [\n" + strings.Repeat("{},\n", 1_250) + "{} 1, {a = 1},\n" + strings.Repeat("{},\n", 1_250) + "]\n", "Missing item separator", 3_752},
		"behind elements": {many + "a = [\n" + strings.Repeat("{},\n", 1_250) + "] 1\n", "Missing newline after argument", 3_752},
		"comprehension":   {"b {\na = {for k, v in x : k => v\n" + strings.Repeat("b = {}\n", 1_250) + "}\n}\n", "Configuration nested too deeply", 1},
		"line of a block": {"b { a = 1\n" + strings.Repeat("b = {}\n", 1_250) + "}\n", "Invalid single-argument block definition", 1},
		"byte order mark": {many + "\ufeff" + many, "Invalid character", 2_501},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, diags := hcldepth.ParseWithin(t.Context(), []byte(tt.src), "x", hcl.InitialPos, smallBudget)
			if file != nil || len(diags) != 1 || diags[0].Summary != tt.summary || diags[0].Subject.Start.Line != tt.line {
				t.Fatalf("ParseConfig = %v, %v, want %q on line %d", file, diags, tt.summary, tt.line)
			}
		})
	}
}

func TestParseExpression(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`["a", {b = 1}]`:             "",
		"[":                          "Missing expression",
		strings.Repeat("[", 201):     "nested",
		strings.Repeat("(", 100_000): "nested",
		strings.Repeat("-", 100_000): "nested",
		"[\n" + strings.Repeat("[1],\n", 20_000) + "]": "",
		"1)" + strings.Repeat("+[1]", 10_000):          "nested",
	} {
		_, diags := hcldepth.ParseExpression(t.Context(), []byte(src), "x", hcl.InitialPos)
		if diags.HasErrors() != (want != "") || want != "" && !strings.Contains(diags.Error(), want) {
			t.Errorf("ParseExpression(%.60q) = %v, want %q", src, diags, want)
		}
	}
}

func BenchmarkParseConfig(b *testing.B) {
	for _, n := range []int{100, 5_000} {
		src := []byte(strings.Repeat(wellFormed[8], n))
		b.Run(strconv.Itoa(len(src)>>10)+"KiB", func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, diags := hcldepth.ParseConfig(b.Context(), src, "x", hcl.InitialPos); diags.HasErrors() {
					b.Fatal(diags)
				}
			}
		})
	}
}
