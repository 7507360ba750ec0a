package configread_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/testenv"
)

// enlarged makes a configuration file so large that only what matters in it is parsed. All positions stay.
func enlarged(name, text string) string {
	if !configread.IsConfigFile(name) {
		return text
	}
	if !strings.HasSuffix(name, ".json") {
		return text + strings.Repeat("# a long comment\n", 70<<10/17)
	}
	return text + strings.Repeat(" ", 70<<10)
}

// TestLargeFixtures reads the fixtures in large files. TestRequirements does so with its cases.
func TestLargeFixtures(t *testing.T) {
	t.Parallel()
	fixtures, err := filepath.Glob("testdata/*.txtar")
	testenv.Must(t, err)
	for _, fixture := range fixtures {
		if filepath.Base(fixture) == "syntax.txtar" {
			continue // a parser that begins anew with each block finds more errors
		}
		t.Run(strings.TrimSuffix(filepath.Base(fixture), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(fixture)
			testenv.Must(t, err)
			dir, large := t.TempDir(), t.TempDir()
			for _, file := range archive.Files {
				testenv.WriteFile(t, filepath.Join(dir, file.Name), string(file.Data))
				testenv.WriteFile(t, filepath.Join(large, file.Name), enlarged(filepath.Base(file.Name), string(file.Data)))
			}
			var got [2]string
			for i, path := range []string{dir, large} {
				reader, root := options(string(archive.Comment))
				root.Path, root.Display = path, "."
				got[i] = strings.ReplaceAll(describeTree(t, reader, root), path, "DIR")
			}
			if diff := cmp.Diff(got[0], got[1]); diff != "" {
				t.Errorf("small and large files differ (-small +large):\n%s", diff)
			}
		})
	}
}

func TestReduceJSON(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ src, want string }{
		"resource":       {`{"resource": {"a": {"b": {"c": "d", "e": [1, {}]}}}}`, `{"resource": {"a": {"b": {                      }}}}`},
		"provider":       {`{"data": {"a": {"b": {"c": 1, "provider": "p" , "e": 2}}}}`, `{"data": {"a": {"b": {        "provider": "p"         }}}}`},
		"only provider":  {`{"data": {"a": {"b": {"provider": "p"}}}}`, `{"data": {"a": {"b": {"provider": "p"}}}}`},
		"providers":      {`{"data": {"a": {"b": {"provider": 1, "x": 2, "provider": 3}}}}`, `{"data": {"a": {"b": {"provider": 1        , "provider": 3}}}}`},
		"other blocks":   {`{"module": {"a": {"source": "./x"}}, "locals": {"resource": {"a": {"b": {"c": 1}}}}}`, ""},
		"list of blocks": {`{"resource": [{"a": [{"b": [{"c": 1}, {"d": 2}]}]}]}`, `{"resource": [{"a": [{"b": [{      }, {      }]}]}]}`},
		"list of files":  {`[{"resource": {"a": {"b": {"c": 1}}}}, {"module": {}}]`, `[{"resource": {"a": {"b": {      }}}}, {"module": {}}]`},
		"escaped quotes": {`{"resource": {"a\"": {"b": {"c": "\\\"}", "d": "\\"}}}}`, `{"resource": {"a\"": {"b": {                       }}}}`},
		"escaped name":   {`{"resource": {"a": {"b": {"\u0070rovider": "p", "c": 1}}}}`, `{"resource": {"a": {"b": {"\u0070rovider": "p"        }}}}`},
		"escaped kind":   {`{"\u0072esource": {"a": {"b": {"c": 1}}}}`, ""},
		"lines":          {"{\"resource\": {\"a\": {\"b\": {\n\"c\": 1,\r\n\"d\": 2}}}}", "{\"resource\": {\"a\": {\"b\": {\n       \r\n      }}}}"},
		"no objects":     {`{"resource": {"a": 1, "b": {"c": null, "d": [true, [{"e": 1}]]}}, "data": [], "x": -1.5e3}`, `{"resource": {"a": 1, "b": {"c": null, "d": [true, [{      }]]}}, "data": [], "x": -1.5e3}`},
		"empty strings":  {`{"resource": {"a": {"": {"c": "", "": ["", 1]}}}}`, `{"resource": {"a": {"": {                    }}}}`},
		"number":         {`12`, ""},
		"string":         {`"resource"`, ""},
		"invalid":        {`{"resource": {"a": {"b": {"c": 1}}}`, ""},
		"nothing":        {``, ""},
		// HCL takes the quote after U+0600 for a part of that character.
		"ambiguous":        {"{\"resource\": {\"a\": {\"b\": {\"c\": \"\u0600\"}}}}", ""},
		"ambiguous escape": {"{\"resource\": {\"a\": {\"b\": {\"c\": \"\u0600\\\"\"}}}}", ""},
		"not UTF-8":        {"{\"resource\": {\"a\": {\"b\": {\"c\": \"\xeb\xeb\\\"\"}}}}", ""},
		"unicode":          {"{\"resource\": {\"a\": {\"b\": {\"c\": \"\u00e9\u0301\"}}}}", "{\"resource\": {\"a\": {\"b\": {           }}}}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.want == "" {
				test.want = test.src
			}
			if got := string(configread.ReduceJSON([]byte(test.src))); got != test.want {
				t.Errorf("ReduceJSON(%s) =\n%s, want\n%s", test.src, got, test.want)
			}
		})
	}
}

