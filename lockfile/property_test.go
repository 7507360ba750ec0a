package lockfile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"pgregory.net/rapid"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

func isModule(b *hclsyntax.Block) bool {
	return b.Type == "module" && !strings.Contains(b.Labels[0], "/")
}

func isProvider(b *hclsyntax.Block) bool { return b.Type == "provider" }

// outside returns the lines outside of the blocks that leftOut selects, without blank lines and
// without the indentation of the blocks.
func outside(t testing.TB, src []byte, leftOut func(*hclsyntax.Block) bool) []string {
	t.Helper()
	file, diags := hclsyntax.ParseConfig(src, "x", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("not HCL: %v\n%s", diags, src)
	}
	var rest []byte
	pos := 0
	for _, b := range file.Body.(*hclsyntax.Body).Blocks {
		if leftOut(b) {
			rest = append(rest, bytes.TrimRight(src[pos:b.TypeRange.Start.Byte], " \t")...)
			pos = b.CloseBraceRange.End.Byte
		}
	}
	text := strings.TrimPrefix(string(append(rest, src[pos:]...)), "\ufeff")
	lines := strings.Split(text, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	if last := len(lines) - 1; last >= 0 { // which may have had no line end
		lines[last] = strings.TrimSuffix(lines[last], "\r")
	}
	return lines
}

// moduleKeys returns the module keys in order, and reports whether all modules precede the
// providers.
func moduleKeys(t testing.TB, src []byte) (keys []string, first bool) {
	t.Helper()
	file, _ := hclsyntax.ParseConfig(src, "x", hcl.InitialPos)
	first = true
	provider := false
	for _, b := range file.Body.(*hclsyntax.Body).Blocks {
		provider = provider || b.Type == "provider"
		if b.Type == "module" && !strings.Contains(b.Labels[0], "/") {
			keys = append(keys, b.Labels[0])
			first = first && !provider
		}
	}
	return keys, first
}

func hashGen(scheme string) *rapid.Generator[hashing.Hash] {
	return rapid.Custom(func(t *rapid.T) hashing.Hash {
		sum := sha256.Sum256([]byte{rapid.Byte().Draw(t, "hash")})
		return hashing.Hash(scheme + ":" + base64.StdEncoding.EncodeToString(sum[:]))
	})
}

var moduleGen = rapid.Custom(func(t *rapid.T) lockfile.Module {
	m := lockfile.Module{
		Key:         rapid.StringMatching(`[a-cA_é][a-b0-]{0,2}(\.[ab]){0,2}`).Draw(t, "key"),
		Version:     rapid.SampledFrom([]versions.Version{{}, versions.MustParse("1.0.0"), versions.MustParse("2.0.0-rc.1+meta")}).Draw(t, "version"),
		Source:      testenv.Package("https://example.com/" + rapid.StringMatching(`([a-z$%{}"\\~]|é|\x{1F600}|\x{301}|\x{200e}|\t|\x07){0,12}`).Draw(t, "source")),
		Constraints: rapid.SampledFrom([]versions.Constraints{{}, versions.MustParseConstraints("~> 1.0"), versions.MustParseConstraints(">= 3.0.0, < 4.0.0")}).Draw(t, "constraints"),
		Package:     rapid.SampledFrom([]addrs.ModuleSourceRemote{{}, testenv.Package("git::https://example.com/a.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0")}).Draw(t, "package"),
		Hashes:      []hashing.Hash{hashGen("t1").Draw(t, "t1"), hashGen("h1").Draw(t, "h1")},
	}
	return m
})

var providerGen = rapid.Custom(func(t *rapid.T) lockfile.Provider {
	source := rapid.SampledFrom([]string{"a/b", "a/b-2", "a-b/x", "example.com/a/b", "example.com:8443/a/b", "b\u00fccher.example/a/b", "xylo.example/a/b"}).Draw(t, "address")
	address, err := addrs.ParseProviderSource(source)
	if err != nil {
		t.Fatalf("ParseProviderSource(%q) = %v", source, err)
	}
	return lockfile.Provider{
		Address:     address,
		Version:     rapid.SampledFrom([]versions.Version{versions.MustParse("1.0.0"), versions.MustParse("2.0.0-rc.1+meta")}).Draw(t, "version"),
		Constraints: rapid.SampledFrom([]versions.ProviderConstraints{{}, versions.MustParseProviderConstraints("~> 1.0"), versions.MustParseProviderConstraints(">= 3.0.0, < 4.0.0")}).Draw(t, "constraints"),
		Hashes:      append(rapid.SliceOfN(hashGen("h1"), 0, 3).Draw(t, "h1"), rapid.SampledFrom([]hashing.Hash{"h9:x", "zz:y"}).Draw(t, "other")),
	}
})

var lockGen = rapid.Custom(func(t *rapid.T) string {
	blank := rapid.SampledFrom([]string{"", "\n", " \n\n"})
	space := rapid.SampledFrom([]string{" ", "  ", "\t"})
	seen := map[string]bool{}
	var src strings.Builder
	for range rapid.IntRange(0, 8).Draw(t, "pieces") {
		switch rapid.IntRange(0, 5).Draw(t, "piece") {
		case 0:
			src.WriteString("# comment { \"" + space.Draw(t, "s") + "\n")
		case 1:
			src.WriteString("/* module \"x\" {\n\n# } */\n")
		case 2:
			src.WriteString(space.Draw(t, "s") + "provider \"registry.opentofu.org/a/b\" {" + space.Draw(t, "s") + "# c\n  version  =\"1.0.0\"\nhashes=[\"x\",\n]\n}" + space.Draw(t, "s") + "\n")
		case 3:
			src.WriteString("module \"example.com/a/b/c\" { x = y }\n")
		case 5:
			p := providerGen.Draw(t, "provider")
			if seen[p.Address.String()] {
				continue
			}
			seen[p.Address.String()] = true
			src.WriteString("provider \"" + p.Address.String() + "\" { # p\n\tversion=\"" + p.Version.String() + "\"\n hashes = [ \"" + string(p.Hashes[0]) + "\" ]\n}" + rapid.SampledFrom([]string{"", "  # behind"}).Draw(t, "behind") + "\n")
		case 4:
			m := moduleGen.Draw(t, "module")
			if seen[m.Key] {
				continue
			}
			seen[m.Key] = true
			src.WriteString(space.Draw(t, "s") + "module \"" + m.Key + "\" {\n  source=\"git::https://example.com/x.git\"\n extra = [ ] # e\n\n hashes = [\"" + string(m.Hashes[0]) + "\"]\n}" + rapid.SampledFrom([]string{"", "  # behind"}).Draw(t, "behind") + "\n")
		}
		src.WriteString(blank.Draw(t, "blank"))
	}
	text := src.String()
	if rapid.Bool().Draw(t, "no newline") {
		text = strings.TrimSuffix(text, "\n")
	}
	if rapid.Bool().Draw(t, "CRLF") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark") + text
})

func TestEditsKeepEverythingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		src := lockGen.Draw(rt, "lock")
		file := parse(t, []byte(src), "before")
		if got := string(file.Bytes()); got != src {
			rt.Fatalf("Bytes = %q, want %q", got, src)
		}
		modules, faults := file.Modules(), len(file.ProviderFaults())
		edited := map[addrs.Provider]bool{}
		for range rapid.IntRange(0, 4).Draw(rt, "edits") {
			m, p, remove := moduleGen.Draw(rt, "module"), providerGen.Draw(rt, "provider"), rapid.Bool().Draw(rt, "remove")
			ofModule := rapid.Bool().Draw(rt, "of a module")
			switch {
			case ofModule && remove:
				file.RemoveModule(m.Key)
			case ofModule:
				file.SetModule(m)
			case remove:
				file.RemoveProvider(p.Address)
			default:
				file.SetProvider(p)
			}
			edited[p.Address] = edited[p.Address] || !ofModule
		}
		if err := file.Check(); err != nil {
			rt.Fatalf("Check = %v", err)
		}
		after := file.Bytes()
		again := parse(t, after, "after")
		assertSameModules(t, file, again)
		assertSameProviders(t, file, again)
		if got := len(again.ProviderFaults()); got != faults {
			rt.Fatalf("%d faults became %d in %q", faults, got, after)
		}
		if strings.TrimSpace(strings.TrimPrefix(src, "\ufeff")) != "" {
			isEdited := func(b *hclsyntax.Block) bool {
				p, err := addrs.ParseProviderSource(b.Labels[0])
				return isModule(b) || isProvider(b) && err == nil && edited[p]
			}
			if diff := gocmp.Diff(outside(t, []byte(src), isEdited), outside(t, after, isEdited)); diff != "" {
				rt.Fatalf("foreign bytes (-before +after):\n%s\nof %q\nnow %q", diff, src, after)
			}
		}
		if keys, first := moduleKeys(t, after); !slices.EqualFunc(modules, file.Modules(), lockfile.Module.Equal) && (!slices.IsSorted(keys) || !first) {
			rt.Fatalf("modules %q out of place in %q, was %q", keys, after, src)
		}
		if strings.Contains(src, "\r\n") && bytes.Count(after, []byte("\n")) != bytes.Count(after, []byte("\r\n")) {
			rt.Fatalf("mixed line ends in %q, was %q", after, src)
		}
		for _, m := range file.Modules() {
			again.SetModule(m)
		}
		for _, p := range file.Providers() {
			again.SetProvider(p)
		}
		if got := again.Bytes(); !bytes.Equal(got, after) {
			rt.Fatalf("setting the same changes %q to %q", after, got)
		}
	})
}

