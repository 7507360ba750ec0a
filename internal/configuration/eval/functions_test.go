package eval_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/configuration/eval"
	"github.com/cotterpin/cotter/internal/testenv"
)

// functionValues are calls with their results in JSON, as in both stock tools; "" if they refuse the call.
var functionValues = []struct{ call, want string }{
	{`yamldecode("net: ./modules/net\nlist: [1, 2.5, true, null, ~, \"x\"]")`, `{"list":[1,2.5,true,null,null,"x"],"net":"./modules/net"}`},
	{`yamldecode("- &a {x: 1}\n- *a\n- <<: *a\n  y: 010")`, `[{"x":1},{"x":1},{"true":10,"x":1}]`},
	{`yamldecode("a: yes\nb: 0x1F\nc: 2020-01-01\nd: |\n  text\n  more\n")`, `{"a":true,"b":31,"c":"2020-01-01T00:00:00Z","d":"text\nmore\n"}`},
	{`yamldecode("")`, ``},
	{`yamldecode("--- 1\n--- 2")`, ``},
	{`yamldecode("a: [")`, ``},
	{`yamldecode("a: 1\na: 2")`, `{"a":2}`},
	{`yamldecode("&a [*a]")`, ``},
	{`yamldecode("!!binary aGk=")`, `"aGk="`},
	{`yamlencode({ b = [1, "x", null], a = { c = true } })`, `"\"a\":\n  \"c\": true\n\"b\":\n- 1\n- \"x\"\n- null\n"`},
	{`yamlencode([])`, `"[]\n"`},
	{`cidrhost("10.0.0.0/8", 1)`, `"10.0.0.1"`},
	{`cidrhost("010.0.0.0/8", 1)`, `"10.0.0.1"`},
	{`cidrhost("10.1.2.3/24", -1)`, `"10.1.2.255"`},
	{`cidrhost("fd00::/64", 255)`, `"fd00::ff"`},
	{`cidrhost("10.0.0.0/30", 4)`, ``},
	{`cidrhost("10.0.0.0", 4)`, ``},
	{`cidrnetmask("172.16.0.0/12")`, `"255.240.0.0"`},
	{`cidrnetmask("fd00::/64")`, ``},
	{`cidrsubnet("10.0.0.0/8", 8, 3)`, `"10.3.0.0/16"`},
	{`cidrsubnet("fd00::/56", 8, 255)`, `"fd00:0:0:ff::/64"`},
	{`cidrsubnet("10.0.0.0/30", 4, 0)`, ``},
	{`cidrsubnet("10.0.0.0/8", 1, 2)`, ``},
	{`cidrsubnets("10.0.0.0/8", 4, 4, 8)`, `["10.0.0.0/12","10.16.0.0/12","10.32.0.0/16"]`},
	{`cidrsubnets("10.0.0.0/8")`, `[]`},
	{`cidrsubnets("10.0.0.0/8", 0)`, ``},
	{`cidrsubnets("10.0.0.0/8", 1, 1, 1)`, ``},
	{`matchkeys(["a", "b", "c"], ["x", "y", "x"], ["x"])`, `["a","c"]`},
	{`matchkeys(["a"], ["x"], ["y"])`, `[]`},
	{`matchkeys(["a"], ["x", "y"], ["y"])`, ``},
	{`transpose({ a = ["x", "y"], b = ["y"] })`, `{"x":["a"],"y":["a","b"]}`},
	{`transpose({})`, `{}`},
	{`transpose({ b = ["x"], a = ["x", "x"] })`, `{"x":["a","a","b"]}`},
	{`timecmp("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z")`, `1`},
	{`timecmp("2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z")`, `0`},
	{`timecmp("2026-01-01", "2026-01-01T00:00:00Z")`, ``},
	{`filebase64("a.txt")`, `"dGV4dA=="`},
	{`filemd5("a.txt")`, `"1cb251ec0d568de6a929b520c4aed8d1"`},
	{`filesha1("a.txt")`, `"372ea08cab33e71c02c651dbc83a474d32c676ea"`},
	{`filesha256("a.txt")`, `"982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"`},
	{`substr(filesha512("a.txt"), 0, 16)`, `"eaf2c12742cb8c16"`},
	{`filebase64sha256("a.txt")`, `"mC2ePrmW9VnmM/TRlN7zdh2Qn1o7ZH0ahR/q1nwyydE="`},
	{`substr(filebase64sha512("a.txt"), 0, 16)`, `"6vLBJ0LLjBYby9hL"`},
	{`filemd5("missing")`, ``},
	{`base64gzip("hello")`, `"H4sIAAAAAAAA/8pIzcnJBwAAAP//AQAA//+GphA2BQAAAA=="`},
	{`base64gzip("")`, `"H4sIAAAAAAAA/wAAAP//AQAA//8AAAAAAAAAAA=="`},
	{`textencodebase64("hé", "UTF-16LE")`, `"aADpAA=="`},
	{`textencodebase64("hé", "latin1")`, `"aOk="`},
	{`textencodebase64("h", "UTF-16")`, `"/v8AaA=="`},
	{`textencodebase64("hé", "shift_jis")`, ``},
	{`textencodebase64("h", "nothing")`, ``},
	{`textdecodebase64("aADpAA==", "UTF-16LE")`, `"hé"`},
	{`textdecodebase64("aOk=", "windows-1252")`, `"hé"`},
	{`textdecodebase64("/w==", "utf-8")`, ``},
	{`textdecodebase64("!!", "utf-8")`, ``},
	{`textdecodebase64("aGk=", "ASCII")`, ``},
	{`uuidv5("dns", "www.terraform.io")`, `"a5008fae-b28c-5ba5-96cd-82b4c53552d6"`},
	{`uuidv5("url", "https://a.example/")`, `"44cc82eb-7cb9-5fdc-b087-010025d94c3f"`},
	{`uuidv5("oid", "1.2.3")`, `"42d5e23b-3a02-5135-85c6-52d1102f1f00"`},
	{`uuidv5("x500", "CN=Example,C=GB")`, `"84e09961-4aa4-57f8-95b7-03edb1073253"`},
	{`uuidv5("6BA7B810-9dad-11d1-80b4-00c04fd430c8", "x")`, `"05b16a01-46c6-56dd-bd6e-c6dfb4a1427a"`},
	{`uuidv5("{6ba7b810-9dad-11d1-80b4-00c04fd430c8}", "x")`, `"05b16a01-46c6-56dd-bd6e-c6dfb4a1427a"`},
	{`uuidv5("urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8", "x")`, `"05b16a01-46c6-56dd-bd6e-c6dfb4a1427a"`},
	{`uuidv5("6ba7b8109dad11d180b400c04fd430c8", "x")`, `"05b16a01-46c6-56dd-bd6e-c6dfb4a1427a"`},
	{`uuidv5("DNS", "x")`, ``},
	{`uuidv5("6ba7b810_9dad_11d1_80b4_00c04fd430c8", "x")`, ``},
	{`fileset("mods", "*.md")`, `["README.md"]`},
	{`fileset("./mods", "./*.md")`, `["README.md"]`},
	{`fileset(".", "mods/*/main.tf")`, `["mods/dns/main.tf","mods/net/main.tf"]`},
	{`fileset("mods", "**/main.tf")`, `["dns/main.tf","net/main.tf","net/sub/main.tf"]`},
	{`fileset("mods/**", "main.tf")`, `["../dns/main.tf","../net/main.tf","../net/sub/main.tf"]`},
	{`fileset("mods", "**")`, `[".hidden","README.md","dns/main.tf","net/main.tf","net/sub/main.tf"]`},
	{`fileset("mods/net", "../*.md")`, `["../README.md"]`},
	{`fileset("mods", "{net,dns}/*.tf")`, `["dns/main.tf","net/main.tf"]`},
	{`fileset("mods", "[a-m]*/*.tf")`, `["dns/main.tf"]`},
	{`fileset("mods", "[^a-m]*/*.tf")`, `["net/main.tf"]`},
	{`fileset("mods", "???/main.tf")`, `["dns/main.tf","net/main.tf"]`},
	{`fileset("mods", "README.md")`, `["README.md"]`},
	{`fileset("mods", "READ\\*")`, `[]`},
	{`fileset("mods", "net")`, `[]`},
	{`fileset("mods", "net/")`, `[]`},
	{`fileset("missing", "*")`, `[]`},
	{`fileset("a.txt", "*")`, `[]`},
	{`fileset("a.txt", "x/*")`, `[]`},
	{`fileset("a.txt", ".")`, `["."]`},
	{`fileset("a.txt", "")`, `["."]`},
	{`fileset(".", "")`, `[]`},
	{`fileset(".", "[")`, ``},
	{`ephemeralasnull({a = [1, null]})`, `{"a":[1,null]}`},
}

