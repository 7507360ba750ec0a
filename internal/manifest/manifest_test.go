package manifest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/manifest"
)

func newManifest(records ...manifest.Record) *manifest.Manifest {
	m := &manifest.Manifest{}
	for _, r := range records {
		m.Set(r)
	}
	return m
}

func TestBytes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		records []manifest.Record
		want    string
	}{
		"empty": {
			want: `{"Modules":[{"Key":"","Source":"","Dir":"."}]}`,
		},
		"root set": {
			records: []manifest.Record{{Dir: "."}},
			want:    `{"Modules":[{"Key":"","Source":"","Dir":"."}]}`,
		},
		"sorted by byte": {
			records: []manifest.Record{
				{Key: "b", Source: "./b", Dir: "b"},
				{Key: "a.b", Source: "./b", Dir: "a/b"},
				{Key: "a-b", Source: "./c", Dir: "c"},
				{Key: "a", Source: "./a", Dir: "a"},
				{Key: "B", Source: "./..", Dir: ".."},
			},
			want: `{"Modules":[{"Key":"","Source":"","Dir":"."},` +
				`{"Key":"B","Source":"./..","Dir":".."},` +
				`{"Key":"a","Source":"./a","Dir":"a"},` +
				`{"Key":"a-b","Source":"./c","Dir":"c"},` +
				`{"Key":"a.b","Source":"./b","Dir":"a/b"},` +
				`{"Key":"b","Source":"./b","Dir":"b"}]}`,
		},
		"registry": {
			records: []manifest.Record{{Key: "vpc", Source: "registry.example.com/acme/vpc/aws//modules/x", Version: "1.2.3-rc.1", Dir: ".terraform/modules/vpc/modules/x"}},
			want: `{"Modules":[{"Key":"","Source":"","Dir":"."},` +
				`{"Key":"vpc","Source":"registry.example.com/acme/vpc/aws//modules/x","Version":"1.2.3-rc.1","Dir":".terraform/modules/vpc/modules/x"}]}`,
		},
		"escapes": {
			records: []manifest.Record{{Key: "m", Source: "git::https://example.com/r.git?depth=1&ref=<\"\u2028>", Dir: "m"}},
			want: `{"Modules":[{"Key":"","Source":"","Dir":"."},` +
				`{"Key":"m","Source":"git::https://example.com/r.git?depth=1\u0026ref=\u003c\"\u2028\u003e","Dir":"m"}]}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, string(newManifest(test.records...).Bytes())); diff != "" {
				t.Errorf("Bytes() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	a := manifest.Record{Key: "a", Source: "./a", Dir: "a"}
	tests := map[string]struct {
		src  string
		want []manifest.Record
	}{
		"no bytes":       {"", nil},
		"empty object":   {"{}", nil},
		"null":           {`{"Modules":null}`, nil},
		"pretty":         {"{\n  \"Modules\": [\n    {\"Key\": \"a\", \"Source\": \"./a\", \"Dir\": \"a\"}\n  ]\n}\n", []manifest.Record{a}},
		"member names":   {`{"modules":[{"key":"a","SOURCE":"./a","dir":"a"}]}`, []manifest.Record{a}},
		"unknown member": {`{"Version":4,"Modules":[{"Key":"a","Source":"./a","Dir":"a","Hash":["h1:"]}]}`, []manifest.Record{a}},
		"order": {
			`{"Modules":[{"Key":"a","Source":"./a","Dir":"a"},{"Key":"","Source":"","Dir":"."}]}`,
			[]manifest.Record{{Dir: "."}, a},
		},
		"loose version": {
			`{"Modules":[{"Key":"a","Source":"./a","Dir":"a","Version":"v1.4"}]}`,
			[]manifest.Record{{Key: "a", Source: "./a", Dir: "a", Version: "1.4.0"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := manifest.Parse([]byte(test.src))
			if err != nil {
				t.Fatalf("Parse(%q) = %v", test.src, err)
			}
			if diff := cmp.Diff(test.want, m.Records()); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", test.src, diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ src, want string }{
		"blank":        {"\n", "JSON"},
		"truncated":    {`{"Modules":[{"Key":"a"`, "JSON"},
		"trailing":     {`{"Modules":[]}{}`, "after top-level value"},
		"array":        {`[]`, "cannot unmarshal array"},
		"wrong type":   {`{"Modules":[{"Key":1}]}`, "cannot unmarshal number"},
		"two of a key": {`{"Modules":[{"Key":"a","Dir":"x"},{"Key":"a","Dir":"y"}]}`, `record "a": there are two records with this key`},
		"bad version":  {`{"Modules":[{"Key":"a","Version":"new"}]}`, `record "a": "new" is not a version`},
		"nested":       {`{"x":` + strings.Repeat("[", 500_000), "nested more than 200 levels deep"},
		"too large":    {strings.Repeat(" ", manifest.MaxBytes+1), "larger than 16 MiB"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := manifest.Parse([]byte(test.src))
			if err == nil {
				t.Fatalf("Parse(%.40q) = %v, want an error", test.src, m.Records())
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("Parse(%.40q) = %q, want %q in it", test.src, err, test.want)
			}
		})
	}
}

func TestSetLookupRemove(t *testing.T) {
	t.Parallel()
	m := newManifest(
		manifest.Record{Key: "", Dir: "."},
		manifest.Record{Key: "a", Dir: "1"},
		manifest.Record{Key: "a.b", Dir: "2"},
		manifest.Record{Key: "ab", Dir: "3"},
		manifest.Record{Key: "a", Dir: "4"},
	)
	if got, ok := m.Lookup("a"); !ok || got.Dir != "4" {
		t.Errorf(`Lookup("a") = %v, %v, want the record that was set last`, got, ok)
	}
	if got, ok := m.Lookup("b"); ok {
		t.Errorf(`Lookup("b") = %v, want none`, got)
	}
	m.Remove("a")
	if diff := cmp.Diff([]manifest.Record{{Dir: "."}, {Key: "ab", Dir: "3"}}, m.Records()); diff != "" {
		t.Errorf(`after Remove("a") (-want +got):%s%s`, "\n", diff)
	}
	m.Remove("")
	if got := m.Records(); len(got) != 0 {
		t.Errorf(`after Remove(""): %v, want nothing`, got)
	}
	(&manifest.Manifest{}).Remove("a") // a zero value can be used
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"./a","Version":"v1","Dir":"a"}]}`))
	f.Add([]byte(`{"Modules":[{"Key":"a"},{"Key":"a"}]}`))
	f.Add([]byte(``))
	f.Add([]byte(`{"modules":[null,{"KEY":"\ud800&<>"}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := manifest.Parse(src)
		if err != nil {
			return
		}
		out := m.Bytes()
		again, err := manifest.Parse(out)
		if err != nil {
			t.Fatalf("Parse(%q) = %v, for bytes of our own", out, err)
		}
		if !bytes.Equal(out, again.Bytes()) {
			t.Errorf("Bytes() = %q, then %q", out, again.Bytes())
		}
	})
}

func BenchmarkParse(b *testing.B) {
	m := &manifest.Manifest{}
	for i := range 1000 {
		key := strings.Repeat("x", i%40+1) + "." + strings.Repeat("y", i/40+1)
		m.Set(manifest.Record{Key: key, Source: "./" + key, Version: "1.2.3", Dir: ".terraform/modules/" + key})
	}
	src := m.Bytes()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := manifest.Parse(src); err != nil {
			b.Fatal(err)
		}
	}
}
