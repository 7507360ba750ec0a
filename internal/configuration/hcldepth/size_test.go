package hcldepth_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
	"github.com/cotterpin/cotter/internal/testenv"
)

type dense struct {
	name                string // "KIND: ...", as in [testenv.Kind]
	before, unit, after string
	// tokens is the number of tokens of a unit.
	tokens int
	// most is the largest number of units that are accepted, if there is another limit than that
	// of tokens.
	most int
	json bool
}

func (d dense) source(units int) []byte {
	return []byte(d.before + strings.Repeat(d.unit, units) + d.after)
}

func (d dense) parse(ctx context.Context, src []byte) (*hcl.File, hcl.Diagnostics) {
	if d.json {
		return hcldepth.ParseJSON(ctx, src, "x.tf.json")
	}
	return hcldepth.ParseConfig(ctx, src, "x.tf", hcl.InitialPos)
}

var denseTexts = []dense{
	{name: "expression: sums", unit: "a=1+1\n", tokens: 6},
	{name: "expression: one sum", before: "x = 1", unit: "+1", after: "\n", tokens: 2},
	{name: "expression: traversal", before: "x = a", unit: ".a", after: "\n", tokens: 2},
	{name: "expression: numbers", before: "x = [", unit: "0,", after: "]\n", tokens: 2},
	{name: "expression: names", before: "x = [", unit: "a,", after: "]\n", tokens: 2},
	{name: "expression: strings", before: "x = [", unit: `"",`, after: "]\n", tokens: 3},
	{name: "expression: lists", before: "x = [", unit: "[],", after: "]\n", tokens: 3},
	{name: "expression: object", before: "x = {\n", unit: "a=1\n", after: "}\n", tokens: 4},
	{name: "expression: arguments", before: "x = f(", unit: "1,", after: ")\n", tokens: 2},
	{name: "expression: templates", before: "x = [", unit: `"${a}",`, after: "]\n", tokens: 6},
	{name: "expression: one template", before: `x = "`, unit: "a${a}", after: "\"\n", tokens: 4},
	{name: "expression: directives", before: `x = "`, unit: "%{if a}%{endif}", after: "\"\n", tokens: 7},
	{name: "expression: dollars", before: `x = "`, unit: "$ ", after: "\"\n", tokens: 2, most: 15894},
	{name: "expression: heredoc", before: "x = <<A\n", unit: "$\n", after: "A\n", tokens: 2, most: 15600},
	{name: "expression: namespaces", before: "x = a", unit: "::a", after: "()\n", tokens: 2, most: 15665},
	{name: "expression: escapes", before: `x = "`, unit: `\q`, after: "\"\n", tokens: 1},
	{name: "expression: unclosed brackets", before: "x = ", unit: "[", after: "\n", tokens: 1, most: 1_400},
	{name: "expression: opening templates", before: "x = ", unit: `"${`, after: "\n", tokens: 2, most: 1_400},
	{name: "expression: commas", before: "x = ", unit: ",", after: "\n", tokens: 1},
	{name: "body: lines", unit: "\n", tokens: 1},
	{name: "body: comments", unit: "/**/", tokens: 1},
	{name: "body: open comment", before: "x = /*", unit: "a,", tokens: 2},
	{name: "body: comment with brackets", before: "x = /*" + strings.Repeat("[", 2_000), unit: "a,", after: "*/ 1\n", tokens: 2},
	{name: "body: lines before a comment", before: strings.Repeat("a = [\n]\n", 2_000) + "/*", unit: "a,", after: "*/\n", tokens: 2},
	{name: "body: blocks", unit: "a{}\n", tokens: 4},
	{name: "body: blocks with an attribute", unit: "a{b=1}\n", tokens: 7},
	{name: "body: labels", before: "a ", unit: "b ", after: "{}\n", tokens: 1},
	{name: "body: quoted labels", before: "a ", unit: `""`, after: "{}\n", tokens: 2},
	{name: "body: lines with errors", unit: "a=\n", tokens: 3},
	{name: "body: invalid characters", unit: "\u2603", tokens: 2},
	{name: "body: invalid bytes", unit: "\x00", tokens: 2},
	{name: "expression: lists of lists", unit: "a=[[0]]\n", tokens: 8},
	{name: "expression: digits", before: "x = ", unit: "1", after: "\n", tokens: 1, most: 65530},
	{name: "JSON: numbers", before: "[", unit: "0,", after: "0]", tokens: 2, json: true},
	{name: "JSON: strings", before: "[", unit: `"",`, after: "0]", tokens: 2, json: true},
	{name: "JSON: lists", before: "[", unit: "[],", after: "0]", tokens: 3, json: true},
	{name: "JSON: objects", before: "[", unit: "{},", after: "0]", tokens: 3, json: true},
	{name: "JSON: object", before: "{", unit: `"":0,`, after: `"":0}`, tokens: 4, json: true},
	{name: "JSON: keywords", before: "[", unit: "e1,", after: "0]", tokens: 3, json: true},
	{name: "JSON: commas", before: "[", unit: ",", after: "0]", tokens: 1, json: true},
	{name: "JSON: digits", before: "[", unit: "1", after: "]", tokens: 1, most: 65530, json: true},
	{name: "JSON: templates", before: "[", unit: `"${[[[]]]}",`, after: "0]", tokens: 17, json: true},
}

