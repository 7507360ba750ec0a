package configread_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/testenv"
)

// variableTypes are types, values, and what the values become, as in both stock tools; "" if they refuse the value.
var variableTypes = []struct{ ty, value, want string }{
	{`object({ s = string, note = optional(string) })`, `{ s = "x" }`, `{"note":null,"s":"x"}`},
	{`object({ s = string, note = optional(string) })`, `{ s = 1, note = true, other = [] }`, `{"note":"true","s":"1"}`},
	{`object({ s = string, note = optional(string) })`, `{ note = "x" }`, ``},
	{`object({ s = string, note = optional(string) })`, `null`, `null`},
	{`object({ a = optional(string, "x"), b = optional(number) })`, `{ a = null, b = null }`, `{"a":"x","b":null}`},
	{`object({ a = optional(string, "x") })`, `{ a = [] }`, ``},
	{`object({ a = optional(object({ b = optional(string), c = optional(number, 3) })) })`, `{}`, `{"a":null}`},
	{`object({ a = optional(object({ b = optional(string), c = optional(number, 3) }), {}) })`, `{}`, `{"a":{"b":null,"c":3}}`},
	{`object({ a = optional(object({ b = optional(string), c = optional(number, 3) }), { b = "x" }) })`, `{ a = { c = null } }`, `{"a":{"b":null,"c":3}}`},
	{`list(object({ a = optional(string) }))`, `[{}, { a = 1 }]`, `[{"a":null},{"a":"1"}]`},
	{`list(object({ a = optional(string) }))`, `[null, {}]`, `[null,{"a":null}]`},
	{`list(object({ a = optional(string, "x") }))`, `[null, {}]`, `[null,{"a":"x"}]`},
	{`list(object({ a = optional(string) }))`, `[]`, `[]`},
	{`set(object({ a = optional(string), b = optional(string, "y") }))`, `[{}, {}, { a = "x" }]`, `[{"a":"x","b":"y"},{"a":null,"b":"y"}]`},
	{`map(object({ a = optional(list(string)), b = optional(map(number), { one = 1 }) }))`, `{ x = {}, y = { a = [1] } }`, `{"x":{"a":null,"b":{"one":1}},"y":{"a":["1"],"b":{"one":1}}}`},
	{`map(map(object({ a = optional(string, "x") })))`, `{ x = { y = {} } }`, `{"x":{"y":{"a":"x"}}}`},
	{`tuple([object({ a = optional(string) }), string])`, `[{}, 1]`, `[{"a":null},"1"]`},
	{`tuple([object({ a = optional(string) }), string])`, `[{}]`, ``},
	{`object({ a = optional(any), b = optional(any, [1]) })`, `{}`, `{"a":null,"b":[1]}`},
	{`object({ a = optional(any) })`, `{ a = { b = [1, "x"] } }`, `{"a":{"b":[1,"x"]}}`},
	{`list(any)`, `[{ a = 1 }, { a = "x" }]`, `[{"a":"1"},{"a":"x"}]`},
	{`list(object({ a = any, b = optional(string) }))`, `[{ a = 1 }, { a = "x" }]`, `[{"a":"1","b":null},{"a":"x","b":null}]`},
	{`object({ a = optional(object({ b = optional(object({ c = optional(string, "deep") }), {}) }), {}) })`, `{}`, `{"a":{"b":{"c":"deep"}}}`},
	{`object({ a = optional(list(object({ b = optional(string) })), [{}, { b = "x" }]) })`, `{}`, `{"a":[{"b":null},{"b":"x"}]}`},
	{`object({ a = optional(list(object({ b = optional(string, "y") })), [{}]) })`, `{ a = [{}, {}] }`, `{"a":[{"b":"y"},{"b":"y"}]}`},
	{`map(string)`, `{ a = 1, b = true }`, `{"a":"1","b":"true"}`},
	{`any`, `{ a = null }`, `{"a":null}`},
}

// The types of variables mean what they mean in stock tools, in both syntaxes.
func TestTypes(t *testing.T) {
	t.Parallel()
	for _, row := range variableTypes {
		dir := t.TempDir()
		testenv.WriteFile(t, filepath.Join(dir, "main.tf"), fmt.Sprintf("variable \"x\" {\n  type    = %s\n  default = %s\n}\n", row.ty, row.value)+callWith("x"))
		testenv.WriteFile(t, filepath.Join(dir, "json.tf.json"), fmt.Sprintf(`{"variable": {"y": {"type": %q}}}`, row.ty))
		testenv.WriteFile(t, filepath.Join(dir, "y.auto.tfvars"), "y = "+row.value+"\n")
		testenv.WriteFile(t, filepath.Join(dir, "y.tf"), callWith("y"))
		m, diags := configread.Reader{}.Read(t.Context(), configread.Dir{Path: dir})
		if row.want == "" {
			if len(diags) != 2 || len(m.Calls) != 0 {
				t.Errorf("%s as %s: %v, %v, want two errors", row.value, row.ty, m.Calls, diags)
			}
			continue
		}
		if len(m.Calls) != 2 || m.Calls[0].Source != row.want || m.Calls[1].Source != row.want {
			t.Errorf("%s as %s: %v, %v, want %s", row.value, row.ty, m.Calls, diags, row.want)
		}
	}
}