// layoutGen draws the block of a module in any layout: its items in any order, with comments, alignment and
// styles of lists, beside unknown attributes and nested blocks.
func layoutGen(m lockfile.Module) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		draw := func(texts ...string) string { return rapid.SampledFrom(texts).Draw(t, "layout") }
		hashes := rapid.Permutation(m.Hashes).Draw(t, "hashes")
		list := draw("[", "[ ", "[\n", "[ # of the files\n  # first\n    ")
		for i, h := range hashes {
			list += "\"" + string(h) + "\""
			switch {
			case i < len(hashes)-1:
				list += draw(", ", ",", ",\n\t", " # why, \"so\"\n  , ", ", /* \"x\", */ ", ", # c\n")
			case strings.Contains(list, "\n"):
				list += draw("", ",", ",\n", "\n", " # c\n", ", // c\n  ")
			default:
				list += draw("", ",", " ", ", ")
			}
		}
		equals := func() string { return draw("=", " = ", "   =\t") }
		items := []string{"source" + equals() + quoted(m.Source.String()), "hashes" + equals() + list + "]", "x" + equals() + "[ 1,\n2 ]", "y { # nested\n version = \"9.9.9\"\n  }"}
		for name, text := range map[string]string{"version": m.Version.String(), "constraints": m.Constraints.String(), "package": m.Package.String()} {
			if text != "" {
				items = append(items, name+equals()+quoted(text))
			}
		}
		slices.Sort(items) // the order of a map differs
		block := "module \"" + m.Key + "\" {" + draw("\n", " # c\n", "\n\n")
		for _, item := range rapid.Permutation(items).Draw(t, "order") {
			block += draw("", "  ", "\t", "  # above\n  ", "/* in front */ ") + item + draw("\n", "  \n\n", " # behind\n", " /* of two\n lines */ \n")
		}
		return block + draw("", "  ", "  # at the end\n") + "}"
	})
}

