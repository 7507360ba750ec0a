package eval_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/internal/configuration/eval"
	"github.com/cotterpin/cotter/internal/testenv"
)

func gzipOf(text string) string {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(text)) // a bytes.Buffer returns no errors
	_ = w.Close()
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}

func bombs() map[string]string {
	loops := "1"
	for i := range 8 {
		loops = fmt.Sprintf("[for x%d in range(1000) : %s]", i, loops)
	}
	spread := `"x"`
	for range 60 {
		spread = "[for y in [1, 1] : " + spread + "]"
	}
	aliases, merges := "a0: &a0 [x]\n", "a0: &a0 {k0: x}\n"
	for i := range 9 {
		aliases += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 15))
	}
	for i := range 60 {
		merges += fmt.Sprintf("a%d: &a%d {<<: *a%d", i+1, i+1, i)
		for j := range 100 {
			merges += fmt.Sprintf(", k%d-%d: x", i, j)
		}
		merges += "}\n"
	}
	long := `join("", [for x in range(1000) : "0123456789"])`
	return map[string]string{
		"loops":       loops,
		"doubling":    spread,
		"text loops":  strings.Repeat(`"%{for x in range(1000)}${`, 6) + `"x"` + strings.Repeat(`}%{endfor}"`, 6),
		"number":      `"${1e100000000}"`,
		"product":     `1e100000000 * 1e100000000`,
		"tostring":    `tostring(1e100000000)`,
		"decoded":     `tostring(jsondecode("1e100000000"))`,
		"equal":       `1e-1000000 == 1e-1000000`,
		"small":       `"${1e-100000000}"`,
		"modulo":      `1e100000000 % 7`,
		"format":      `format("%999999999s", "x")`,
		"precision":   `format("%.999999999f", 1)`,
		"formatlist":  `formatlist("%999999999s", ["x"])`,
		"indent":      `indent(999999999, "a\nb")`,
		"setproduct":  `setproduct(range(1000), range(1000), range(1000), range(1000))`,
		"join":        `join(` + long + `, range(1000))`,
		"replace":     `replace(` + long + `, "", ` + long + `)`,
		"regex":       `replace(` + long + `, "/x?/", ` + long + `)`,
		"distinct":    `distinct(flatten([for x in range(100) : range(1000)]))`,
		"toset":       `toset(flatten([for x in range(100) : range(1000)]))`,
		"trim":        `trim(` + long + `, ` + long + `)`,
		"gunzip":      fmt.Sprintf("base64gunzip(%q)", gzipOf(strings.Repeat("0", 1<<20))),
		"templates":   `templatestring("%%{for x in a}%%{for y in a}%%{for z in a}x%%{endfor}%%{endfor}%%{endfor}", {a = range(1000)})`,
		"split":       `[for x in range(1000) : split("", ` + long + `)]`,
		"parseint":    `parseint(join("", [for x in range(1000) : ` + strings.Repeat("9", 200) + `]), 10)`,
		"mixed types": `[for x in range(1000) : tolist([for y in range(1000) : x])]`,
		"try":         `try(` + loops + `, ` + loops + `, "x")`,
		"can":         `can(` + loops + `)`,
		"conditional": `true ? ` + loops + ` : []`,
		"object":      `{for x in range(1000) : x => {for y in range(1000) : y => {for z in range(1000) : z => z}}}`,
		"refusals":    strings.ReplaceAll(loops, "x1 in range(1000)", "x1 in range(1025)"),
		"aliases":     fmt.Sprintf("yamldecode(%q)", aliases),
		"documents":   fmt.Sprintf("yamldecode(%q)", "--- x\n---\n"+aliases),
		"merges":      fmt.Sprintf("yamldecode(%q)", merges),
		"yaml values": fmt.Sprintf("yamldecode(%q)", strings.Repeat("- x\n", 100_000)),
		"yamlencode":  `yamlencode([for x in range(1000) : range(1000)])`,
		"matchkeys":   `[for x in range(1000) : matchkeys(range(1000), range(1000), [0])]`,
		"cidrs":       `[for x in range(1000) : [for y in range(1000) : cidrsubnet("10.0.0.0/8", 16, x)]]`,
		"file hashes": `[for x in range(1000) : [for y in range(1000) : filesha512("a.txt")]]`,
		"braces":      `fileset(".", join("", [for x in range(30) : "{a,b}"]))`,
		"globs":       `[for x in range(1000) : [for y in range(1000) : fileset(".", "**")]]`,
		"glob depth":  `fileset(".", join("/", [for x in range(1000) : "**"]))`,
		"times":       `[for x in range(1000) : [for y in range(1000) : timecmp("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")]]`,
		"transpose":   `[for x in range(1000) : transpose({ for y in range(1000) : y => ["x"] })]`,
		"splat":       `[for x in range(1000) : range(1000)][*][*]`,
	}
}

