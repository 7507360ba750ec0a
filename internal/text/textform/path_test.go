package textform_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/text/textform"
)

func TestPath(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"main.tf": `"main.tf"`, `a\xff`: `"a\\xff"`, "Icon\r": `"Icon\r"`, "": `""`, `a"b`: `"a\"b"`, "a\uFFFDb": "\"a\uFFFDb\"",
		"a\xff": `"\"a\\xff\""`, "a\xfe": `"\"a\\xfe\""`, `"a"`: `"\"\\\"a\\\"\""`, "a\xff\\\t": `"\"a\\xff\\\\\\t\""`,
	} {
		text, err := json.Marshal(textform.Path(name))
		if err != nil || string(text) != want {
			t.Errorf("%q in JSON is %s, %v, want %s", name, text, err, want)
		}
	}
	var path textform.Path
	for _, text := range []string{`"\""`, `"\"a"`, `"\"a\" b"`} {
		if err := json.Unmarshal([]byte(text), &path); err == nil {
			t.Errorf("%s is read as %q", text, path)
		}
	}
	if got := textform.Names(textform.Paths([]string{"a\xff", "b"})); !cmp.Equal(got, []string{"a\xff", "b"}) {
		t.Errorf("Names(Paths) = %q", got)
	}
}

// FuzzPath checks that no two names have the same text.
func FuzzPath(f *testing.F) {
	for _, name := range []string{"main.tf", "\xff", `"`, `"\xff"`, `\xff`, "\u202e\x00\xc0\xae"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		text, err := json.Marshal([]textform.Path{textform.Path(name)})
		var got []textform.Path
		if err != nil || json.Unmarshal(text, &got) != nil || len(got) != 1 || string(got[0]) != name {
			t.Errorf("%q is written as %s, %v, and read as %q", name, text, err, got)
		}
	})
}
