package eval_test

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/internal/configuration/eval"
)

type files struct{ fs fs.FS }

func (f files) ReadFile(name string, _ int64) ([]byte, error) {
	return fs.ReadFile(f.fs, path.Clean(name))
}

func (f files) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.fs, path.Clean(name)) }

func (f files) ReadDir(name string, limit int) ([]fs.DirEntry, error) {
	if info, err := f.Stat(name); err != nil || !info.IsDir() {
		return nil, err
	}
	entries, err := fs.ReadDir(f.fs, path.Clean(name))
	if len(entries) > limit {
		return nil, errors.New("too many")
	}
	return entries, err
}

func (f files) Abs(name string) (string, error) { return path.Join("/base", name), nil }

func parse(t testing.TB, src string) hclsyntax.Expression {
	t.Helper()
	expr, diags := hclsyntax.ParseExpression([]byte(src), "main.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%q: %v", src, diags)
	}
	return expr
}

// moduleFiles are those of the module whose expressions are evaluated.
var moduleFiles = map[string]string{
	"a.txt":                "text",
	"t.tftpl":              "%{for x in list}<${upper(x)}>%{endfor}",
	"t2.tftpl":             "${file(\"a.txt\")}",
	"bad":                  "\xff",
	"mods/README.md":       "",
	"mods/.hidden":         "",
	"mods/net/main.tf":     "",
	"mods/net/sub/main.tf": "",
	"mods/dns/main.tf":     "",
}

func inMemory(texts map[string]string) fs.FS {
	files := make(fstest.MapFS)
	for name, text := range texts {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

func scope() eval.Scope {
	return eval.Scope{
		Values: map[string]cty.Value{
			"v": cty.ObjectVal(map[string]cty.Value{
				"name": cty.StringVal("net"),
				"list": cty.ListVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}),
				"map":  cty.MapVal(map[string]cty.Value{"k": cty.StringVal("x")}),
			}),
			"s":   cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal("CANARY").Mark(eval.Mark{Kind: eval.Sensitive, What: "var.key"})}),
			"aws": eval.UnknownValue("aws.x", hcl.Range{}),
		},
		Files: files{inMemory(moduleFiles)},
	}
}