// largest returns the number of units in the largest text that is not too large.
func (d dense) largest() int {
	if d.most > 0 {
		return d.most
	}
	return min((hcldepth.MaxTokens-10)/d.tokens, d.counted())
}

// counted returns the number of units in the largest text that is split into tokens.
func (d dense) counted() int {
	bound, _ := hcldepth.Ceiling([]byte(d.unit), math.MaxInt)
	return (hcldepth.MaxCeiling - 5_000) / bound
}

const maxMemory = 200 << 20

// TestMemory parses the largest texts that are not too large, the largest whose tokens are counted, and texts
// of 4 MiB, which are refused.
// It does so in a process for each kind of text.
//
// Each text takes a process a second or two, so only -exhaustive tests all.
func TestMemory(t *testing.T) {
	t.Parallel()
	for _, d := range testenv.Sample(denseTexts, func(d dense) string { return testenv.Kind(d.name) }) {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			out, err := testenv.OwnProcess(t, func() string { return d.measure(t.Context()) })
			var accepted, both uint64
			if _, scanErr := fmt.Sscan(out, &accepted, &both); err != nil || scanErr != nil {
				t.Fatalf("%v\n%.2000s", err, out)
			}
			t.Logf("%d MiB, then %d MiB", accepted>>20, both>>20)
			if both > maxMemory {
				t.Errorf("parsing took %d MiB, and %d MiB after a text that is too large", accepted>>20, both>>20)
			}
		})
	}
}

// measure parses both texts, and returns the memory in bytes that the process has taken after
// each of them. It returns an error if they are not accepted and refused.
func (d dense) measure(ctx context.Context) string {
	taken := []metrics.Sample{{Name: "/memory/classes/total:bytes"}} // it never decreases
	_, diags := d.parse(ctx, d.source(d.largest()))
	if len(diags) > 0 && diags[0].Summary == "Configuration too large" {
		return diags.Error()
	}
	metrics.Read(taken)
	accepted := taken[0].Value.Uint64()
	_, _ = d.parse(ctx, d.source(d.counted()))
	if _, diags = d.parse(ctx, d.source(4<<20/len(d.unit))); !refused(diags) {
		return fmt.Sprintf("not refused: %v", diags)
	}
	metrics.Read(taken)
	return fmt.Sprint(accepted, taken[0].Value.Uint64())
}

func refused(diags hcl.Diagnostics) bool {
	if len(diags) == 0 {
		return false
	}
	_, large := diags[0].Extra.(*hcldepth.SizeError)
	_, deep := diags[0].Extra.(*hcldepth.DepthError)
	return large || deep
}

