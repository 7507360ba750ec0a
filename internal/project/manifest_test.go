package project_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/project"
)

func newManifest(records ...project.ManifestRecord) *project.Manifest {
	m := &project.Manifest{}
	for _, r := range records {
		m.Set(r)
	}
	return m
}

func TestManifestBytes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		records []project.ManifestRecord
		want    string
	}{
		"empty": {
			want: `{"Modules":[{"Key":"","Source":"","Dir":"."}]}`,
		},
		"root set": {
			records: []project.ManifestRecord{{Dir: "."}},
			want:    `{"Modules":[{"Key":"","Source":"","Dir":"."}]}`,
		},
		"set again": {
			records: []project.ManifestRecord{{Key: "a", Dir: "1"}, {Key: "a", Dir: "2"}},
			want:    `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"","Dir":"2"}]}`,
		},
		"sorted by byte": {
			records: []project.ManifestRecord{
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
			records: []project.ManifestRecord{{Key: "vpc", Source: "registry.example.com/acme/vpc/aws//modules/x", Version: "1.2.3-rc.1", Dir: ".terraform/modules/vpc/modules/x"}},
			want: `{"Modules":[{"Key":"","Source":"","Dir":"."},` +
				`{"Key":"vpc","Source":"registry.example.com/acme/vpc/aws//modules/x","Version":"1.2.3-rc.1","Dir":".terraform/modules/vpc/modules/x"}]}`,
		},
		"escapes": {
			records: []project.ManifestRecord{{Key: "m", Source: "git::https://example.com/r.git?depth=1&ref=<\"\u2028>", Dir: "m"}},
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

func TestParseManifest(t *testing.T) {
	t.Parallel()
	a := project.ManifestRecord{Key: "a", Source: "./a", Dir: "a"}
	tests := map[string]struct {
		src  string
		want []project.ManifestRecord
	}{
		"no bytes":       {"", nil},
		"empty object":   {"{}", nil},
		"null":           {`{"Modules":null}`, nil},
		"pretty":         {"{\n  \"Modules\": [\n    {\"Key\": \"a\", \"Source\": \"./a\", \"Dir\": \"a\"}\n  ]\n}\n", []project.ManifestRecord{a}},
		"member names":   {`{"modules":[{"key":"a","SOURCE":"./a","dir":"a"}]}`, []project.ManifestRecord{a}},
		"unknown member": {`{"Version":4,"Modules":[{"Key":"a","Source":"./a","Dir":"a","Hash":["h1:"]}]}`, []project.ManifestRecord{a}},
		"order": {
			`{"Modules":[{"Key":"a","Source":"./a","Dir":"a"},{"Key":"","Source":"","Dir":"."}]}`,
			[]project.ManifestRecord{{Dir: "."}, a},
		},
		"loose version": {
			`{"Modules":[{"Key":"a","Source":"./a","Dir":"a","Version":"v1.4"}]}`,
			[]project.ManifestRecord{{Key: "a", Source: "./a", Dir: "a", Version: "1.4.0"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := project.ParseManifest([]byte(test.src))
			if err != nil {
				t.Fatalf("Parse(%q) = %v", test.src, err)
			}
			if diff := cmp.Diff(test.want, m.Records()); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", test.src, diff)
			}
		})
	}
}

func TestParseManifestErrors(t *testing.T) {
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
		"too large":    {strings.Repeat(" ", project.MaxManifest+1), "larger than 16 MiB"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := project.ParseManifest([]byte(test.src))
			if err == nil {
				t.Fatalf("Parse(%.40q) = %v, want an error", test.src, m.Records())
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("Parse(%.40q) = %q, want %q in it", test.src, err, test.want)
			}
		})
	}
}

// An installation may have so many modules that its manifest has several MiB.
func TestLargeManifest(t *testing.T) {
	t.Parallel()
	a := start(t)
	var m project.Manifest
	for i := range 20_000 {
		key := fmt.Sprintf("%s%d", strings.Repeat("long.", 40), i)
		m.Set(project.ManifestRecord{Key: key, Source: "./module", Dir: key})
	}
	a.write(t, modules+"modules.json", string(m.Bytes()))
	p := a.open(t)
	defer p.Close()
	got, err := p.Manifest()
	if err != nil || !bytes.Equal(got, m.Bytes()) {
		t.Errorf("Manifest() has %d bytes, want %d: %v", len(got), len(m.Bytes()), err)
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(`{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"./a","Version":"v1","Dir":"a"}]}`))
	f.Add([]byte(`{"Modules":[{"Key":"a"},{"Key":"a"}]}`))
	f.Add([]byte(``))
	f.Add([]byte(`{"modules":[null,{"KEY":"\ud800&<>"}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := project.ParseManifest(src)
		if err != nil {
			return
		}
		out := m.Bytes()
		again, err := project.ParseManifest(out)
		if err != nil {
			t.Fatalf("Parse(%q) = %v, for bytes of our own", out, err)
		}
		if !bytes.Equal(out, again.Bytes()) {
			t.Errorf("Bytes() = %q, then %q", out, again.Bytes())
		}
	})
}

func BenchmarkParseManifest(b *testing.B) {
	m := &project.Manifest{}
	for i := range 1000 {
		key := strings.Repeat("x", i%40+1) + "." + strings.Repeat("y", i/40+1)
		m.Set(project.ManifestRecord{Key: key, Source: "./" + key, Version: "1.2.3", Dir: ".terraform/modules/" + key})
	}
	src := m.Bytes()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := project.ParseManifest(src); err != nil {
			b.Fatal(err)
		}
	}
}
