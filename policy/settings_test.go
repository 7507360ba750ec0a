package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/policy"
)

func TestParseSettings(t *testing.T) {
	t.Parallel()
	off := false
	for text, want := range map[string]policy.Settings{
		"":                                      {},
		"policy {\n anything = f(x)\n}\n":       {},
		"settings {\n}\n":                       {},
		"settings {\n for = \"terraform\"\n}\n": {For: "terraform"},
		"settings {\n submodules = false\n layout = \"copy\"\n lock_file = \"locks/m.hcl\"\n}\n": {Submodules: &off, Layout: "copy", LockFile: "locks/m.hcl"},
		"settings {\n platforms = [\"linux_amd64\"]\n}\n":                                        {Platforms: []addrs.Platform{{OS: "linux", Arch: "amd64"}}},
		"settings {\n test_directory = \"checks\"\n}\n":                                          {TestDirectory: "checks"},
		"settings {\n exclude = [\"templates/\", \"/a/**/b\"]\n}\n":                              {Exclude: []string{"templates/", "/a/**/b"}},
		"settings {\n platforms = []\n}\n":                                                       {Platforms: []addrs.Platform{}},
		"mirror \"oci://Registry.Example.com/Modules\" {\n}\nmirror \"oci://r.example.com:5000/a/b\" {\n  mode = \"write\"\n}\n": {Mirrors: []policy.Mirror{
			{Address: "oci://registry.example.com/Modules"},
			{Address: "oci://r.example.com:5000/a/b", Write: true},
		}},
	} {
		got, diags := policy.ParseSettings([]byte(text), "cotter.hcl")
		if diags.HasErrors() {
			t.Errorf("Parse(%q): %s", text, diags)
			continue
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", text, diff)
		}
	}
}

func TestParseSettingsErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"settings {\n}\nsettings {\n}\n":                   "only one settings block; the first is on line 1",
		"settings \"x\" {\n}\n":                            "cotter.hcl:1",
		"settings {\n cache_dir = \"x\"\n}\n":              "cache_dir",
		"settings {\n for = \"tf\"\n}\n":                   `for: it must be one of ["auto" "terraform" "tofu"].`,
		"settings {\n layout = 1\n}\n":                     "layout: it must be one of",
		"settings {\n lock_file = \"../x\"\n}\n":           "lock_file: it must be a path below",
		"settings {\n lock_file = \".\"\n}\n":              "lock_file: it must be a path below",
		"settings {\n lock_file = \"\"\n}\n":               "lock_file: it must be a path below",
		"settings {\n lock_file = null\n}\n":               "lock_file: it must be a string",
		"settings {\n submodules = \"yes\"\n}\n":           "submodules: it must be true or false",
		"settings {\n platforms = \"linux_amd64\"\n}\n":    "platforms: it must be a list",
		"settings {\n platforms = [1]\n}\n":                "platforms: each platform must be a string",
		"settings {\n platforms = [\"linux\"]\n}\n":        "platforms: ",
		"settings {\n vendor = \"vendor/modules\"\n}\n":    "vendor: packages are not written into the repository: use a bundle or a mirror",
		"settings {\n lock_file = \".git/commondir\"\n}\n": `lock_file: it must not be in ".git"`,
		"settings {\n lock_file = \"a/GIT~1/x\"\n}\n":      `lock_file: it must not be in "GIT~1"`,
		"settings {\n lock_file = \".git. /x\"\n}\n":       `lock_file: it must not be in ".git. "`,
		"settings {\n lock_file = \".g\u200cit/x\"\n}\n":   `lock_file: it must not be in`,
		"settings {\n lock_file = \"a\\\\.git\\\\x\"\n}\n": `lock_file: it must not be in ".git"`,
		"settings {\n lock_file = \"a/.Git/modules\"\n}\n": `lock_file: it must not be in ".Git"`,
		"settings {\n exclude = [\"!x\"]\n}\n":             "exclude: \"!x\" is not a pattern",
		"settings {\n exclude = [\"/\"]\n}\n":              "exclude: \"/\" is not a pattern",
		"settings {\n test_directory = \"../x\"\n}\n":      "test_directory: it must be a path below",
		"settings {\n for = var.x\n}\n":                    "Variables not allowed",
		"settings {":                                       "cotter.hcl:1",
		strings.Repeat("#\n", policy.MaxSize):              "more than",
	} {
		got, diags := policy.ParseSettings([]byte(text), "cotter.hcl")
		if got != nil || !strings.Contains(diags.Error(), want) {
			t.Errorf("Parse(%.40q) = %v, %s; want %q", text, got, diags, want)
		}
	}
}

func FuzzParseSettings(f *testing.F) {
	f.Add([]byte("settings {\n for = \"tofu\"\n lock_file = \"a\"\n submodules = true\n layout = \"link\"\n platforms = [\"linux_amd64\"]\n}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, diags := policy.ParseSettings(src, "cotter.hcl")
		if (s == nil) != diags.HasErrors() {
			t.Errorf("Parse = %v, %s", s, diags)
		}
	})
}
