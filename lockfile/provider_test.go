package lockfile_test

import (
	"encoding"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

const (
	hashA = hashing.Hash("h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
	hashB = hashing.Hash("h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4=")
	hashZ = hashing.Hash("zh:559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd")
)

func address(t testing.TB, source string) addrs.Provider {
	t.Helper()
	p, err := addrs.ParseProviderSource(source)
	testenv.Must(t, err)
	return p
}

func lockedProvider(t testing.TB, source, version, constraints string, hashes ...hashing.Hash) lockfile.Provider {
	t.Helper()
	return lockfile.Provider{Address: address(t, source), Version: versions.MustParse(version), Constraints: parsed[versions.ProviderConstraints](t, constraints), Hashes: hashes}
}

// A new file with providers equals the one that "tofu init" writes.
func TestNewFileOfProviders(t *testing.T) {
	t.Parallel()
	const want = `# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "b-2.example/a/b" {
  version = "1.0.0"
  hashes = [
    "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
  ]
}

provider "example.com/a/b" {
  version = "2.1.0+build"
}

provider "example.com:8443/a/b" {
  version     = "1.0.0"
  constraints = "~> 1.0"
}

provider "registry.opentofu.org/hashicorp/null" {
  version     = "3.2.1"
  constraints = ">= 1.0.0, < 4.0.0"
  hashes = [
    "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4=",
    "zh:559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd",
  ]
}

provider "bücher.example/a/b" {
  version = "1.0.0"
}
`
	var file lockfile.File
	file.NameTool("tofu")
	file.SetProvider(lockedProvider(t, "bücher.example/a/b", "1.0.0", ""))
	file.SetProvider(lockedProvider(t, "null", "3.2.1", ">= 1.0.0, < 4.0.0", hashZ, hashB, hashA, hashB))
	file.SetProvider(lockedProvider(t, "example.com:8443/a/b", "1.0.0", "~> 1.0"))
	file.SetProvider(lockedProvider(t, "example.com:443/A/b", "2.1.0+build", ""))
	file.SetProvider(lockedProvider(t, "b-2.example/a/b", "1.0.0", "", hashA))
	testenv.Must(t, file.Check())
	if diff := gocmp.Diff(want, string(file.Bytes())); diff != "" {
		t.Errorf("Bytes (-want +got):\n%s", diff)
	}
	assertSameProviders(t, &file, parse(t, file.Bytes(), "again"))
}

func assertSameProviders(t testing.TB, a, b *lockfile.File) {
	t.Helper()
	if diff := gocmp.Diff(a.Providers(), b.Providers(), cmpopts.IgnoreFields(lockfile.Provider{}, "Range"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("providers (-set +read):\n%s", diff)
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tool    string
		modules bool
		want    string
	}{
		{"tofu", false, `# This file is maintained automatically by "tofu init".`},
		{"terraform", false, `# This file is maintained automatically by "terraform init".`},
		{"", false, `# This file is maintained automatically by "tofu init" or "terraform init".`},
		{"tofu", true, `# This file is maintained automatically by "cotter install" and "tofu init".`},
		{"", true, `# This file is maintained automatically by "cotter install" and "tofu init" or "terraform init".`},
	} {
		var file lockfile.File
		file.NameTool(test.tool)
		file.SetProvider(lockedProvider(t, "a/b", "1.0.0", ""))
		if test.modules {
			file.SetModule(testModule("a"))
		}
		if first, _, _ := strings.Cut(string(file.Bytes()), "\n"); first != test.want {
			t.Errorf("header for %q = %q, want %q", test.tool, first, test.want)
		}
	}
}

// A generated header names the tool of the run that writes the file. Other comments stay.
func TestHeaderOfOtherTool(t *testing.T) {
	t.Parallel()
	const block = "\nprovider \"registry.terraform.io/a/b\" {\n  version = \"1.0.0\"\n}\n"
	generated := func(tool string, modules bool) string {
		var file lockfile.File
		file.NameTool(tool)
		if modules {
			file.SetModule(testModule("a"))
		} else {
			file.SetProvider(lockedProvider(t, "a/b", "1.0.0", ""))
		}
		return string(file.Bytes())
	}
	for _, test := range []struct{ name, src, tool, want string }{
		{name: "a stock tool's", src: "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n" + block, tool: "tofu", want: `# This file is maintained automatically by "tofu init".`},
		{name: "Cotter's", src: generated("tofu", true), tool: "terraform", want: `"terraform init", which keeps`},
		{name: "the same tool's", src: generated("tofu", false), tool: "tofu", want: `by "tofu init".`},
		{name: "no tool", src: generated("tofu", false), want: `by "tofu init".`},
		{name: "of both", src: generated("", false), tool: "tofu", want: `by "tofu init" or "terraform init".`},
		{name: "a user's comment", src: "# by \"terraform init\"\n" + block, tool: "tofu", want: `# by "terraform init"`},
		{name: "a longer comment", src: "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n# But not these.\n" + block, tool: "tofu", want: `"terraform init".`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := parse(t, []byte(test.src), test.name)
			file.SetProvider(lockedProvider(t, "c/d", "1.0.0", ""))
			file.NameTool(test.tool)
			header, _, _ := strings.Cut(string(file.Bytes()), "\n\n")
			if !strings.Contains(header, test.want) {
				t.Errorf("the header is %q, want one with %q", header, test.want)
			}
			if _, below, _ := strings.Cut(test.src, "\n\n"); !strings.Contains(string(file.Bytes()), below) {
				t.Errorf("the blocks have changed:\n%s", file.Bytes())
			}
		})
	}
}

func TestProviderEdits(t *testing.T) {
	t.Parallel()
	const (
		header = "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n"
		odd    = "# about b\nprovider \"registry.opentofu.org/a/b\" { # odd\n version=\"1.0.0\"\n constraints = \"~> 1.0\"\n}  # behind\n"
		later  = "provider \"registry.opentofu.org/a/z\" {\n  version = \"1.0.0\"\n}\n"
		added  = "provider \"registry.opentofu.org/a/c\" {\n  version = \"1.0.0\"\n}\n"
		first  = "provider \"registry.opentofu.org/a/a\" {\n  version = \"1.0.0\"\n}\n"
	)
	tests := []struct {
		name, before string
		edit         func(*lockfile.File)
		after        string
	}{
		{
			name: "between", before: header + "\n" + odd + "\n" + later,
			edit:  func(f *lockfile.File) { f.SetProvider(lockedProvider(t, "a/c", "1.0.0", "")) },
			after: header + "\n" + odd + "\n" + added + "\n" + later,
		},
		{
			name: "first", before: header + "\n" + odd,
			edit:  func(f *lockfile.File) { f.SetProvider(lockedProvider(t, "a/a", "1.0.0", "")) },
			after: header + "\n" + first + "\n" + odd,
		},
		{
			name: "a module before a provider", before: header + "\n" + odd,
			edit: func(f *lockfile.File) {
				f.SetProvider(lockedProvider(t, "a/a", "1.0.0", ""))
				f.SetModule(testModule("a"))
			},
			after: header + "\n" + testBlock + "\n" + first + "\n" + odd,
		},
		{
			name: "the first provider after modules", before: header + "\n" + testBlock,
			edit: func(f *lockfile.File) {
				f.SetProvider(lockedProvider(t, "a/a", "1.0.0", ""))
				b := testModule("b")
				f.SetModule(b)
			},
			after: header + "\n" + testBlock + "\n" + strings.Replace(testBlock, `"a"`, `"b"`, 1) + "\n" + first,
		},
		{
			name: "removed", before: header + "\n" + odd + "\n" + later,
			edit:  func(f *lockfile.File) { f.RemoveProvider(address(t, "a/z")) },
			after: header + "\n" + odd,
		},
		{
			name: "equal", before: header + "\n" + odd + "\n\n" + later,
			edit:  func(f *lockfile.File) { f.SetProvider(lockedProvider(t, "a/b", "1.0.0", "~> 1.0")) },
			after: header + "\n" + odd + "\n\n" + later,
		},
		{
			name: "replaced", before: header + "\n" + odd + "\n" + "provider \"other\" { # not an address\n}\n",
			edit:  func(f *lockfile.File) { f.SetProvider(lockedProvider(t, "a/b", "1.1.0", "~> 1.0", hashA)) },
			after: header + "\n" + strings.NewReplacer("1.0.0", "1.1.0", "\n}", "\n hashes = [\n   \""+string(hashA)+"\",\n ]\n}").Replace(odd) + "\n" + "provider \"other\" { # not an address\n}\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := parse(t, []byte(test.before), "x")
			test.edit(file)
			if diff := gocmp.Diff(test.after, string(file.Bytes())); diff != "" {
				t.Errorf("Bytes (-want +got):\n%s", diff)
			}
			assertSameProviders(t, file, parse(t, file.Bytes(), "again"))
		})
	}
}

// A lock can have more constraints than the configuration of a single module.
func TestLongConstraints(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int{4_000: 0, 8_000: 1} {
		var parts []string
		for i := range size {
			parts = append(parts, fmt.Sprintf(">= 1.0.%d", 1000+i))
		}
		file := parse(t, []byte("provider \"example.com/a/b\" {\n  version = \"2.0.0\"\n  constraints = \""+strings.Join(parts, ", ")+"\"\n}\n"), "x")
		if faults := file.ProviderFaults(); len(faults) != want {
			t.Errorf("%d constraints: %v", size, faults)
		}
	}
}

func TestProvider(t *testing.T) {
	t.Parallel()
	file := parse(t, []byte("\n\nprovider \"registry.opentofu.org/hashicorp/aws\" {\n  version = \"5.0.0\"\n  hashes = [\"zz:b\", \"h9:a\", \"zz:b\"]\n}\n"), "x.hcl")
	got, ok := file.Provider(address(t, "aws"))
	want := lockedProvider(t, "aws", "5.0.0", "", "h9:a", "zz:b")
	if !ok || !got.Equal(want) || !slices.Equal(got.Hashes, want.Hashes) || got.Range.Start.Line != 3 || got.Range.Filename != "x.hcl" {
		t.Errorf("Provider(aws) = %+v, %v", got, ok)
	}
	if got, ok := file.Provider(address(t, "null")); ok {
		t.Errorf("Provider(null) = %v, true", got)
	}
	clone := file.Clone()
	clone.RemoveProvider(address(t, "aws"))
	clone.RemoveProvider(address(t, "null"))
	got.Hashes[0] = "changed"
	if len(file.Providers()) != 1 || len(clone.Providers()) != 0 || !file.Providers()[0].Equal(want) {
		t.Errorf("Providers = %v, of the clone %v", file.Providers(), clone.Providers())
	}
}

func TestMergeOfOneProvider(t *testing.T) {
	t.Parallel()
	locked := lockedProvider(t, "a/b", "1.0.0", "~> 1.0", hashA, "h9:x")
	for name, test := range map[string]struct{ installed, want lockfile.Provider }{
		"same version":   {lockedProvider(t, "a/b", "1.0.0", ">= 1.0.0", hashZ, hashA), lockedProvider(t, "a/b", "1.0.0", ">= 1.0.0", hashA, hashZ)},
		"other version":  {lockedProvider(t, "a/b", "1.1.0", "", hashB, hashB), lockedProvider(t, "a/b", "1.1.0", "", hashB)},
		"other metadata": {lockedProvider(t, "a/b", "1.0.0+b", "", hashB), lockedProvider(t, "a/b", "1.0.0+b", "", hashB)},
		"other address":  {lockedProvider(t, "a/c", "1.0.0", "", hashB), lockedProvider(t, "a/c", "1.0.0", "", hashB)},
	} {
		if diff := gocmp.Diff(test.want, locked.Merge(test.installed)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCheckRefusesInvalidProviders(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, attribute string
		change          func(*lockfile.Provider)
	}{
		{"zero address", "", func(p *lockfile.Provider) { p.Address = addrs.Provider{} }},
		{"legacy", "", func(p *lockfile.Provider) { p.Address.Namespace = "-" }},
		{"built in", "", func(p *lockfile.Provider) { p.Address = address(t, "terraform.io/builtin/terraform") }},
		{"not normalized", "", func(p *lockfile.Provider) { p.Address.Type = "B" }},
		{"version of a module", "version", func(p *lockfile.Provider) { p.Version = versions.MustParse("1.0.0.0") }},
		{"no version", "version", func(p *lockfile.Provider) { p.Version = versions.Version{} }},
		{"hash", "hashes", func(p *lockfile.Provider) { p.Hashes = []hashing.Hash{"x"} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := lockedProvider(t, "a/b", "1.0.0", "", hashA)
			test.change(&p)
			var file lockfile.File
			file.SetProvider(p)
			var bad *lockfile.ProviderError
			if err := file.Check(); !errors.As(err, &bad) || bad.Address != p.Address || bad.Attribute != test.attribute {
				t.Errorf("Check = %v, want a *ProviderError about %q", err, test.attribute)
			}
		})
	}
}

// A block with a comment inside keeps its bytes when other blocks are written. "//" in a value is
// no comment.
func TestSetProvidersKeepsComments(t *testing.T) {
	t.Parallel()
	const rendered = "provider \"registry.opentofu.org/a/b\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"h1:\\\"//#\",\n  ]\n}\n"
	for body, keeps := range map[string]bool{
		"version=\"1.0.0\"\nhashes=[\"h1:\\\"//#\"]":                false,
		"version=\"1.0.0\" # why\nhashes=[\"h1:\\\"//#\"]":          true,
		"version=\"1.0.0\" // why\nhashes=[\"h1:\\\"//#\"]":         true,
		"version=\"1.0.0\"\nhashes=[/* why */\"h1:\\\"//#\"]":       true,
		"version=\"1.0.0\" # why\nhashes=[\"h1:x\",\"h1:\\\"//#\"]": false,
	} {
		block := "provider \"registry.opentofu.org/a/b\" {\n" + body + "\n}\n"
		file := parse(t, []byte("# c\n\n"+block), "x")
		file.SetProviders([]lockfile.Provider{lockedProvider(t, "a/b", "1.0.0", "", "h1:\"//#"), lockedProvider(t, "a/c", "1.0.0", "")})
		want := rendered
		if keeps {
			want = block
		}
		if got := string(file.Bytes()); !strings.HasPrefix(got, "# c\n\n"+want+"\n") {
			t.Errorf("%q becomes %q", block, got)
		}
	}
}

// The header of a lock without a comment is its beginning, also if the same change adds the first
// module block.
func TestHeaderOfChangedLock(t *testing.T) {
	t.Parallel()
	for _, bom := range []string{"", "\ufeff"} {
		file := parse(t, []byte(bom+"provider \"registry.opentofu.org/a/b\" {\n  version = \"1.0.0\"\n}\n"), "x")
		file.SetModule(lockfile.Module{Key: "net", Source: testenv.Source("registry.opentofu.org/acme/net/aws"), Version: versions.MustParse("1.0.0"), Hashes: []hashing.Hash{"h1:x"}})
		file.SetProviders([]lockfile.Provider{lockedProvider(t, "a/b", "2.0.0", "", "h1:x")})
		text := strings.TrimPrefix(string(file.Bytes()), bom)
		if module := strings.Index(text, "module \"net\""); !strings.HasPrefix(text, "# ") || module < 0 || module > strings.Index(text, "provider \"") {
			t.Errorf("the lock begins otherwise than with a header, a module and a provider:\n%s", text)
		}
	}
}

// SetProviders writes a lock that stock tools read and do not write again, and loses nothing
// outside of provider blocks.
func TestSetProvidersProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		src := "# no header is added\n" + strings.TrimPrefix(lockGen.Draw(rt, "lock"), "\ufeff")
		file := parse(t, []byte(src), "before")
		if len(file.ProviderFaults()) > 0 {
			return
		}
		var all []lockfile.Provider
		for _, p := range rapid.SliceOfNDistinct(providerGen, 0, 5, func(p lockfile.Provider) addrs.Provider { return p.Address }).Draw(rt, "all") {
			old, _ := file.Provider(p.Address)
			all = append(all, old.Merge(p))
		}
		file.SetProviders(all)
		if err := file.Check(); err != nil {
			rt.Fatalf("Check = %v", err)
		}
		after := file.Bytes()
		again := parse(t, after, "after")
		assertSameModules(t, file, again)
		if diff := gocmp.Diff(len(all), len(again.Providers())); diff != "" || len(again.ProviderFaults()) > 0 {
			rt.Fatalf("%d providers, want %d, and faults %v in %q", len(again.Providers()), len(all), again.ProviderFaults(), after)
		}
		before, kept := outside(t, []byte(src), isProvider), outside(t, after, isProvider)
		for _, lines := range [][]string{before, kept} {
			for i, line := range lines {
				lines[i] = strings.TrimSpace(line)
			}
			slices.Sort(lines) // comments move with their blocks
		}
		if diff := gocmp.Diff(before, kept, cmpopts.EquateEmpty()); diff != "" {
			rt.Fatalf("foreign lines (-before +after):\n%s\nof %q\nnow %q", diff, src, after)
		}
		again.SetProviders(all)
		if got := again.Bytes(); string(got) != string(after) {
			rt.Fatalf("setting the same changes %q to %q", after, got)
		}
	})
}

// parsed returns the value of a text; "" is the zero value.
func parsed[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](t testing.TB, text string) (value T) {
	t.Helper()
	testenv.Must(t, P(&value).UnmarshalText([]byte(text)))
	return value
}
