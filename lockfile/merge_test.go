package lockfile_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// lockText returns a lock with a module for each "key=version" and a provider for each
// "@address=version".
func lockText(entries ...string) string {
	var modules, providers strings.Builder
	for _, entry := range entries {
		name, version, _ := strings.Cut(entry, "=")
		if address, ok := strings.CutPrefix(name, "@"); ok {
			fmt.Fprintf(&providers, "\nprovider %q {\n  version = %q\n}\n", address, version)
			continue
		}
		fmt.Fprintf(&modules, "\nmodule %q {\n  version = %q\n  source  = \"registry.example.com/a/b/c\"\n\n  hashes = [\n    %q,\n  ]\n}\n",
			name, version, "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
	}
	return strings.TrimPrefix("# a comment\n"+modules.String()+providers.String(), "\n")
}

func names(conflicts []lockfile.Conflict) []string {
	var list []string
	for _, c := range conflicts {
		list = append(list, c.Type+" "+c.Label)
	}
	return list
}

func TestMergeResolve(t *testing.T) {
	t.Parallel()
	base, ours, theirs := lockText("a=1.0.0", "b=1.0.0", "c=1.0.0", "@registry.opentofu.org/o/p=1.0.0"), lockText("a=2.0.0", "b=2.0.0", "@registry.opentofu.org/o/p=2.0.0"), lockText("a=3.0.0", "b=3.0.0", "c=2.0.0", "@registry.opentofu.org/o/p=3.0.0")
	merged, conflicts := lockfile.Merge(parse(t, []byte(base), ""), parse(t, []byte(ours), ""), parse(t, []byte(theirs), ""), func(c lockfile.Conflict) lockfile.Side {
		switch {
		case c.Type == "provider" && c.OurProvider.Version.String() == "2.0.0" && c.TheirProvider.Version.String() == "3.0.0",
			c.Label == "c" && c.OurModule == nil && c.TheirModule.Version.String() == "2.0.0":
			return lockfile.Theirs
		case c.Label == "a" && c.OurModule.Version.String() == "2.0.0" && c.TheirModule.Version.String() == "3.0.0":
			return lockfile.Ours
		}
		return lockfile.Neither
	})
	if diff := cmp.Diff([]string{"module b"}, names(conflicts)); diff != "" {
		t.Errorf("conflicts (-want +got):\n%s", diff)
	}
	for text, want := range map[string]int{"<<<<<<<": 1, `"1.0.0"`: 0, `"2.0.0"`: 3, `"3.0.0"`: 2} { // a and b; p and b; c
		if got := strings.Count(string(merged), text); got != want {
			t.Errorf("%q is %d times in the result, want %d:\n%s", text, got, want, merged)
		}
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	const v1, v2, v3 = "1.0.0", "2.0.0", "3.0.0"
	for name, tt := range map[string]struct {
		base, ours, theirs, want []string
		conflicts                []string
	}{
		"nothing":          {base: []string{"a=" + v1}, ours: []string{"a=" + v1}, theirs: []string{"a=" + v1}, want: []string{"a=" + v1}},
		"different keys":   {base: []string{"a=" + v1, "b=" + v1}, ours: []string{"a=" + v2, "b=" + v1}, theirs: []string{"a=" + v1, "b=" + v2}, want: []string{"a=" + v2, "b=" + v2}},
		"the same change":  {base: []string{"a=" + v1}, ours: []string{"a=" + v2}, theirs: []string{"a=" + v2}, want: []string{"a=" + v2}},
		"both add":         {ours: []string{"a=" + v1}, theirs: []string{"b=" + v1}, want: []string{"a=" + v1, "b=" + v1}},
		"theirs removes":   {base: []string{"a=" + v1, "b=" + v1}, ours: []string{"a=" + v1, "b=" + v1}, theirs: []string{"b=" + v1}, want: []string{"b=" + v1}},
		"ours removes":     {base: []string{"a=" + v1, "b=" + v1}, ours: []string{"b=" + v1}, theirs: []string{"a=" + v1, "b=" + v1}, want: []string{"b=" + v1}},
		"providers":        {base: []string{"@p=" + v1, "@q=" + v1}, ours: []string{"@p=" + v2, "@q=" + v1}, theirs: []string{"@o=" + v1, "@p=" + v1}, want: []string{"@o=" + v1, "@p=" + v2}},
		"provider at last": {base: []string{"@p=" + v1}, ours: []string{"@p=" + v1}, theirs: []string{"@p=" + v1, "@q=" + v1}, want: []string{"@p=" + v1, "@q=" + v1}},
		"conflict":         {base: []string{"a=" + v1}, ours: []string{"a=" + v2}, theirs: []string{"a=" + v3}, conflicts: []string{"module a"}},
		"both add one":     {ours: []string{"a=" + v2, "@p=" + v1}, theirs: []string{"a=" + v3, "@p=" + v2}, conflicts: []string{"module a", "provider p"}},
		"removed, changed": {base: []string{"a=" + v1, "@p=" + v1}, theirs: []string{"a=" + v2, "@p=" + v2}, conflicts: []string{"module a", "provider p"}},
		"changed, removed": {base: []string{"a=" + v1, "@p=" + v1}, ours: []string{"a=" + v2, "@p=" + v2}, conflicts: []string{"module a", "provider p"}},
	} {
		merged, conflicts := lockfile.Merge(parse(t, []byte(lockText(tt.base...)), "base"), parse(t, []byte(lockText(tt.ours...)), "ours"), parse(t, []byte(lockText(tt.theirs...)), "theirs"), nil)
		if diff := cmp.Diff(tt.conflicts, names(conflicts)); diff != "" {
			t.Errorf("%s: conflicts (-want +got):\n%s", name, diff)
		}
		if tt.conflicts == nil {
			if diff := cmp.Diff(lockText(tt.want...), string(merged)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
			merged, _ = lockfile.Merge(parse(t, []byte(lockText(tt.base...)), "base"), parse(t, []byte(crlf(lockText(tt.ours...))), "ours"), parse(t, []byte(lockText(tt.theirs...)), "theirs"), nil)
			if diff := cmp.Diff(crlf(lockText(tt.want...)), string(merged)); diff != "" {
				t.Errorf("%s, CRLF in ours (-want +got):\n%s", name, diff)
			}
			continue
		}
		if _, err := lockfile.Parse(merged, "merged"); err == nil || strings.Count(string(merged), "<<<<<<< ours\n") != len(conflicts) {
			t.Errorf("%s: the conflicts are not marked:\n%s", name, merged)
		}
	}
}

// What is neither a module nor a provider is not merged: if both sides changed the file and differ
// there, the result has both files.
func TestMergeOther(t *testing.T) {
	t.Parallel()
	entry, newer := lockText("a=1.0.0", "@p=1.0.0"), lockText("a=2.0.0", "@p=1.0.0")
	for name, test := range map[string]struct{ base, ours, theirs, want string }{
		"an argument":               {entry, newer, entry + "x = 1\n", ""},
		"an argument, other side":   {entry, "x = 1\n" + entry, newer, ""},
		"a block":                   {"policy {\n  a = 1\n}\n", "policy {\n  a = 2\n}\n", "policy {\n  a = 3\n}\n", ""},
		"a block vanishes":          {"locals {}\nx = 1\n", "locals {}\nx = 2\n", "x = 1\n", ""},
		"comments beside a block":   {"locals {}\n", "# a\nlocals {}\n", "# b\nlocals {}\n", ""},
		"two equal blocks":          {"locals {}\n", "locals {}\nlocals {}\n", "locals {}\n\nlocals {}\n\nlocals {}\n", ""},
		"a provider without label":  {"", "provider {\n}\n", "provider {\n  a = 1\n}\n", ""},
		"two blocks of a provider":  {"", "provider \"p\" {}\nprovider \"p\" {}\n", "provider \"p\" {\n  x = 1\n}\nprovider \"p\" {}\n", ""},
		"a module of a later draft": {entry, newer, entry + "module \"a/b\" {}\n", ""},
		"the same argument":         {entry, newer + "x = 1\n", entry + "x = 1\n", newer + "x = 1\n"},
		"only ours":                 {"locals {}\n", "locals {\n}\n", "locals {}\n", "locals {\n}\n"},
		"only theirs":               {"locals {}\n", "locals {}\n", "x = 1\n", "x = 1\n"},
		"only comments":             {entry, "# ours\n" + newer, "# theirs\n" + entry, "# ours\n" + newer},
	} {
		merged, conflicts := lockfile.Merge(parse(t, []byte(test.base), "base"), parse(t, []byte(test.ours), "ours"), parse(t, []byte(test.theirs), "theirs"), nil)
		want, wantConflicts := test.want, []lockfile.Conflict(nil)
		if want == "" {
			want, wantConflicts = "<<<<<<< ours\n"+test.ours+"=======\n"+test.theirs+">>>>>>> theirs\n", []lockfile.Conflict{{Type: "other"}}
		}
		if diff := cmp.Diff(want, string(merged)) + cmp.Diff(wantConflicts, conflicts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Conflict markers contain both blocks as a whole.
func TestMergeMarkers(t *testing.T) {
	t.Parallel()
	merged, _ := lockfile.Merge(&lockfile.File{}, parse(t, []byte("provider \"p\" {\n  version = \"1.0.0\" # ours\n}\n"), ""), parse(t, []byte("provider \"p\" {\n  version = \"2.0.0\"\n}\n"), ""), nil)
	want := "<<<<<<< ours\nprovider \"p\" {\n  version = \"1.0.0\" # ours\n}\n=======\nprovider \"p\" {\n  version = \"2.0.0\"\n}\n>>>>>>> theirs\n"
	if diff := cmp.Diff(want, string(merged)); diff != "" {
		t.Errorf("Merge (-want +got):\n%s", diff)
	}
}

func TestMergeProperties(t *testing.T) {
	t.Parallel()
	entry := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"a", "b", "c", "@p", "@q", "@r"}).Draw(t, "name") + "=" + rapid.SampledFrom([]string{"1.0.0", "2.0.0"}).Draw(t, "version")
	})
	lock := rapid.Custom(func(t *rapid.T) []byte {
		entries := rapid.SliceOfNDistinct(entry, 0, 6, func(e string) string { name, _, _ := strings.Cut(e, "="); return name }).Draw(t, "entries")
		return []byte(lockText(entries...))
	})
	rapid.Check(t, func(rt *rapid.T) {
		base, ours, theirs := lock.Draw(rt, "base"), lock.Draw(rt, "ours"), lock.Draw(rt, "theirs")
		read := func(src []byte) *lockfile.File { return parse(t, src, "x") }
		if merged, conflicts := lockfile.Merge(read(base), read(ours), read(base), nil); conflicts != nil || string(merged) != string(ours) {
			rt.Errorf("a merge with the base is %q, want %q", merged, ours)
		}
		if merged, conflicts := lockfile.Merge(read(base), read(ours), read(ours), nil); conflicts != nil || string(merged) != string(ours) {
			rt.Errorf("a merge with itself is %q, want %q", merged, ours)
		}
		one, conflicts := lockfile.Merge(read(base), read(ours), read(theirs), nil)
		other, mirrored := lockfile.Merge(read(base), read(theirs), read(ours), nil)
		if diff := cmp.Diff(names(conflicts), names(mirrored)); diff != "" {
			rt.Errorf("conflicts depend on the side:\n%s", diff)
		}
		if conflicts == nil {
			if diff := cmp.Diff(read(one).Modules(), read(other).Modules(), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Range" }, cmp.Ignore())); diff != "" {
				rt.Errorf("modules depend on the side:\n%s", diff)
			}
			if diff := cmp.Diff(len(read(one).ProviderLabels()), len(read(other).ProviderLabels())); diff != "" {
				rt.Errorf("providers depend on the side:\n%s", diff)
			}
		}
	})
}

// A merge is one of what the files say, not of what was read: the result is the same as that of the written files,
// byte for byte, whatever was edited, cloned, written and read before.
func TestMergeOfEditedFiles(t *testing.T) {
	t.Parallel()
	edited := func(rt *rapid.T, name string, src []byte) *lockfile.File {
		file := parse(t, src, name)
		for range rapid.IntRange(0, 5).Draw(rt, name+": edits") {
			key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, name+": key")
			version := rapid.SampledFrom([]string{"1.0.0", "2.0.0", "3.0.0"}).Draw(rt, name+": version")
			provider := lockedProvider(t, "o/"+key, version, "", rapid.SampledFrom([]hashing.Hash{hashA, hashB}).Draw(rt, name+": hash"))
			m := testModule(key)
			m.Version = versions.MustParse(version)
			switch rapid.IntRange(0, 8).Draw(rt, name+": edit") {
			case 0, 1, 2:
				file.SetModule(m)
			case 3:
				file.RemoveModule(key)
			case 4:
				file.SetProvider(provider)
			case 5:
				file.RemoveProvider(provider.Address)
			case 6:
				file.SetProviders(append(file.Providers(), provider))
			case 7:
				file = file.Clone()
			default:
				file = parse(t, file.Bytes(), name)
			}
		}
		return file
	}
	rapid.Check(t, func(rt *rapid.T) {
		src := []byte(rapid.SampledFrom([]string{"", lockText("a=1.0.0", "b=1.0.0", "@registry.opentofu.org/o/a=1.0.0"), lockText("a=1.0.0", "c=1.0.0") + "locals {}\n"}).Draw(rt, "lock"))
		base, ours, theirs := edited(rt, "base", src), edited(rt, "ours", src), edited(rt, "theirs", src)
		written := func(f *lockfile.File) *lockfile.File { return parse(t, f.Bytes(), "written") }
		want, wantConflicts := lockfile.Merge(written(base), written(ours), written(theirs), nil)
		merged, conflicts := lockfile.Merge(base, ours, theirs, nil)
		if diff := cmp.Diff(string(want), string(merged)) + cmp.Diff(names(wantConflicts), names(conflicts)); diff != "" {
			rt.Fatalf("not the merge of what the files say (-want +got):\n%s", diff)
		}
		if conflicts != nil {
			return
		}
		result := parse(t, merged, "merged")
		for _, key := range []string{"a", "b", "c"} {
			was, _ := base.Module(key)
			our, _ := ours.Module(key)
			their, _ := theirs.Module(key)
			got, _ := result.Module(key)
			if (!our.Equal(was) && !got.Equal(our)) || (!their.Equal(was) && !got.Equal(their)) {
				rt.Fatalf("a change of module %s is lost without a conflict:\n%s", key, merged)
			}
		}
	})
}

// A change that cannot be written is a conflict, not nothing.
func TestMergeOfInvalidChange(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*lockfile.Module){
		"credentials": func(m *lockfile.Module) { m.Source = testenv.Package("git::https://user:hunter2@example.com/a.git") },
		"no hash":     func(m *lockfile.Module) { m.Hashes = nil },
	} {
		for _, key := range []string{"a", "new"} {
			base := parse(t, []byte(lockText("a=1.0.0", "b=1.0.0")), "base")
			edited := base.Clone()
			m := testModule(key)
			edit(&m)
			edited.SetModule(m)
			edited.RemoveModule("b")
			for side, files := range map[string][2]*lockfile.File{"ours": {edited, base}, "theirs": {base, edited}} {
				merged, conflicts := lockfile.Merge(base, files[0], files[1], func(lockfile.Conflict) lockfile.Side { return lockfile.Ours })
				if diff := cmp.Diff([]string{"module " + key}, names(conflicts)); diff != "" {
					t.Errorf("%s in %s: conflicts (-want +got):\n%s", name, side, diff)
				}
				if text := string(merged); !strings.Contains(text, "<<<<<<< ours\n") || strings.Contains(text, "hunter2") || strings.Contains(text, `"b"`) {
					t.Errorf("%s in %s: the result is\n%s", name, side, text)
				}
			}
		}
	}
}