// TestLargeFile reads a file as large as those of programs may be: 20 MB of resources, with the calls at its end.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	const resources = 20_000
	dir := t.TempDir()
	var src strings.Builder
	src.WriteString(`{"resource": {"acme_thing": {"r": {"provider": "other"}`)
	body := `{"name": "` + strings.Repeat("x", 800) + `", "tags": {"a": ["${var.a}", 1, 2, 3, 4, 5, 6, 7, 8, 9]}, "lifecycle": {"prevent_destroy": true}}`
	for i := range resources {
		src.WriteString(`, "r` + strings.Repeat("0", i%5) + `": ` + body)
	}
	src.WriteString("}},\n \"module\": {\"net\": {\"source\": \"./net\"}}}")
	testenv.WriteFile(t, filepath.Join(dir, "cdk.tf.json"), src.String())
	m, diags := configread.Reader{Providers: true}.Read(t.Context(), configread.Dir{Path: dir, Display: "."})
	if diags.HasErrors() || callNames(m) != "net" || m.Calls[0].Range.Start.Line != 2 || len(m.Providers) != 2 {
		t.Errorf("Read of %d bytes = %v, %v, %v, want the call and two providers", src.Len(), m.Calls, m.Providers, diags)
	}
}

func FuzzReduceJSON(f *testing.F) {
	f.Add(`[{"resource": {"a": {"b": [{"c": 1, "provider": "\"}{"}, []]}}}, {"data": 1}]`)
	f.Add("[{\"resource\": {\"a\": {\"b\": [{\"c\": 1, \"r\": \"\u0600\\\"\"}, []]}}}, {\"a\": 1}]")
	f.Fuzz(func(t *testing.T, src string) {
		reduced := configread.ReduceJSON([]byte(src))
		if len(reduced) != len(src) {
			t.Fatalf("%d bytes are reduced to %d", len(src), len(reduced))
		}
		if again := configread.ReduceJSON(reduced); string(again) != string(reduced) {
			t.Errorf("%s is reduced to %s and then to %s", src, reduced, again)
		}
		dir, small := t.TempDir(), t.TempDir()
		testenv.WriteFile(t, filepath.Join(dir, "main.tf.json"), src)
		testenv.WriteFile(t, filepath.Join(small, "main.tf.json"), string(reduced))
		reader := configread.Reader{Providers: true}
		whole, wholeDiags := reader.Read(t.Context(), configread.Dir{Path: dir, Display: "."})
		part, partDiags := reader.Read(t.Context(), configread.Dir{Path: small, Display: "."})
		if diff := cmp.Diff(describe(whole, wholeDiags), describe(part, partDiags)); diff != "" || len(whole.Providers) != len(part.Providers) {
			t.Errorf("%s and %s differ: %d and %d providers\n%s", src, reduced, len(whole.Providers), len(part.Providers), diff)
		}
	})
}
