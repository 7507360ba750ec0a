package hcl1_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/cliconfig/hcl1"
)

const limit = 20

// plain is a value without its places, with objects as lists of keys and values.
func plain(value any) any {
	switch value := value.(type) {
	case hcl1.Object:
		pairs := []any{}
		for _, item := range value {
			pairs = append(pairs, item.Key, plain(item.Value))
		}
		return pairs
	case hcl1.List:
		list := []any{"list"}
		for _, element := range value {
			list = append(list, plain(element))
		}
		return list
	case hcl1.Number:
		return "number " + string(value)
	}
	return value
}

func TestParse(t *testing.T) {
	t.Parallel()
	type list = []any
	nested := list{"host", list{"h.com", list{"services", list{"modules.v1", "/m/", "b", "2"}}}}
	for src, want := range map[string]list{
		"":                    {},
		" # c\n// d\n/* e */": {},
		"\xef\xbb\xbfa = 1":   {"a", "number 1"},
		"host \"h.com\" {\n services {\n \"modules.v1\" = \"/m/\"\n b = \"2\"\n }\n}\n":        nested,
		`host "h.com" { services = { "modules.v1" = "/m/", b = "2" } }`:                        nested,
		`"host" = { h.com = { services { modules.v1 = "/m/" b = "2", } } }`:                    nested,
		`{"host": {"h.com": {"services": {"modules.v1": "/m/", "b": "2"}}}}`:                   nested,
		"\r\n{\"host\": {\"h.com\": {\"services\": {\"modules.v1\": \"/m/\", \"b\": \"2\"}}}}": nested,
		`a "b" "c" {}`:                    {"a", list{"b", list{"c", list{}}}},
		"a = 1 a = 2":                     {"a", "number 1", "a", "number 2"},
		`{"a": 1, "a": 2.5}`:              {"a", "number 1", "a", "number 2.5"},
		"a = [1, -2.5, 1e9, 0xff,]":       {"a", list{"list", "number 1", "number -2.5", "number 1e9", "number 0xff"}},
		`a = [{b = true}, ["c"], []]`:     {"a", list{"list", list{"b", true}, list{"list", "c"}, list{"list"}}},
		`{"a": [true, null, "x"]}`:        {"a", list{"list", true, nil, "x"}},
		`a = false`:                       {"a", false},
		`a = "tr\"ue\\ \u00e9 \x41\n"`:    {"a", "tr\"ue\\ é A\n"},
		`a = "${b("c")} ${"{}"} $$ {x}"`:  {"a", `${b("c")} ${"{}"} $$ {x}`},
		"a = \"${\n}\"":                   {"a", "${\n}"},
		"a = <<EOF\nx\n  y\nEOF\nb = 1":   {"a", "x\n  y\n", "b", "number 1"},
		"a = <<-EOF\n  x\n    y\n  EOF\n": {"a", "x\n  y\n"},
		"a = <<EOF\r\nx\r\nEOF":           {"a", "x\r\n"},
		"bücher = 1":                      {"bücher", "number 1"},
	} {
		object, err := hcl1.Parse([]byte(src), limit)
		if err != nil {
			t.Errorf("Parse(%q): %v", src, err)
			continue
		}
		if diff := cmp.Diff(want, plain(object).([]any)); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", src, diff)
		}
	}
}

