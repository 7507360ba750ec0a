package lockfile_test

import (
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// Each archive contains a file before.hcl, a file with one edit per line, and the expected
// after.hcl.
// Dependabot puts the lock that a stock tool has written behind our blocks. The next change moves its header back.
func TestMisplacedHeader(t *testing.T) {
	t.Parallel()
	const header = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n"
	provider := "\nprovider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.1\"\n}\n"
	block := strings.TrimSuffix(testBlock, "\n")
	for name, test := range map[string]struct{ src, want string }{
		"no header at the start": {block + header + provider, header + "\n" + testBlock},
		"our own":                {"# ours\n\n" + block + header + provider, "# ours\n\n" + testBlock},
	} {
		file, err := lockfile.Parse([]byte(test.src), lockName)
		testenv.Must(t, err)
		if got := string(file.Bytes()); got != test.src {
			t.Errorf("%s: without a change, the lock is\n%s", name, got)
		}
		file.SetModule(testModule("z"))
		z := strings.Replace(testBlock, `"a"`, `"z"`, 1)
		if got, want := string(file.Bytes()), test.want+"\n"+z+provider; got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob(testdata + "*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			testenv.Must(t, err)
			parts := map[string]string{}
			for _, part := range archive.Files {
				parts[part.Name] = string(part.Data)
			}
			file := parse(t, []byte(parts["before.hcl"]), "before.hcl")
			for edit := range strings.Lines(parts["edit"]) {
				applyEdit(t, file, strings.TrimSpace(edit))
			}
			after := file.Bytes()
			if diff := gocmp.Diff(parts["after.hcl"], string(after)); diff != "" {
				t.Errorf("after %s (-want +got):\n%s", parts["edit"], diff)
			}
			if err := file.Check(); err != nil {
				t.Errorf("Check = %v", err)
			}
			assertSameModules(t, file, parse(t, after, "after.hcl"))
		})
	}
}

// applyEdit performs an edit: "remove KEY" or "set KEY | name=value | ...".
func applyEdit(t *testing.T, file *lockfile.File, edit string) {
	t.Helper()
	if key, ok := strings.CutPrefix(edit, "remove "); ok {
		file.RemoveModule(key)
		return
	}
	fields := strings.Split(edit, " | ")
	m := lockfile.Module{Key: strings.TrimPrefix(fields[0], "set ")}
	for _, field := range fields[1:] {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "version":
			m.Version = versions.MustParse(value)
		case "source":
			m.Source = testenv.Source(value)
		case "constraints":
			m.Constraints = versions.MustParseConstraints(value)
		case "package":
			m.Package = testenv.Package(value)
		case "replaces":
			m.Replaces = testenv.Source(value)
		case "replaced":
			m.Replaced = &lockfile.Module{
				Key: m.Key, Version: versions.MustParse(value), Source: m.Replaces,
				Hashes: []hashing.Hash{"h1:iWuPGh2HJ+uqBVwjY66DJxHvoa3HImwnkTPSLUDbYZQ="},
			}
		case "hash":
			m.Hashes = append(m.Hashes, hashing.Hash(value))
		default:
			t.Fatalf("unknown field in edit %q", edit)
		}
	}
	file.SetModule(m)
}

func assertSameModules(t testing.TB, a, b *lockfile.File) {
	t.Helper()
	equal := gocmp.Comparer(func(a, b lockfile.Module) bool { return a.Equal(b) })
	if diff := gocmp.Diff(a.Modules(), b.Modules(), equal); diff != "" {
		t.Errorf("modules (-set +read):\n%s", diff)
	}
}

func testModule(key string) lockfile.Module {
	return lockfile.Module{
		Key:     key,
		Version: versions.MustParse("1.0.0"),
		Source:  testenv.Source("registry.opentofu.org/acme/vpc/aws"),
		Hashes:  []hashing.Hash{"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
	}
}

const testBlock = `module "a" {
  version = "1.0.0"
  source  = "registry.opentofu.org/acme/vpc/aws"

  hashes = [
    "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
  ]
}
`

func TestEditsOfUnusualFiles(t *testing.T) {
	t.Parallel()
	const header = "# This file is maintained automatically by \"cotter install\", which keeps the\n" +
		"# module blocks, and by \"tofu init\" or \"terraform init\", which keep the\n" +
		"# provider blocks. Manual edits may be lost in future updates.\n"
	tests := []struct{ name, before, after string }{
		{"empty", "", header + "\n" + testBlock},
		{"blank", "\n", "\n" + header + "\n" + testBlock},
		{"byte order mark alone", "\ufeff", "\ufeff" + header + "\n" + testBlock},
		{"comment without newline", "# c", "# c\n\n" + testBlock},
		{"comment", "# c\n\n", "# c\n\n" + testBlock},
		{"provider without newline", `provider "p" {}`, testBlock + "\n" + `provider "p" {}`},
		{"provider behind comment in its line", "/* c */ provider \"p\" {}\n", "/* c */ \n\n" + testBlock + "\nprovider \"p\" {}\n"},
		{"byte order mark", "\ufeffprovider \"p\" {}\n", "\ufeff" + testBlock + "\nprovider \"p\" {}\n"},
		{"byte order mark and comment", "\ufeff# c\nprovider \"p\" {}\n", "\ufeff" + testBlock + "\n# c\nprovider \"p\" {}\n"},
		{"CRLF", "# h\r\n\r\n# c\r\nprovider \"p\" {}\r\n", "# h\r\n\r\n" + strings.ReplaceAll(testBlock, "\n", "\r\n") + "\r\n# c\r\nprovider \"p\" {}\r\n"},
		{"CRLF without a last line end", "# h\r\n# c", "# h\r\n# c\r\n\r\n" + strings.ReplaceAll(testBlock, "\n", "\r\n")},
		{"CRLF in the second line", "# h\n\r\n", "# h\n\r\n" + testBlock},
		{"indented provider", "  provider \"p\" {}\n", testBlock + "\n  provider \"p\" {}\n"},
		{"other block", "other \"x\" \"y\" {}\n", "other \"x\" \"y\" {}\n\n" + testBlock},
		{"attribute", "x = 1\n", "x = 1\n\n" + testBlock},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := parse(t, []byte(tt.before), "x")
			file.SetModule(testModule("a"))
			after := file.Bytes()
			if diff := gocmp.Diff(tt.after, string(after)); diff != "" {
				t.Errorf("after SetModule (-want +got):\n%s", diff)
			}
			assertSameModules(t, file, parse(t, after, "after"))
			file.RemoveModule("a")
			if got := string(file.Bytes()); got != tt.before {
				t.Errorf("after RemoveModule = %q, want %q", got, tt.before)
			}
		})
	}
}