// TestFunctions calls each function at least once. want is the JSON of the result.
func TestFunctions(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`abs(-1)`: `1`, `abspath("x")`: `"/base/x"`, `alltrue([true, "true"])`: `true`, `alltrue([true, false])`: `false`,
		`anytrue([false, true])`: `true`, `anytrue([])`: `false`, `basename("a/b.txt")`: `"b.txt"`, `dirname("a/b.txt")`: `"a"`,
		`base64decode("Zm9v")`: `"foo"`, `base64encode("foo")`: `"Zm9v"`, `can(v.none)`: `false`, `can(v.name)`: `true`,
		`base64sha256("a")`: `"ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="`, `length(base64sha512("a"))`: `88`,
		`ceil(1.2)`: `2`, `chomp("a\n")`: `"a"`, `chunklist([1, 2, 3], 2)`: `[[1,2],[3]]`, `coalesce("", null, "a", "b")`: `"a"`,
		`coalesce(null, 0)`: `0`, `coalescelist([], ["a"])`: `["a"]`, `compact(["a", ""])`: `["a"]`, `concat(["a"], v.list)`: `["a","a","b"]`,
		`contains(v.list, "b")`: `true`, `csvdecode("a,b\n1,2")`: `[{"a":"1","b":"2"}]`, `distinct(["a", "a"])`: `["a"]`,
		`element(["a", "b"], 3)`: `"b"`, `endswith("ab", "b")`: `true`, `startswith("ab", "b")`: `false`, `strcontains("abc", "b")`: `true`,
		`file("a.txt")`: `"text"`, `file("./a.txt")`: `"text"`, `fileexists("a.txt")`: `true`, `fileexists("no")`: `false`,
		`flatten([[1], [2, [3]]])`: `[1,2,3]`, `floor(1.8)`: `1`, `format("%s-%03d", v.name, 7)`: `"net-007"`,
		`formatlist("./%s", v.list)`: `["./a","./b"]`, `formatdate("YYYY", "2020-01-02T00:00:00Z")`: `"2020"`,
		`indent(2, "a\nb")`: `"a\n  b"`, `index(["a", "b"], "b")`: `1`, `join("/", v.list)`: `"a/b"`, `join("/", ["x"], v.list)`: `"x/a/b"`,
		`jsondecode("{\"a\":[1]}").a[0]`: `1`, `jsonencode({a = 1})`: `"{\"a\":1}"`, `keys(v.map)`: `["k"]`, `length("äb")`: `2`,
		`length(v.list)`: `2`, `length({a = 1})`: `1`, `length([1, "a"])`: `2`, `log(8, 2)`: `3`, `lookup(v.map, "k")`: `"x"`,
		`lookup(v.map, "no", "y")`: `"y"`, `lookup({a = 1}, "b", "y")`: `"y"`, `lookup({a = 1}, "a", "y")`: `1`, `lower("AB")`: `"ab"`,
		`max(1, 3, 2)`: `3`, `merge({a = 1}, {a = 2, b = 3})`: `{"a":2,"b":3}`, `min(2, 1)`: `1`, `one(["a"])`: `"a"`, `one([])`: `null`,
		`md5("a")`: `"0cc175b9c0f1b6a831c399e269772661"`, `sha1("a")`: `"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"`,
		`substr(sha256("a"), 0, 8)`: `"ca978112"`, `substr(sha512("a"), 0, 8)`: `"1f40fc92"`, `parseint("ff", 16)`: `255`, `pow(2, 3)`: `8`,
		`range(3)`: `[0,1,2]`, `regex("v([0-9]+)", "av12")`: `["12"]`, `regexall("[a-z]", "a1b")`: `["a","b"]`,
		`replace("a.b.c", ".", "-")`: `"a-b-c"`, `replace("a1b2", "/[0-9]/", "")`: `"ab"`, `replace("a/b", "/", "-")`: `"a-b"`,
		`reverse([1, 2])`: `[2,1]`, `signum(-3)`: `-1`, `slice([1, 2, 3], 1, 2)`: `[2]`, `sort(["b", "a"])`: `["a","b"]`,
		`setintersection(["a", "b"], ["b"])`: `["b"]`, `setproduct(["a"], ["b", "c"])`: `[["a","b"],["a","c"]]`,
		`setsubtract(["a", "b"], ["b"])`: `["a"]`, `setunion(["a"], ["b"])`: `["a","b"]`, `split("/", "a/b")`: `["a","b"]`,
		`strrev("ab")`: `"ba"`, `sum([1, 2])`: `3`, `templatefile("t.tftpl", {list = v.list})`: `"\u003cA\u003e\u003cB\u003e"`,
		`timeadd("2020-01-01T00:00:00Z", "1h")`: `"2020-01-01T01:00:00Z"`, `title("ab cd")`: `"Ab Cd"`, `tobool("true")`: `true`,
		`tolist(["a"])`: `["a"]`, `tomap({a = 1})`: `{"a":1}`, `tonumber("1.5")`: `1.5`, `toset(["a", "a"])`: `["a"]`, `tostring(1)`: `"1"`,
		`trim("--a--", "-")`: `"a"`, `trimprefix("v1", "v")`: `"1"`, `trimspace(" a ")`: `"a"`, `trimsuffix("a.git", ".git")`: `"a"`,
		`try(v.none, "x")`: `"x"`, `try(v.name, "x")`: `"net"`, `upper("a")`: `"A"`, `core::upper("a")`: `"A"`, `urlencode("a b")`: `"a+b"`,
		`urldecode("a+b")`: `"a b"`, `values({a = 1})`: `[1]`, `zipmap(["a"], [1])`: `{"a":1}`, `issensitive(s.key)`: `true`,
		`issensitive("a")`: `false`, `issensitive(sensitive("a"))`: `true`, `nonsensitive(s.key)`: `"CANARY"`,
	}
	for src, want := range tests {
		value, diags := eval.NewMeter(t.Context(), &eval.Tree{}).Evaluate(parse(t, "jsonencode("+src+")"), scope())
		if diags.HasErrors() {
			t.Errorf("%s: %v", src, diags)
			continue
		}
		value, _ = value.Unmark()
		if got := value.AsString(); got != want {
			t.Errorf("%s = %s, want %s", src, got, want)
		}
	}
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`"${v.name}-%{if length(v.list) > 1}many%{else}one%{endif}"`: "net-many",
		`v.name == "net" && !false ? "a" : "b"`:                      "a",
		`join(",", [for i, x in v.list : "${i}${x}" if x != "c"])`:   "0a,1b",
		`join(",", [for k, l in {for x in v.list : x => x...} : k])`: "a,b",
		`{a = {"b${1}" = [1, "c"]}}.a["b1"][1]`:                      "c",
		`{(v.name) = "x", true = "y"}.net`:                           "x",
		`{name = "x"}.name`:                                          "x",
		`join(",", [{n = "a"}, {n = "b"}][*].n)`:                     "a,b",
		`join(",", [{n = "a"}].*.n)`:                                 "a",
		`"n${-(1 + 2) * 3 % 5}"`:                                     "n-4",
		`max([1, 2]...) > 1 ? (v["name"]) : ""`:                      "net",
		`v.list[length(v.list) - 1]`:                                 "b",
		`"%{for x in v.list}${x}%{endfor}"`:                          "ab",
		`true ? "known" : aws.x`:                                     "known",
	}
	for src, want := range tests {
		value, diags := eval.NewMeter(t.Context(), &eval.Tree{}).Evaluate(parse(t, src), scope())
		value, _ = value.Unmark()
		if diags.HasErrors() || !value.RawEquals(cty.StringVal(want)) {
			t.Errorf("%s = %#v, %v, want %q", src, value, diags, want)
		}
	}
}