// TestSyntaxError wants the place of what is wrong, and none of the file's text.
func TestSyntaxError(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]hcl1.Pos{
		"a = s3cret":                          {Line: 1, Column: 5},
		"a = upper(\"s3cret\")":               {Line: 1, Column: 5},
		"\n\n  a = s3cret":                    {Line: 3, Column: 7},
		"a = 1\n}":                            {Line: 2, Column: 1},
		"a {\n b = 1\n":                       {Line: 3, Column: 1},
		"a \"s3cret\" = 1":                    {Line: 1, Column: 12},
		"a\n":                                 {Line: 2, Column: 1},
		"a = ":                                {Line: 1, Column: 5},
		"a = [1 2]":                           {Line: 1, Column: 8},
		"a = [":                               {Line: 1, Column: 6},
		"a = \"s3cret\nb\"":                   {Line: 1, Column: 5},
		"a = \"s3cret":                        {Line: 1, Column: 5},
		"a = \"s3cret${\"":                    {Line: 1, Column: 5},
		`a = "s3cret\q"`:                      {Line: 1, Column: 12},
		`a = "\`:                              {Line: 1, Column: 6},
		"a = <<EOF\ns3cret":                   {Line: 1, Column: 5},
		"a = < 1":                             {Line: 1, Column: 5},
		"/* s3cret":                           {Line: 1, Column: 1},
		"a = 'b'":                             {Line: 1, Column: 5},
		"\x00":                                {Line: 1, Column: 1},
		"\xff = 1":                            {Line: 1, Column: 1},
		"1 = 2":                               {Line: 1, Column: 1},
		"= 2":                                 {Line: 1, Column: 1},
		"a = " + strings.Repeat("[", limit+1): {Line: 1, Column: 5 + limit},
		strings.Repeat("a {\n", limit+1):      {Line: limit + 1, Column: 3},
		strings.Repeat("a ", limit+2):         {Line: 1, Column: 2*limit + 3},
		"{\n\"a\": s3cret}":                   {Line: 2, Column: 6},
		"{\"a\": 1":                           {Line: 1, Column: 8},
		"{} s3cret":                           {Line: 1, Column: 4},
		"{} {}":                               {Line: 1, Column: 5},
		strings.Repeat("{\"a\":\n", limit+1):  {Line: limit + 1, Column: 2},
	} {
		_, err := hcl1.Parse([]byte(src), limit)
		syntax, ok := errors.AsType[*hcl1.SyntaxError](err)
		if !ok {
			t.Errorf("Parse(%q) = %v, want a *SyntaxError", src, err)
			continue
		}
		if syntax.Pos != want {
			t.Errorf("Parse(%q) = %v, want it at %v", src, err, want)
		}
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("Parse(%q) = %v, which quotes the file", src, err)
		}
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	for src, want := range map[string][]hcl1.Pos{
		"a = 1\n\n  b \"c\" {}":  {{Line: 1, Column: 1}, {Line: 3, Column: 3}},
		"{\"a\": 1,\n \"b\": 2}": {{Line: 1, Column: 5}, {Line: 2, Column: 5}},
	} {
		object, err := hcl1.Parse([]byte(src), limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []hcl1.Pos
		for _, item := range object {
			got = append(got, item.Pos)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Parse(%q): places (-want +got):\n%s", src, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range []string{
		"a \"b\" {\n c = \"d\"\n}\n", `{"a": {"b": ["c", 1, null, true]}}`, "a = <<-X\n y\n X\n", `a = "${b}\x41"`, "a = [1, {b = 2}, [3]] # c", "/* */ a {}", "a.b-c = -1.5e+3",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		object, err := hcl1.Parse(src, limit)
		if err == nil {
			// Each pair of brackets may have as many labels in front of it.
			if d := depth(object); d > limit*(limit+1) {
				t.Errorf("Parse(%q) is %d levels deep", src, d)
			}
			return
		}
		syntax, ok := errors.AsType[*hcl1.SyntaxError](err)
		if !ok || object != nil || syntax.Line < 1 || syntax.Column < 1 {
			t.Errorf("Parse(%q) = %v, %v", src, object, err)
		}
	})
}

func depth(value any) int {
	deepest := 0
	switch value := value.(type) {
	case hcl1.Object:
		for _, item := range value {
			deepest = max(deepest, 1+depth(item.Value))
		}
	case hcl1.List:
		for _, element := range value {
			deepest = max(deepest, 1+depth(element))
		}
	}
	return deepest
}