func TestSizeErrors(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("1, ", 50)
	for _, tt := range []struct {
		name, src string
		json      bool
		want      *hcldepth.SizeError
	}{
		{name: "many short lines", src: strings.Repeat("a {}\n", 49_000)},
		{name: "more of them", src: strings.Repeat("a = a.a.a.a.a\n", 22_000), want: &hcldepth.SizeError{Line: 20_834, Column: 7, Limit: 250_000, Count: 264_001}},
		{name: "one line", src: "a = [" + strings.Repeat(line, 4_000) + "]\n", want: &hcldepth.SizeError{Line: 1, Column: 300_003, Limit: 250_000, Count: 600_006}},
		{name: "long text", src: strings.Repeat("# "+strings.Repeat("a b ", 100)+"\n", 1_400)},
		{name: "a long heredoc", src: "a = <<EOT\n" + strings.Repeat(strings.Repeat("abc ", 10)+"\n", 15_000) + "EOT\n"},
		{name: "too long a heredoc", src: "a = <<EOT\n" + strings.Repeat(strings.Repeat("abc ", 10)+"\n", 20_000) + "EOT\n",
			want: &hcldepth.SizeError{Line: 17_362, Column: 1, Unit: hcldepth.JoinedBytes, Limit: 1 << 34, Count: 17_180_046_297}},
		{name: "digits", src: "\na = " + strings.Repeat("1", 1<<18) + "\n", want: &hcldepth.SizeError{Line: 2, Column: 5, Unit: hcldepth.Digits, Limit: 1 << 16, Count: 1 << 18}},
		{name: "JSON", json: true, src: "[\n" + strings.Repeat("\"a\",", 62_500) + "\n" + strings.Repeat("\"a\",", 100_000) + "0]", want: &hcldepth.SizeError{Line: 3, Column: 250_000, Limit: 250_000, Count: 400_004}},
		{name: "JSON templates", json: true, src: "[" + strings.Repeat(`"\u0024{`+strings.Repeat("1+", 500)+`1}",`, 400) + "0]", want: &hcldepth.SizeError{Line: 1, Column: 167_992, Limit: 250_000, Count: 604_336}},
		{name: "JSON without templates", json: true, src: "[" + strings.Repeat(`"`+strings.Repeat("1+", 500)+`1}",`, 400) + "0]"},
		{name: "JSON digits", json: true, src: strings.Repeat("1", 1<<18), want: &hcldepth.SizeError{Line: 1, Column: 1 << 18, Unit: hcldepth.Digits, Limit: 1 << 16, Count: 1 << 18}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file, diags := dense{json: tt.json}.parse(t.Context(), []byte(tt.src))
			if tt.want == nil {
				if file == nil || diags.HasErrors() {
					t.Fatalf("parse = %v, %v", file, diags)
				}
				return
			}
			if file != nil || len(diags) != 1 {
				t.Fatalf("parse = %v, %v, want one error", file, diags)
			}
			if diff := cmp.Diff(tt.want, diags[0].Extra); diff != "" {
				t.Errorf("Extra (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMemoryOfManyFiles(t *testing.T) {
	t.Parallel()
	files := 3 // two would fit into the memory at once
	if *testenv.Exhaustive {
		files = 16
	}
	out, err := testenv.OwnProcess(t, func() string {
		src := []byte(strings.Repeat("a {}\n", 49_000))
		var parsing sync.WaitGroup
		for range files {
			parsing.Go(func() {
				if _, diags := hcldepth.ParseConfig(t.Context(), src, "x", hcl.InitialPos); diags.HasErrors() {
					t.Error(diags)
				}
			})
		}
		parsing.Wait()
		taken := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
		metrics.Read(taken)
		return fmt.Sprint(taken[0].Value.Uint64())
	})
	var taken uint64
	if _, scanErr := fmt.Sscan(out, &taken); err != nil || scanErr != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	if taken > maxMemory {
		t.Errorf("parsing %d files took %d MiB", files, taken>>20)
	}
}

func TestWaitingStops(t *testing.T) {
	t.Parallel()
	release, diags := hcldepth.Reserve(t.Context(), []byte(strings.Repeat("a ", hcldepth.MaxTokens)), "x")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan hcl.Diagnostics)
	go func() {
		_, diags := hcldepth.ParseConfig(ctx, []byte("a = 1\n"), "x", hcl.InitialPos)
		done <- diags
	}()
	cancel()
	if diags := <-done; len(diags) != 1 || !isCanceled(diags[0]) {
		t.Errorf("ParseConfig = %v, want the error of the context", diags)
	}
}

func TestParseStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, d := range []dense{{name: "native"}, {name: "JSON", json: true}} {
		file, diags := d.parse(ctx, []byte("{}"))
		if file != nil || len(diags) != 1 {
			t.Fatalf("%s: parse = %v, %v, want one error", d.name, file, diags)
		}
		if err, _ := diags[0].Extra.(error); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Extra = %v, want that of the context", d.name, err)
		}
	}
	expr, diags := hcldepth.ParseExpression(ctx, []byte("1"), "x", hcl.InitialPos)
	if expr != nil || !diags.HasErrors() {
		t.Errorf("ParseExpression = %v, %v, want an error", expr, diags)
	}
}

func isCanceled(diag *hcl.Diagnostic) bool {
	err, ok := diag.Extra.(error)
	return ok && errors.Is(err, context.Canceled)
}