func callWith(variable string) string {
	return fmt.Sprintf("module %q {\n  source = jsonencode(var.%s)\n}\n", variable, variable)
}

func TestTypesLikeStock(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"tofu", "terraform"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			binary := testenv.Program(t, tool)
			var accepted strings.Builder
			var expressions, want []string
			for i, row := range variableTypes {
				text := fmt.Sprintf("variable \"x%d\" {\n  type    = %s\n  default = %s\n}\n", i, row.ty, row.value)
				if row.want != "" {
					accepted.WriteString(text)
					expressions, want = append(expressions, fmt.Sprintf("jsonencode(var.x%d)", i)), append(want, row.want)
				} else if out, err := console(t, binary, text, fmt.Sprintf("var.x%d\n", i)); err == nil {
					t.Errorf("%s accepts %s as %s: %s", tool, row.value, row.ty, out)
				}
			}
			out, err := console(t, binary, accepted.String(), "jsonencode(["+strings.Join(expressions, ",")+"])\n")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			lines := strings.Split(strings.TrimSpace(out), "\n") // the last one, after warnings
			text, err := strconv.Unquote(lines[len(lines)-1])
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			var got []string
			testenv.Must(t, json.Unmarshal([]byte(text), &got))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +%s):\n%s", tool, diff)
			}
		})
	}
}

// console returns what a stock tool prints for an expression in a configuration.
func console(t *testing.T, binary, text, expression string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	testenv.WriteFile(t, filepath.Join(dir, "main.tf"), text)
	cmd := exec.Command(binary, "console", "-no-color")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(expression)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestTypesAreBounded makes many values out of few bytes: all attributes of a type for each "{}". Each row is refused
// before that, which the bytes that are allocated show.
func TestTypesAreBounded(t *testing.T) {
	var attributes, withDefaults strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&attributes, "a%d = optional(string), ", i)
		fmt.Fprintf(&withDefaults, "a%d = optional(string, \"\"), ", i)
	}
	object, objectWithDefaults := "object({ "+attributes.String()+"})", "object({ "+withDefaults.String()+"})"
	empty := "[" + strings.Repeat("{},", 1000) + "]" // longer ones are refused whatever the type is
	var inMap strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&inMap, "x%d = {}\n", i)
	}
	nested, value := "string", "{}"
	for range 5 {
		nested = "object({ a = optional(list(" + nested + "), [" + strings.Repeat(value+",", 20) + "]) })"
	}
	for name, row := range map[string]struct{ ty, value string }{
		"optional":                {"list(" + object + ")", empty},
		"defaults":                {"list(" + objectWithDefaults + ")", empty},
		"a set":                   {"set(" + object + ")", empty},
		"a map":                   {"map(" + object + ")", "{\n" + inMap.String() + "}"},
		"a tuple":                 {"object({ x = tuple([list(" + object + ")]) })", "{ x = [" + empty + "] }"},
		"optional in a default":   {"object({ x = optional(list(" + object + "), " + empty + ") })", "{}"},
		"defaults in a default":   {"object({ x = optional(list(" + objectWithDefaults + "), " + empty + ") })", "{}"},
		"defaults of defaults":    {strings.Replace(nested, "string", "object({ z = optional(string, \"z\") })", 1), "{}"},
		"a type that is too deep": {"object({ x = list(object({ y = optional(" + strings.Repeat("object({ x = ", 20) + object + strings.Repeat("})", 20) + ") })) })", "{ x = " + empty + "}"},
	} {
		dir := t.TempDir()
		testenv.WriteFile(t, filepath.Join(dir, "main.tf"), fmt.Sprintf("variable \"x\" {\n  type    = %s\n  default = %s\n}\n", row.ty, row.value)+"module \"m\" {\n  source = \"./${length(var.x)}\"\n}\n")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, diags := configread.Reader{}.Read(t.Context(), configread.Dir{Path: dir})
		runtime.ReadMemStats(&after)
		allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
		if !diags.HasErrors() || !strings.Contains(strings.ToLower(diags[0].Detail), "would take ") {
			t.Errorf("%s: %v, want an error about the work", name, diags)
		}
		// Reading the file takes most of it. The values would take hundreds of MiB.
		if allocated > 80 {
			t.Errorf("%s: %d MiB were allocated", name, allocated)
		}
	}
}