// TestBombs evaluates hostile expressions. Each of them is stopped before it takes much time or
// memory.
func TestBombs(t *testing.T) {
	t.Parallel()
	for name, src := range bombs() {
		t.Run(name, func(t *testing.T) {
			meter := eval.NewMeter(t.Context(), &eval.Tree{})
			var value cty.Value
			var diags hcl.Diagnostics
			allocated := testenv.Allocated(func() { value, diags = meter.Evaluate(parse(t, src), scope()) })
			if !diags.HasErrors() || !errors.Is(meter.Err(), eval.ErrTooMuchWork) {
				t.Fatalf("Evaluate(%.80s) = %.200s, %v, want an error over ErrTooMuchWork", src, value.GoString(), diags)
			}
			// Much less memory is in use at any time.
			const limit = 512 << 20
			if allocated > limit {
				t.Errorf("Evaluate(%.80s) allocated %d MB", src, allocated>>20)
			}
			if _, diags := meter.Evaluate(parse(t, `"x"`), scope()); !diags.HasErrors() {
				t.Error("the meter goes on after that")
			}
		})
	}
}

// TestSharedParts evaluates a value that contains itself many times, as a chain of local values
// can. Only its parts are small.
func TestSharedParts(t *testing.T) {
	t.Parallel()
	v := cty.StringVal("x")
	for range 200 {
		v = cty.TupleVal([]cty.Value{v})
	}
	meter := eval.NewMeter(t.Context(), &eval.Tree{})
	if _, diags := meter.Evaluate(parse(t, "a"), eval.Scope{Values: map[string]cty.Value{"a": v}}); diags.HasErrors() {
		t.Errorf("a deep value: %v", diags)
	}
	v = cty.StringVal("x")
	for range 20 { // 2^20 elements; HCL itself could not handle 2^40
		v = cty.TupleVal([]cty.Value{v, v})
	}
	if _, diags := meter.Evaluate(parse(t, "a"), eval.Scope{Values: map[string]cty.Value{"a": v}}); !errors.Is(meter.Err(), eval.ErrTooMuchWork) {
		t.Errorf("a value of a million elements: %v, want ErrTooMuchWork", diags)
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	tree := &eval.Tree{}
	expr := parse(t, `[for x in range(1000) : format("`+strings.Repeat("x", 1000)+`")]`)
	for range 200 {
		if _, diags := eval.NewMeter(t.Context(), tree).Evaluate(expr, scope()); !diags.HasErrors() {
			t.Fatal("a bomb was evaluated")
		}
		if _, diags := eval.NewMeter(t.Context(), tree).Evaluate(parse(t, `"x"`), scope()); diags.HasErrors() {
			return
		}
	}
	t.Error("200 modules did what they pleased")
}

// FuzzEvaluate checks that the evaluation of any expression ends, and that metering does not
// change the result.
func FuzzEvaluate(f *testing.F) {
	for _, src := range []string{bombs()["loops"], bombs()["text loops"], bombs()["equal"], `"${v.name}-${upper("x")}"`, `[for k, x in v.map : "${k}${x}" if x != ""]`, `{a = 1, (v.name) = [v.list[*], v.list.*]}`, `try(v.no, s.key)`, `v.list[0] == "a" ? aws.x : -1`, `jsondecode("[1]")[0] + 1`, `"%{if true}x%{else}y%{endif}"`} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 1<<10 {
			return
		}
		expr, diags := hclsyntax.ParseExpression([]byte(src), "", hcl.InitialPos)
		if diags.HasErrors() {
			return
		}
		known := scope()
		for _, traversal := range expr.Variables() {
			if _, ok := known.Values[traversal.RootName()]; !ok {
				known.Values[traversal.RootName()] = eval.UnknownValue("x", hcl.Range{})
			}
		}
		defer func() { _ = recover() }() // HCL panics on infinite numbers
		value, diags := eval.NewMeter(t.Context(), &eval.Tree{}).Evaluate(expr, known)
		if strings.Contains(diags.Error(), "CANARY") {
			t.Errorf("Evaluate(%q): %v holds the secret", src, diags)
		}
		if diags.HasErrors() || strings.Contains(src, "(") || len(src) > 100 {
			return
		}
		plain, plainDiags := expr.Value(&hcl.EvalContext{Variables: known.Values})
		plain, _ = plain.UnmarkDeep() // HCL loses some marks before version 2.23
		value, _ = value.UnmarkDeep()
		if plainDiags.HasErrors() || !plain.RawEquals(value) {
			t.Errorf("Evaluate(%q) = %#v, want %#v, %v", src, value, plain, plainDiags)
		}
	})
}

// The library takes time with the square of the nesting, and the parser's stack grows with it.
func TestNestedYAML(t *testing.T) {
	t.Parallel()
	aliases := "a0: &a0 [x]\n"
	for i := range 200 {
		aliases += fmt.Sprintf("a%d: &a%d [*a%d]\n", i+1, i+1, i)
	}
	for name, text := range map[string]string{
		"flow":     strings.Repeat("[", 300) + strings.Repeat("]", 300),
		"sequence": strings.Repeat("- ", 300) + "x",
		"mapping":  strings.Repeat("? ", 300) + "x",
		"aliases":  aliases,
		"itself":   "a: &a\n  b: [*a]\n",
	} {
		_, diags := eval.NewMeter(t.Context(), new(eval.Tree)).Evaluate(parse(t, fmt.Sprintf("yamldecode(%q)", text)), eval.Scope{})
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, "nested more than 200 levels deep") && !strings.Contains(diags[0].Detail, "contains itself") {
			t.Errorf("%s: %v, want an error about the nesting", name, diags)
		}
	}
}
