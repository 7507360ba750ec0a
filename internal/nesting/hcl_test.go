package nesting_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/nesting"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// hostileUnit is repeated, with the closer behind, to make a file that ends
// the process when it is parsed.
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
	{name: "labelled blocks", opener: "b \"l\" {\n", closer: "}\n"},
	// The parser's recovery skips the closing brackets of these.
	{name: "recovery in block", opener: "b {\n x }\n"},
	{name: "recovery in block of one line", opener: "a {\n b { x }\n}\n"},
	{name: "recovery in template", before: `a = "`, opener: `${"${(}"}${)}`, after: `"`},
	{name: "recovery after bad escape", opener: "b {\n x = (\"\\q\") }\n"},
	{name: "recovery after bad number", opener: "b {\n c { x = (1.2.3) }\n}\n"},
}

func TestCheckHCLRefusesHostileFiles(t *testing.T) {
	t.Parallel()
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			err := nesting.CheckHCL(h.source(300_000), nesting.DefaultLimit)
			var depth *nesting.DepthError
			var syntax *nesting.SyntaxError
			if !errors.As(err, &depth) && !errors.As(err, &syntax) {
				t.Fatalf("CheckHCL = %v, want a DepthError or a SyntaxError", err)
			}
		})
	}
}

func TestCheckHCLAcceptsTheSameInSmall(t *testing.T) {
	t.Parallel()
	for _, h := range hostile {
		if err := nesting.CheckHCL(h.source(20), nesting.DefaultLimit); err != nil {
			t.Errorf("%s: CheckHCL = %v, want nil", h.name, err)
		}
	}
}

// The parser dies of each, or the package could be simpler. To keep the test
// small, a child with 4 MB of stack stands in for the gigabyte that Go allows.
func TestParserExhaustsTheStack(t *testing.T) {
	t.Parallel()
	if n, err := strconv.Atoi(os.Getenv("NESTING_TEST_HOSTILE")); err == nil {
		debug.SetMaxStack(4 << 20)
		hclsyntax.ParseConfig(hostile[n].source(20_000), "x", hcl.InitialPos)
		return
	}
	for n, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestParserExhaustsTheStack$")
			cmd.Env = append(os.Environ(), "NESTING_TEST_HOSTILE="+strconv.Itoa(n))
			out, err := cmd.CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte("goroutine stack exceeds")) {
				t.Errorf("the parser survives %q now (%v)", h.source(3), err)
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

func TestCheckHCLAcceptsOrdinaryFiles(t *testing.T) {
	t.Parallel()
	for _, src := range wellFormed {
		if err := nesting.CheckHCL([]byte(src), 10); err != nil {
			t.Errorf("CheckHCL(%q) = %v, want nil", src, err)
		}
		if offset, fits := nesting.FollowsGrammar([]byte(src)); !fits {
			t.Errorf("FollowsGrammar(%q) = false at %q", src, src[offset:])
		}
		if _, diags := hclsyntax.ParseConfig([]byte(src), "x", hcl.InitialPos); diags.HasErrors() {
			t.Errorf("test is wrong: %q: %v", src, diags)
		}
	}
}

func TestCheckHCLLimits(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return "a = " + strings.Repeat("[", n) + strings.Repeat("]", n) + "\n" }
	tests := []struct {
		name, src string
		want      error
	}{
		{"at the limit", nested(200), nil},
		{"above", nested(201), &nesting.DepthError{Line: 1, Column: 205, Limit: 200}},
		{"on a later line", "\n\nb=\"é\"\n" + nested(201), &nesting.DepthError{Line: 4, Column: 205, Limit: 200}},
		{"a long list of lists", "a = [" + strings.Repeat("[1, -2, x[*].y, a ? b : c],\n", 50_000) + "]\n", nil},
		{"many conditionals in an object", "a = {\n" + strings.Repeat("x = a ? b : c\n", 50_000) + "}\n", nil},
		{"many directives", "a = \"" + strings.Repeat("%{if a}x%{else}y%{endif}${b}", 50_000) + "\"\n", nil},
		{"many blocks", strings.Repeat("b \"c\" {\n d { x = 1 }\n}\n", 50_000), nil},
		{"a short sum", "a = 1" + strings.Repeat("+1", 4_000) + "\n", nil},
		{"a long sum", "a = 1" + strings.Repeat("+1", 4_001) + "\n", &nesting.DepthError{Line: 1, Column: 8006, Limit: 200}},
		{"a misfit and little behind", "a = )\n" + strings.Repeat("b {\n}\n", 1_000), nil},
		{"a misfit and much behind", "a = 1\n a = )\n" + strings.Repeat("b {\n}\n", 5_000), &nesting.SyntaxError{Line: 2, Column: 6}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := nesting.CheckHCL([]byte(tt.src), 200); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("CheckHCL = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCheckHCLDoesNotAllocate(t *testing.T) {
	src := []byte(strings.Repeat(wellFormed[8], 100))
	if n := testing.AllocsPerRun(10, func() { _ = nesting.CheckHCL(src, 200) }); n != 0 {
		t.Errorf("CheckHCL allocates %v times, want 0", n)
	}
}

func BenchmarkCheckHCL(b *testing.B) {
	src := []byte(strings.Repeat(wellFormed[8], 10_000))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if err := nesting.CheckHCL(src, 200); err != nil {
			b.Fatal(err)
		}
	}
}