// Of a block that only one side changed, the comments and unknown content are merged too.
func TestMergeLayouts(t *testing.T) {
	t.Parallel()
	block := func(version, rest string) string {
		return "module \"a\" {\n  version = \"" + version + "\"\n  source  = \"registry.example.com/a/b/c\"\n  hashes  = [\"" + string(hashA) + "\"]\n" + rest + "}\n"
	}
	const was, v2, v3 = "1.0.0", "2.0.0", "3.0.0"
	for name, test := range map[string]struct{ base, ours, theirs, want string }{
		"their comment":                      {block(was, ""), block(was, ""), block(was, "  # b\n"), block(was, "  # b\n")},
		"our comment":                        {block(was, ""), block(was, "  # a\n"), block(was, ""), block(was, "  # a\n")},
		"comments of both":                   {block(was, ""), block(was, "  # a\n"), block(was, "  # b\n"), block(was, "  # a\n")},
		"our comment, their version":         {block(was, ""), block(was, "  # a\n"), block(v2, ""), block(v2, "  # a\n")},
		"their comment, our version":         {block(was, ""), block(v2, ""), block(was, "  # b\n"), block(v2, "")},
		"their attribute":                    {block(was, ""), block(was, ""), block(v2, "  x = 1\n"), block(v2, "  x = 1\n")},
		"their attribute, our comment":       {block(was, ""), block(was, "  # a\n"), block(was, "  x = 1\n"), block(was, "  x = 1\n")},
		"their new block":                    {"# c\n", "# c\n", "# c\n" + block(v2, "  x = 1 # b\n"), "# c\n\n" + block(v2, "  x = 1 # b\n")},
		"the same attribute, in other words": {block(was, ""), block(v2, "  x = 1\n"), block(v2, "  x = 1 # b\n"), block(v2, "  x = 1\n")},
		"an attribute and a version":         {block(was, ""), block(was, "  x = 1\n"), block(v2, ""), ""},
		"a nested block of both":             {block(was, ""), block(was, "  x {}\n"), block(was, "  x {\n}\n"), ""},
		"both versions":                      {block(was, ""), block(v2, ""), block(v3, ""), ""},
	} {
		merged, conflicts := lockfile.Merge(parse(t, []byte(test.base), "base"), parse(t, []byte(test.ours), "ours"), parse(t, []byte(test.theirs), "theirs"), nil)
		if test.want == "" {
			test.want = "<<<<<<< ours\n" + test.ours + "=======\n" + test.theirs + ">>>>>>> theirs\n"
		}
		if diff := cmp.Diff(test.want, string(merged)); diff != "" {
			t.Errorf("%s: conflicts %v (-want +got):\n%s", name, names(conflicts), diff)
		}
	}
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte(lockText("a=1.0.0", "@p=1.0.0")), []byte(lockText("a=2.0.0", "@p=1.0.0")), []byte(lockText("@p=2.0.0")))
	f.Add([]byte{}, []byte("# c\r\nprovider \"p\" {}"), []byte("provider \"o\" {}\nprovider \"p\" { }"))
	f.Add([]byte("x = 1\n"), []byte("x = 2\r\n"), []byte("locals {}\nprovider \"p\" {}\nprovider \"p\" {}"))
	f.Fuzz(func(t *testing.T, base, ours, theirs []byte) {
		var files []*lockfile.File
		for _, src := range [][]byte{base, ours, theirs} {
			file, err := lockfile.Parse(src, "x")
			if err != nil {
				return
			}
			files = append(files, file)
		}
		merged, conflicts := lockfile.Merge(files[0], files[1], files[2], nil)
		if _, err := lockfile.Parse(merged, "merged"); conflicts == nil && err != nil {
			t.Errorf("Merge(%q, %q, %q) = %q: %v", base, ours, theirs, merged, err)
		}
	})
}

