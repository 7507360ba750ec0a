package hashing_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
)

const (
	sumOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	smallTree    = "cotter tree 1\nd\ta b\nl\tmain.tf\tlink\nf\t0\t" + sumOfNothing + "\tmain.tf\nx\t0\t" + sumOfNothing + "\trun.sh\n"
)

func TestMarshalText(t *testing.T) {
	t.Parallel()
	tree := readTree(t, fstest.MapFS{"a b": emptyDir(), "link": link("main.tf"), "main.tf": file(""), "run.sh": executable("")})
	if text, err := tree.MarshalText(); err != nil || string(text) != smallTree {
		t.Errorf("MarshalText = %q, %v, want %q", text, err, smallTree)
	}
}

// The text has all names that a tree can have.
func TestTextOfUnusualNames(t *testing.T) {
	t.Parallel()
	tree := &hashing.Tree{}
	for _, name := range []string{"\t", "\r", " ", `"`, `\`, `\\t`, `\t`, "a\tb\t", "l0", "l1", "l2", "\u202e", "\x7f", "\xe9", "\xff"} {
		tree.Entries = append(tree.Entries, hashing.Entry{Path: name, Kind: hashing.File, Sum: sha256.Sum256(nil)})
	}
	for i, target := range []string{`\t`, "a\tb\t", "\xff"} {
		at := slices.IndexFunc(tree.Entries, func(e hashing.Entry) bool { return e.Path == fmt.Sprint("l", i) })
		tree.Entries[at].Kind, tree.Entries[at].Target = hashing.Link, target
	}
	slices.SortFunc(tree.Entries, func(a, b hashing.Entry) int { return strings.Compare(a.Path, b.Path) })
	text, err := tree.MarshalText()
	testenv.Must(t, err)
	again, err := hashing.ParseTree(text)
	testenv.Must(t, err)
	if diff := cmp.Diff(tree, again); diff != "" || again.T1() != tree.T1() {
		t.Errorf("ParseTree of\n%s\n(-want +got):\n%s", text, diff)
	}
}

func TestParseTreeErrors(t *testing.T) {
	t.Parallel()
	fileLine := func(path string) string { return "f\t0\t" + sumOfNothing + "\t" + path + "\n" }
	for _, test := range []struct {
		name, text string
		line       int
	}{
		{"nothing", "", 1},
		{"other version", "cotter tree 2\n", 1},
		{"header cut off", "cotter tree 1", 1},
		{"CRLF", "cotter tree 1\r\n", 1},
		{"empty line", "cotter tree 1\n\n", 2},
		{"cut off", "cotter tree 1\n" + strings.TrimSuffix(fileLine("a"), "\n"), 2},
		{"unknown kind", "cotter tree 1\nz\ta\n", 2},
		{"long kind", "cotter tree 1\nff\t0\t" + sumOfNothing + "\ta\n", 2},
		{"too few fields", "cotter tree 1\nf\t0\ta\n", 2},
		{"too many fields", "cotter tree 1\nd\ta\tb\n", 2},
		{"negative size", "cotter tree 1\nf\t-1\t" + sumOfNothing + "\ta\n", 2},
		{"size with zeros", "cotter tree 1\nf\t00\t" + sumOfNothing + "\ta\n", 2},
		{"huge size", "cotter tree 1\nf\t9223372036854775808\t" + sumOfNothing + "\ta\n", 2},
		{"sum in capitals", "cotter tree 1\nf\t0\t" + strings.ToUpper(sumOfNothing) + "\ta\n", 2},
		{"short sum", "cotter tree 1\nf\t0\te3b0\ta\n", 2},
		{"no hexadecimal", "cotter tree 1\nf\t0\t" + strings.Repeat("g", 64) + "\ta\n", 2},
		{"empty path", "cotter tree 1\n" + fileLine(""), 2},
		{"the tree itself", "cotter tree 1\nd\t.\n", 2},
		{"absolute path", "cotter tree 1\n" + fileLine("/a"), 2},
		{"path that leaves", "cotter tree 1\n" + fileLine("../a"), 2},
		{"path with detour", "cotter tree 1\n" + fileLine("a/./b"), 2},
		{"NUL", "cotter tree 1\n" + fileLine("a\x00"), 2},
		{"unknown escape", "cotter tree 1\n" + fileLine(`a\n`), 2},
		{"backslash at the end", "cotter tree 1\n" + fileLine(`a\`), 2},
		{"escaped detour", "cotter tree 1\n" + fileLine(`..\\a/..`), 2},
		{"target that leaves by an escape", "cotter tree 1\nl\t../\\x\tb\n", 2},
		{"metadata", "cotter tree 1\n" + fileLine("a/.git/HEAD"), 2},
		{"order", "cotter tree 1\n" + fileLine("b") + fileLine("a"), 3},
		{"twice", "cotter tree 1\n" + fileLine("a") + fileLine("a"), 3},
		{"file as directory", "cotter tree 1\n" + fileLine("a") + fileLine("a.b") + fileLine("a/b"), 2},
		{"empty directory with file", "cotter tree 1\nd\ta\n" + fileLine("a/b"), 2},
		{"link as directory", "cotter tree 1\nl\tb\ta\n" + fileLine("a/b") + fileLine("b"), 2},
		{"link without target", "cotter tree 1\nl\t\ta\n", 2},
		{"link to nothing", "cotter tree 1\n" + fileLine("a") + "l\tx\tb\n", 3},
		{"link that leaves", "cotter tree 1\nl\t../x\tb\n", 2},
	} {
		_, err := hashing.ParseTree([]byte(test.text))
		var invalid *hashing.SyntaxError
		if !errors.As(err, &invalid) || invalid.Line != test.line || !strings.HasPrefix(err.Error(), "file sums, line ") {
			t.Errorf("%s: ParseTree(%q): error %v, want a *SyntaxError in line %d", test.name, test.text, err, test.line)
		}
	}
}

func TestMarshalTextChecksTrees(t *testing.T) {
	t.Parallel()
	for name, entries := range map[string][]hashing.Entry{
		"no kind":           {{Path: "bad"}},
		"newline":           {{Path: "bad\n", Kind: hashing.File}},
		"newline in target": {{Path: "bad", Kind: hashing.Link, Target: "a\nb"}},
		"negative size":     {{Path: "bad", Kind: hashing.File, Size: -1}},
		"order":             {{Path: "c", Kind: hashing.File}, {Path: "bad", Kind: hashing.File}},
	} {
		tree := &hashing.Tree{Entries: entries}
		_, err := tree.MarshalText()
		var refused *hashing.TreeError
		if !errors.As(err, &refused) || !strings.HasPrefix(refused.Path, "bad") {
			t.Errorf("%s: MarshalText: error %v, want a *TreeError", name, err)
		}
	}
}

func FuzzParseTree(f *testing.F) {
	f.Add([]byte(smallTree))
	f.Add([]byte("cotter tree 1\nd\ta\\\\b\\t\xff\nl\ta\\\\b\\t\xff\tl\r\n"))
	for _, v := range readVectors(f) {
		if v.odd {
			continue
		}
		text, err := readTree(f, v.tree).MarshalText()
		testenv.Must(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tree, err := hashing.ParseTree(text)
		if err != nil {
			return
		}
		again, err := tree.MarshalText()
		if err != nil || string(again) != string(text) {
			t.Errorf("MarshalText = %q, %v, want %q", again, err, text)
		}
		if changes := hashing.Diff(tree, tree); !changes.Empty() {
			t.Errorf("a tree differs from itself: %v", changes)
		}
	})
}

func TestValues(t *testing.T) {
	t.Parallel()
	type document struct {
		Hash  hashing.Hash
		None  hashing.Hash
		Kinds []hashing.Kind
		Trees map[hashing.Hash]*hashing.Tree
	}
	tree := readTree(t, fstest.MapFS{"main.tf": file("a"), "run.sh": executable(""), "link": link("main.tf"), "empty": emptyDir()})
	given := document{tree.H1(), "", []hashing.Kind{0, hashing.File, hashing.ExecFile, hashing.Link, hashing.EmptyDir}, map[hashing.Hash]*hashing.Tree{tree.T1(): tree}}
	text, err := json.Marshal(given)
	testenv.Must(t, err)
	if want := `"Kinds":["","file","executable file","link","empty directory"]`; !strings.Contains(string(text), want) || !strings.Contains(string(text), `"None":""`) {
		t.Errorf("%s does not contain %s", text, want)
	}
	var got document
	testenv.Must(t, json.Unmarshal(text, &got))
	if diff := cmp.Diff(given, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`{"Hash":"h1:x"}`, `{"Kinds":["unknown kind"]}`, `{"Kinds":["f"]}`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	if got.Hash != given.Hash {
		t.Errorf("a malformed hash replaced the value by %q", got.Hash)
	}
	if _, err := hashing.Kind('?').MarshalText(); err == nil {
		t.Error("an unknown kind has a text")
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "hash", tree.H1(), "kind", hashing.Link, "tree", tree, "none", (*hashing.Tree)(nil))
	if want := "hash=" + string(tree.H1()) + " kind=link tree.entries=4 tree.h1=" + string(tree.H1()) + "\n"; !strings.HasSuffix(strings.ReplaceAll(log.String(), `"`, ""), want) {
		t.Errorf("the log is %q, want %q at its end", log.String(), want)
	}
}