// onlyInTofu are calls that terraform refuses, as it has no such function or an older library.
var onlyInTofu = []struct{ call, want string }{
	{`yamldecode("- &a\n  b: &b {x: 1}\n  c: *b\n- <<: [*a, {d: 2}]\n  c: 3")`, `[{"b":{"x":1},"c":{"x":1}},{"b":{"x":1},"c":3,"d":2}]`},
	{`cidrcontains("10.0.0.0/8", "10.1.2.3")`, `true`},
	{`cidrcontains("10.0.0.0/8", "9.0.0.0/7")`, `false`},
	{`cidrcontains("10.0.0.0/8", "10.128.0.0/9")`, `true`},
	{`cidrcontains("10.0.0.0/8", "fd00::1")`, ``},
	{`cidrcontains("10.0.0.0/8", "x")`, ``},
	{`base64gunzip(base64gzip("hello"))`, `"hello"`},
	{`base64gunzip("aGk=")`, ``},
	{`base64gunzip("!!")`, ``},
	{`templatestring("hi $${name}!", {name = "x"})`, `"hi x!"`},
	{`templatestring("$${name}", {name = ["x"]})`, `["x"]`},
	{`templatestring("$${name}", {})`, ``},
	{`templatestring("a", "x")`, ``},
}

func TestFunctionValues(t *testing.T) {
	t.Parallel()
	for _, row := range slices.Concat(functionValues, onlyInTofu) {
		value, diags := eval.NewMeter(context.Background(), new(eval.Tree)).Evaluate(parse(t, "jsonencode("+row.call+")"), scope())
		switch {
		case row.want == "" && !diags.HasErrors():
			t.Errorf("%s = %s, want an error", row.call, value.AsString())
		case row.want != "" && (diags.HasErrors() || value.AsString() != row.want):
			t.Errorf("%s = %#v, %v, want %s", row.call, value, diags, row.want)
		}
	}
}