func TestMergeProviderHashes(t *testing.T) {
	t.Parallel()
	const v1, v2, v3 = "1.0.0", "2.0.0", "3.0.0"
	lock := func(version, constraints string, hashes ...hashing.Hash) []byte {
		var file lockfile.File
		file.NameTool("tofu")
		if version != "" {
			file.SetProvider(lockedProvider(t, "a/b", version, constraints, hashes...))
		}
		return file.Bytes()
	}
	for name, test := range map[string]struct {
		base, ours, theirs, want []byte
		conflict                 bool
	}{
		"both add hashes":            {base: lock(v1, "", hashA), ours: lock(v1, "", hashA, hashB), theirs: lock(v1, "", hashA, hashZ), want: lock(v1, "", hashA, hashB, hashZ)},
		"one version":                {ours: lock(v1, "", hashA, hashZ), theirs: lock(v1, "", "h9:x", hashZ), want: lock(v1, "", hashA, hashZ, "h9:x")},
		"one version, other content": {ours: lock(v1, "", hashA), theirs: lock(v1, "", hashB), conflict: true},
		"ours has theirs":            {ours: lock(v1, "", hashA, hashB), theirs: lock(v1, "", hashB), want: lock(v1, "", hashA, hashB)},
		"theirs has ours":            {ours: lock(v1, "", hashA), theirs: lock(v1, "", hashA, hashB), want: lock(v1, "", hashA, hashB)},
		"one upgrade":                {base: lock(v1, "", hashA), ours: lock(v1, "", hashA, hashB), theirs: lock(v2, "", hashZ), want: lock(v2, "", hashZ)},
		"the other upgrade":          {base: lock(v1, "", hashA), ours: lock(v2, "", hashZ), theirs: lock(v1, "", hashA, hashB), want: lock(v2, "", hashZ)},
		"the same upgrade":           {base: lock(v1, "", hashA), ours: lock(v2, "", hashA, hashZ), theirs: lock(v2, "", hashB, hashZ), want: lock(v2, "", hashA, hashB, hashZ)},
		"their constraints":          {base: lock(v1, "~> 1.0", hashA), ours: lock(v1, "~> 1.0", hashA, hashB), theirs: lock(v1, "< 2.0.0", hashA), want: lock(v1, "< 2.0.0", hashA, hashB)},
		"constraints of both":        {base: lock(v1, "~> 1.0", hashA), ours: lock(v1, "> 0.1.0", hashA), theirs: lock(v1, "< 2.0.0", hashA), want: lock(v1, "> 0.1.0", hashA)},
		"different upgrades":         {base: lock(v1, "", hashA), ours: lock(v2, "", hashA), theirs: lock(v3, "", hashA), conflict: true},
		"different versions added":   {ours: lock(v1, "", hashA), theirs: lock(v2, "", hashA), conflict: true},
		"removed and hashes added":   {base: lock(v1, "", hashA), ours: lock("", ""), theirs: lock(v1, "", hashA, hashB), conflict: true},
		"hashes of an unread block":  {base: lock(v1, "", hashA), ours: bytes.ReplaceAll(lock("9.9.9", "", hashA), []byte("9.9.9"), []byte("9")), theirs: lock(v1, "", hashB), conflict: true},
		"metadata is of the version": {ours: lock("1.0.0+a", "", hashA), theirs: lock("1.0.0+b", "", hashB), conflict: true},
	} {
		merged, conflicts := lockfile.Merge(parse(t, test.base, "base"), parse(t, test.ours, "ours"), parse(t, test.theirs, "theirs"), nil)
		if (conflicts != nil) != test.conflict {
			t.Errorf("%s: conflicts %v, want %v", name, conflicts, test.conflict)
		}
		if diff := cmp.Diff(string(test.want), string(merged)); !test.conflict && diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A merge inserts an added block where stock tools would put it.
func TestMergeProviderOrder(t *testing.T) {
	t.Parallel()
	lock := func(sources ...string) []byte {
		var file lockfile.File
		file.NameTool("tofu")
		for _, source := range sources {
			file.SetProvider(lockedProvider(t, source, "1.0.0", ""))
		}
		return file.Bytes()
	}
	merged, _ := lockfile.Merge(&lockfile.File{}, parse(t, lock("a/b", "bücher.example/a/b"), "ours"), parse(t, lock("zoo.example/a/b", "a-b/b"), "theirs"), nil)
	if diff := cmp.Diff(string(lock("a/b", "a-b/b", "bücher.example/a/b", "zoo.example/a/b")), string(merged)); diff != "" {
		t.Errorf("Merge (-want +got):\n%s", diff)
	}
}

// A merge that changes providers writes all provider blocks as stock tools write them, so that
// the next init does not write the lock. Other merges leave the blocks alone.
func TestMergeWritesStockForm(t *testing.T) {
	t.Parallel()
	block := func(name string, hashes ...string) string {
		return withHashes(strings.NewReplacer("acme/a", "acme/"+name, "HASH_A", "").Replace(blockA), hashes...)
	}
	const module = "module \"m\" {\n  source = \"git::https://example.com/m.git\"\n\n  hashes = [\n    \"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\",\n  ]\n}\n"
	for name, test := range map[string]struct{ base, ours, theirs, want string }{
		"both sides add hashes": {
			base:   stockHeaderText + block("a", `"h1:a"`),
			ours:   stockHeaderText + block("a", `"h1:a"`, `"zh:2"`),
			theirs: stockHeaderText + block("a", `"zh:1"`, `"h1:a"`, `"h1:a"`),
			want:   stockHeaderText + block("a", `"h1:a"`, `"zh:1"`, `"zh:2"`),
		},
		"theirs is unsorted": {
			base:   stockHeaderText + block("a", `"h1:a"`),
			ours:   stockHeaderText + block("a", `"h1:a"`),
			theirs: stockHeaderText + block("a", `"zh:1"`, `"h1:a"`),
			want:   stockHeaderText + block("a", `"h1:a"`, `"zh:1"`),
		},
		"another provider is unsorted": {
			base:   module + "\n" + block("b", `"h1:b"`) + "\n" + block("a", `"zh:1"`, `"h1:a"`),
			ours:   module + "\n" + block("b", `"h1:b"`) + "\n" + block("a", `"zh:1"`, `"h1:a"`),
			theirs: module + "\n" + block("b", `"h1:c"`) + "\n" + block("a", `"zh:1"`, `"h1:a"`),
			want:   headerOfAll + module + "\n" + block("a", `"h1:a"`, `"zh:1"`) + "\n" + block("b", `"h1:c"`),
		},
		"only modules change": {
			base:   block("b", `"zh:1"`, `"h1:b"`) + "\n" + block("a", `"h1:a"`),
			ours:   block("b", `"zh:1"`, `"h1:b"`) + "\n" + block("a", `"h1:a"`),
			theirs: module + "\n" + block("b", `"zh:1"`, `"h1:b"`) + "\n" + block("a", `"h1:a"`),
			want:   module + "\n" + block("b", `"zh:1"`, `"h1:b"`) + "\n" + block("a", `"h1:a"`),
		},
		"an unknown scheme": {
			base:   stockHeaderText + block("a", `"h1:a"`),
			ours:   stockHeaderText + block("a", `"h1:a"`, `"zz:2"`),
			theirs: stockHeaderText + block("a", `"h1:a"`, `"zh:2"`),
			want:   stockHeaderText + block("a", `"h1:a"`, `"zh:2"`, `"zz:2"`),
		},
	} {
		merged, conflicts := lockfile.Merge(parse(t, []byte(test.base), "base"), parse(t, []byte(test.ours), "ours"), parse(t, []byte(test.theirs), "theirs"), nil)
		if diff := cmp.Diff(test.want, string(merged)); diff != "" || conflicts != nil {
			t.Errorf("%s: conflicts %v (-want +got):\n%s", name, conflicts, diff)
		}
	}
}

const headerOfAll = "# This file is maintained automatically by \"cotter install\" and \"tofu init\" or \"terraform init\".\n# Manual edits may be lost in future updates.\n\n"
