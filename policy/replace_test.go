package policy_test

import (
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/policy"
)

func TestParseReplacementsErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ address, body, want string }{
		{"https://git.example.com/a", `source = "./a"`, "names a transport"},
		{"acme/vpc/*/*", `source = "./*"`, "is not HOST/PATH, or HOST/PATH/* for all addresses below it"},
		{"*.example.com/a", `source = "./a"`, "is not HOST/PATH, or HOST/PATH/* for all addresses below it"},
		{"/srv/modules", `source = "./a"`, "is not HOST/PATH, or HOST/PATH/* for all addresses below it"},
		{"git.example.com/a", ``, `replace "git.example.com/a" has no source`},
		{"git.example.com/a", `source = "acme/vpc/aws"`, "without the host"},
		{"git.example.com/a", `source = "git::https://u:secret@git.example.com/b.git"`, "must not contain credentials"},
		{"git.example.com/a", `source = "file:///srv/a"`, "write the path of the directory"},
		{"git.example.com/a", `source = "./*"`, "is for one address"},
		{"git.example.com/*", `source = "./a"`, `must have one "*"`},
		{"git.example.com/*", `source = "./*/*"`, `must have one "*"`},
		{"git.example.com/*", `source = "git::https://*/a.git"`, `its "*" must be in the path`},
		{"git.example.com/*", `source = "git::https://git.example.com*"`, `its "*" must be in the path`},
		{"git.example.com/*", `source = "git::https://git.example.com/a.git?ref=*"`, `its "*" must be in the path`},
		{"git.example.com/a", "source = \"./a\"\nversion = \"1.0\"", "a directory has no versions"},
		{"git.example.com/a", "source = \"registry.example.com/a/b/c\"\nversion = \"1.0 || 2.0\"", "version"},
		{"git.example.com/a", "source = \"./a\"\nref = \"x\"", "Unsupported argument"},
		{"git.example.com/a", "source = \"./a\"\n}\nreplace \"GIT.example.com/a\" {\nsource = \"./b\"", "has only one block"},
	} {
		_, diags := policy.ParseReplacements([]byte("replace \""+test.address+"\" {\n"+test.body+"\n}\n"), "cotter.hcl")
		if !diags.HasErrors() || !strings.Contains(diags.Error(), test.want) {
			t.Errorf("%s { %s }: %v, want %q", test.address, test.body, diags, test.want)
		}
	}
}

func TestFindReplacement(t *testing.T) {
	t.Parallel()
	r, diags := policy.ParseReplacements([]byte(`
replace "git.example.com/*" { source = "git::https://mirror.example.com/all/*.git" }
replace "git.example.com/acme/*" { source = "registry.example.com/acme/*" }
replace "git.example.com/acme/net" { source = "./net" }
replace "registry.opentofu.org/acme/vpc/aws" { source = "git::https://fork.example.com/vpc.git?ref=fix" }
policy {}
`), "cotter.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for source, want := range map[string]string{
		"git::https://git.example.com/acme/net.git//a?ref=v1": "./net",
		"git::ssh://git@git.example.com/acme/net":             "./net",
		"git::https://git.example.com:8443/acme/net":          "",
		"git::https://git.example.com/acme/label/null":        "registry.example.com/acme/label/null",
		"git::https://git.example.com/other/net.git":          "git::https://mirror.example.com/all/other/net.git",
		"git::https://git.example.com/acme":                   "git::https://mirror.example.com/all/acme.git",
		"https://git.example.com.evil.example/acme/net.zip":   "",
		"acme/vpc/aws":                  "git::https://fork.example.com/vpc.git?ref=fix",
		"acme/vpc/google":               "",
		"registry.terraform.io/a/b/aws": "",
		"./net":                         "",
		// What comes from a package's address must not decide more than the path.
		"git::https://git.example.com/a/x%2Fy.git":     `"x%2Fy" of the path cannot be a part`,
		"git::https://git.example.com/a/x%3Fref=y.git": `"x?ref=y" of the path cannot be a part`,
		"git::https://git.example.com/a/.hidden":       `".hidden" of the path cannot be a part`,
		"git::https://git.example.com/acme/net2":       `replace "git.example.com/acme/*": `,
	} {
		parsed, err := addrs.ParseModuleSource(source)
		testenv.Must(t, err)
		by, got, err := r.Find(parsed)
		if err != nil {
			if got = err.Error(); by == nil || want == "" || !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %q", source, got, want)
			}
			continue
		}
		if got != want || (by == nil) != (want == "") {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}
