package gitdir_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git/gitdir"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := map[string][]gitdir.Setting{
		"":                            nil,
		"# comment\n; another\n":      nil,
		"[Core]\n\tBare = false\n":    {{Section: "core", Name: "bare", Value: "false"}},
		"[core]\r\n\tbare = true\r\n": {{Section: "core", Name: "bare", Value: "true"}},
		"[core] bare":                 {{Section: "core", Name: "bare"}},
		"[submodule \"A \\\"b\\\\\"]\npath = lib/a # where\n": {{Section: "submodule", Subsection: `A "b\`, Name: "path", Value: "lib/a"}},
		"[a]\nb = one \\\n two  \n":                           {{Section: "a", Name: "b", Value: "one  two"}},
		"[a]\nb = \" x;\" y\\t\\n\n":                          {{Section: "a", Name: "b", Value: " x; y\t\n"}},
		"[a]\nb = 1\nb = 2\n[c]\nd=3\n":                       {{Section: "a", Name: "b", Value: "1"}, {Section: "a", Name: "b", Value: "2"}, {Section: "c", Name: "d", Value: "3"}},
	}
	for text, want := range tests {
		got, err := gitdir.ParseConfig(text)
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", text, diff)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]string{
		"a = 1": "line 1:", "[a]\n\n= 1": "line 3:", "[a b]": "line 1:", "[a \"b\"x]": "line 1:", "[a \"b": "line 1:", "[a \"b\nc\"]": "line 1:",
		"[a \"b\"": "line 1:", "[a \"b\"] = x": "line 1:", "\x00": "line 1:", "[a]\n\xff=1": "line 2:",
		"[a]\nb c": "line 2:", "[a]\nb = \"c\nd\"": "line 2:", "[a]\nb = \"c": "line 2:", "[a]\nb = \\x": "line 2:", "[a]\nb = \\": "line 2:",
	} {
		want := line + " this is not a section or variable of a git configuration"
		if _, err := gitdir.ParseConfig(text); err == nil || err.Error() != want {
			t.Errorf("Parse(%q) = %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("[submodule \"a\"]\n\tpath = a\n\turl = ../a.git # x\n")
	f.Add("[a]\nb = \"c\\n\\\nd\"")
	f.Fuzz(func(t *testing.T, text string) {
		settings, err := gitdir.ParseConfig(text)
		if err != nil {
			return
		}
		for _, s := range settings {
			if s.Section == "" || s.Name == "" || s.Section != strings.ToLower(s.Section) || s.Name != strings.ToLower(s.Name) {
				t.Errorf("Parse(%q) has %+v", text, s)
			}
		}
	})
}