func TestZeroFile(t *testing.T) {
	t.Parallel()
	var file lockfile.File
	if got := file.Bytes(); got != nil {
		t.Errorf("Bytes of nothing = %q, want nil", got)
	}
	file.RemoveModule("a")
	file.SetModule(testModule("a"))
	if got := string(file.Bytes()); !strings.HasSuffix(got, "\n\n"+testBlock) {
		t.Errorf("Bytes = %q, want a header and the block", got)
	}
}

func TestModulesAreCopies(t *testing.T) {
	t.Parallel()
	var file lockfile.File
	m := testModule("a")
	file.SetModule(m)
	m.Hashes[0] = "h1:changed"
	file.Modules()[0].Hashes[0] = "h1:changed"
	got, _ := file.Module("a")
	got.Hashes[0] = "h1:changed"
	if got, _ := file.Module("a"); !got.Equal(testModule("a")) {
		t.Errorf("Module = %v, want %v", got, testModule("a"))
	}
}

// A file without a comment gets the header that was set, or one that names the tool.
func TestHeaderOfNewFile(t *testing.T) {
	t.Parallel()
	const ofTerraform = "# This file is maintained automatically by \"cotter install\", which keeps the\n" +
		"# module blocks, and by \"terraform init\", which keeps the provider blocks.\n" +
		"# Manual edits may be lost in future updates.\n"
	for header, set := range map[string]func(*lockfile.File){
		ofTerraform:             func(f *lockfile.File) { f.NameTool("terraform") },
		"# by init\n# of iac\n": func(f *lockfile.File) { f.SetHeader("# by init\n# of iac") },
	} {
		for before, comment := range map[string]string{"": header, "# by hand\n": "# by hand\n"} {
			file := parse(t, []byte(before), "x")
			set(file)
			file.SetModule(testModule("a"))
			if diff := gocmp.Diff(comment+"\n"+testBlock, string(file.Bytes())); diff != "" {
				t.Errorf("Bytes of %q (-want +got):\n%s", before, diff)
			}
		}
	}
}

// If removed blocks are added again, the result is the original file, regardless of the blank
// lines that were left in their place.
func TestBlocksComeBack(t *testing.T) {
	t.Parallel()
	const (
		header   = "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n"
		own      = "# This file is maintained automatically by \"cotter install\" and \"tofu init\".\n# Manual edits may be lost in future updates.\n"
		provider = "provider \"registry.opentofu.org/hashicorp/null\" {\n  version = \"3.2.1\"\n}\n"
	)
	render := func(key string) string { return strings.Replace(testBlock, `"a"`, `"`+key+`"`, 1) }
	for name, test := range map[string]struct{ before, left string }{
		"as a stock tool leaves it":    {header + "\n" + render("a") + "\n" + provider, header + "\n" + provider},
		"two blank lines":              {header + "\n" + render("a") + "\n" + provider, header + "\n\n" + provider},
		"behind another block":         {render("A") + "\n" + render("a") + "\n" + provider, render("A") + "\n\n" + provider},
		"in front of another block":    {header + "\n" + render("a") + "\n" + render("b") + "\n" + provider, header + "\n\n" + render("b") + "\n" + provider},
		"at the start of the file":     {render("a") + "\n" + provider, provider},
		"a comment of the provider's":  {header + "\n" + render("a") + "\n# about\n" + provider, header + "\n\n# about\n" + provider},
		"no provider":                  {header + "\n" + render("a"), header},
		"our header, the stock tool's": {own + "\n" + render("a") + "\n" + provider, header + "\n" + provider},
		"our header, and another one":  {own + "\n" + render("a") + "\n" + provider, own + "\n" + provider},
		"our header, no provider":      {own + "\n" + render("a"), header},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			former, file := parse(t, []byte(test.before), "before"), parse(t, []byte(test.left), "left")
			for _, m := range former.Modules() {
				file.SetModule(m)
			}
			file.RestoreHeader(former)
			if diff := gocmp.Diff(test.before, string(file.Bytes())); diff != "" {
				t.Errorf("Bytes (-before +got):\n%s", diff)
			}
		})
	}
	file := parse(t, []byte("# by hand\n\n"+provider), "x")
	file.RestoreHeader(parse(t, []byte(own+"\n"+provider), "former"))
	if got := string(file.Bytes()); got != "# by hand\n\n"+provider {
		t.Errorf("a comment of the user's became\n%s", got)
	}
}