// The stock tools have the same values, and no function that is neither here nor left out with a reason.
func TestFunctionsLikeStock(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"tofu", "terraform"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			binary := testenv.Program(t, tool)
			text, err := exec.Command(binary, "metadata", "functions", "-json").Output()
			testenv.Must(t, err)
			var functions struct {
				Signatures map[string]any `json:"function_signatures"`
			}
			testenv.Must(t, json.Unmarshal(text, &functions))
			names := eval.FunctionNames()
			page, err := os.ReadFile("../../../docs/stock-tools.md")
			testenv.Must(t, err)
			for name := range functions.Signatures {
				name = strings.TrimPrefix(name, "core::")
				if slices.Contains(names, name) == eval.IsLeftOut(name) {
					t.Errorf("%s has the function %q, which must be here or left out with a reason", tool, name)
				}
				if eval.IsLeftOut(name) && !strings.Contains(string(page), "`"+name+"`") {
					t.Errorf("docs/stock-tools.md does not say that %q is left out", name)
				}
			}
			rows := functionValues
			if tool == "tofu" {
				rows = slices.Concat(rows, onlyInTofu)
			}
			var calls, want []string
			for _, row := range rows {
				calls, want = append(calls, "try(jsonencode("+row.call+"), \"\")"), append(want, row.want)
			}
			dir := t.TempDir()
			for name, text := range moduleFiles {
				testenv.WriteFile(t, filepath.Join(dir, name), text)
			}
			cmd := exec.Command(binary, "console", "-no-color")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader("jsonencode(["+strings.Join(calls, ", ")+"])\n")
			out, err := cmd.CombinedOutput()
			line, unquoteErr := strconv.Unquote(strings.TrimSpace(string(out)))
			if err != nil || unquoteErr != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var got []string
			testenv.Must(t, json.Unmarshal([]byte(line), &got))
			for i, row := range rows {
				if diff := cmp.Diff(want[i], got[i]); diff != "" {
					t.Errorf("%s (-want +%s):\n%s", row.call, tool, diff)
				}
			}
		})
	}
}