// TestMarks computes with secrets and with unknown values. The result keeps the marks, and no
// error contains the secret.
func TestMarks(t *testing.T) {
	t.Parallel()
	secret := []string{
		`s.key`, `"a${s.key}"`, `upper(s.key)`, `split(",", s.key)[0]`, `s.key == "x" ? "a" : "b"`, `[for x in [s.key] : x]`,
		`{a = s.key}`, `jsonencode({a = s.key})`, `lookup({a = s.key}, "a")`, `format("%s", s.key)`, `sensitive("a")`, `try(s.key, "")`,
		`[for x in [1] : x if s.key != "x"]`, `[for x in [s.key] : x == "x" ? "a" : "b"]`, `"%{if s.key == "x"}a%{else}b%{endif}"`,
	}
	for _, src := range secret {
		value, diags := eval.NewMeter(t.Context(), &eval.Tree{}).Evaluate(parse(t, src), scope())
		if diags.HasErrors() || !eval.Secret(value) {
			t.Errorf("%s = %#v, %v, want a secret", src, value, diags)
		}
	}
	for _, src := range []string{`tonumber(s.key)`, `s.key + 1`, `parseint(s.key, 10)`, `{a = 1}[s.key]`, `jsondecode(s.key)`, `v.map[s.key]`, `file(s.key)`, `regex("(", s.key)`} {
		_, diags := eval.NewMeter(t.Context(), &eval.Tree{}).Evaluate(parse(t, src), scope())
		if !diags.HasErrors() || strings.Contains(diags.Error(), "CANARY") || diags[0].EvalContext != nil {
			t.Errorf("%s: %v, want an error without the secret", src, diags)
		}
	}
	for _, src := range []string{`aws.x`, `"a${aws.x.y[0]}"`, `upper(aws.x)`, `aws.x ? "a" : "b"`, `[for x in [aws.x] : x]`, `length(aws.x)`, `file(aws.x)`,
		`aws.x[*]`, `aws.x[*].y`, `aws.x.*.y`, `aws.x["y"].z`, `[for x in aws.x : x]`, `[for x in [1] : x if aws.x]`, `(aws.x).y`,
	} {
		value, diags := eval.NewMeter(t.Context(), &eval.Tree{}).Evaluate(parse(t, src), scope())
		if diags.HasErrors() || value.IsWhollyKnown() || len(eval.Marks(value, eval.Unknown)) != 1 {
			t.Errorf("%s = %#v, %v, want an unknown value with its origin", src, value, diags)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`timestamp()`:                   "returns another value in each run",
		`try(uuid(), "x")`:              `"uuid" returns another value`,
		`core::bcrypt("x")`:             "another value",
		`pathexpand("~")`:               `does not have the function "pathexpand"`,
		`provider::x::f()`:              "providers are installed after",
		`nope("x")`:                     `no function named "nope"`,
		`file("no")`:                    "file does not exist",
		`file("bad")`:                   "not UTF-8",
		`templatefile("t2.tftpl", {})`:  `no function named "file"`,
		`templatefile("t.tftpl", {})`:   `uses "list"`,
		`templatefile("t.tftpl", "x")`:  "must be a map",
		`log(0, 10) - log(0, 10)`:       "",
		`lookup({}, "a")`:               `no key "a"`,
		`lookup("x", "a")`:              "must be a map",
		`one([1, 2])`:                   "at most one element",
		`index([1], 2)`:                 "does not contain the value",
		`sum([])`:                       "no elements to add",
		`base64decode("/w==")`:          "not UTF-8",
		`coalesce("", null)`:            "all arguments are null or empty",
		`alltrue([for x in [1] : x.y])`: "Unsupported attribute",
		`[for x in range(1000) : x.no]`: "Unsupported attribute",
		`coalesce([1], "a")`:            "same type",
		`length(1)`:                     "must be a string, a list or a map",
		`"a${[]}"`:                      "Cannot include",
		`tolist([null, "a"])[*][*]`:     "nvalid",
	}
	for src, want := range tests {
		_, diags := evaluateSafely(t, src)
		if !diags.HasErrors() || !strings.Contains(diags.Error(), want) || len(diags) > 3 || diags[0].Subject == nil {
			t.Errorf("%s: %v, want one with %q", src, diags, want)
		}
	}
}

// evaluateSafely returns a panic as an error, as the caller of this package must.
func evaluateSafely(t testing.TB, src string) (value cty.Value, diags hcl.Diagnostics) {
	defer func() {
		if r := recover(); r != nil {
			diags = hcl.Diagnostics{{Severity: hcl.DiagError, Subject: &hcl.Range{}}}
		}
	}()
	return eval.NewMeter(t.Context(), &eval.Tree{}).Evaluate(parse(t, src), scope())
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	meter := eval.NewMeter(ctx, &eval.Tree{})
	_, diags := meter.Evaluate(parse(t, `try("a", "b")`), scope())
	if !diags.HasErrors() || !errors.Is(meter.Err(), context.Canceled) {
		t.Errorf("Evaluate = %v, Err() = %v, want %v", diags, meter.Err(), context.Canceled)
	}
}