func quoted(text string) string {
	return "\"" + strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "${", "$${", "%{", "%%{", "\t", "\\t").Replace(text) + "\""
}

// tokensBesides returns all comments, and the tokens of what is not an item of a module, in order.
func tokensBesides(t testing.TB, src string) []string {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte(src), "x", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("not HCL: %v\n%s", diags, src)
	}
	tokens, _ := hclsyntax.LexConfig([]byte(src), "x", hcl.InitialPos)
	known := []hcl.Range{}
	for _, block := range file.Body.(*hclsyntax.Body).Blocks {
		for _, name := range []string{"version", "source", "constraints", "package", "hashes"} {
			if attribute, ok := block.Body.Attributes[name]; ok {
				known = append(known, attribute.SrcRange)
			}
		}
	}
	var texts []string
	for _, token := range tokens {
		isKnown := slices.ContainsFunc(known, func(r hcl.Range) bool {
			return r.Start.Byte <= token.Range.Start.Byte && token.Range.End.Byte <= r.End.Byte
		})
		if token.Type == hclsyntax.TokenComment || !isKnown && token.Type != hclsyntax.TokenNewline {
			texts = append(texts, strings.TrimSpace(string(token.Bytes)))
		}
	}
	slices.Sort(texts)
	return texts
}

// A block that changes keeps its bytes, except for the values that change.
func TestEditsKeepLayout(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m, other := moduleGen.Draw(rt, "module"), moduleGen.Draw(rt, "other")
		src := layoutGen(m).Draw(rt, "block") + "\n"
		if rapid.Bool().Draw(rt, "CRLF") {
			src = strings.ReplaceAll(src, "\n", "\r\n")
		}
		file := parse(t, []byte(src), "before")
		changed, want := m, src
		isReplaced := true // no attribute is added or removed
		text := func(old, updated string) {
			isReplaced = isReplaced && (old == "") == (updated == "")
			if old != "" {
				want = strings.Replace(want, quoted(old), quoted(updated), 1)
			}
		}
		switch rapid.IntRange(0, 4).Draw(rt, "what") {
		case 0:
			changed.Version = other.Version
			text(m.Version.String(), other.Version.String())
		case 1:
			changed.Constraints = other.Constraints
			text(m.Constraints.String(), other.Constraints.String())
		case 2:
			changed.Package = other.Package
			text(m.Package.String(), other.Package.String())
		case 3:
			changed.Hashes = other.Hashes
			for i, h := range m.Hashes {
				text(string(h), string(other.Hashes[i]))
			}
		default:
			other.Key = m.Key
			other.Hashes = rapid.SampledFrom([][]hashing.Hash{other.Hashes, other.Hashes[:1], append(other.Hashes, "zz:1"), {m.Hashes[1]}, append(m.Hashes, "a:1", "i:1")}).Draw(rt, "hashes")
			changed, isReplaced = other, false
		}
		file.SetModule(changed)
		after := string(file.Bytes())
		assertSameModules(t, file, parse(t, []byte(after), "after"))
		if isReplaced && after != want {
			rt.Fatalf("after (-want +got):\n%s", gocmp.Diff(want, after))
		}
		if diff := gocmp.Diff(tokensBesides(t, src), tokensBesides(t, after)); diff != "" {
			rt.Fatalf("comments and unknown content (-before +after):\n%s\nof %s\nnow %s", diff, src, after)
		}
		if strings.Contains(src, "\r\n") && strings.Count(after, "\n") != strings.Count(after, "\r\n") {
			rt.Fatalf("mixed line ends in %q, was %q", after, src)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"good-seed.hcl", "good-newer-draft.hcl", "good-layouts.hcl"} {
		f.Add(readFixture(f, name))
	}
	f.Add([]byte("provider \"p\" {}"))
	f.Add([]byte("\ufeff/* x */ module \"a\" {\n source = \"a\"\n hashes = [\"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"]\n} // y"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := lockfile.Parse(src, "x")
		if err != nil {
			return
		}
		if got := file.Bytes(); !bytes.Equal(got, src) {
			t.Fatalf("Bytes = %q, want %q", got, src)
		}
		file.SetModule(testModule("zzz"))
		changed := parse(t, file.Bytes(), "changed")
		assertSameModules(t, file, changed)
		changed.RemoveModule("zzz")
		if len(bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\ufeff")))) == 0 {
			return // a header is added
		}
		before, after := strings.Join(outside(t, src, isModule), ""), strings.Join(outside(t, changed.Bytes(), isModule), "")
		if strings.Join(strings.Fields(before), "") != strings.Join(strings.Fields(after), "") {
			t.Fatalf("foreign bytes %q became %q", before, after)
		}
	})
}
