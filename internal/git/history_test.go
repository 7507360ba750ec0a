package git_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git"
)

func objectID(digit string) string { return strings.Repeat(digit, git.SHA1Len) }

func commitOf(parents ...string) []byte {
	text := "tree " + objectID("e") + "\n"
	for _, parent := range parents {
		text += "parent " + parent + "\n"
	}
	return []byte(text + "author a <a@example.com> 1 +0000\ncommitter a <a@example.com> 1 +0000\n\nparent " + objectID("f") + "\n")
}

func TestParseParents(t *testing.T) {
	t.Parallel()
	a, b := objectID("a"), objectID("b")
	for name, tt := range map[string]struct {
		content string
		want    []string
		bad     bool
	}{
		"root":                {string(commitOf()), nil, false},
		"one":                 {string(commitOf(a)), []string{a}, false},
		"merge":               {string(commitOf(a, b)), []string{a, b}, false},
		"not after the first": {"tree " + a + "\nauthor x\nparent " + b + "\n", nil, false},
		"in the message":      {"tree " + a + "\n\nparent " + b + "\n", nil, false},
		"only the tree":       {"tree " + a, nil, false},
		"SHA-256":             {"tree " + strings.Repeat("a", 64) + "\nparent " + strings.Repeat("b", 64) + "\n", []string{strings.Repeat("b", 64)}, false},
		"empty":               {"", nil, true},
		"no tree":             {"parent " + a + "\n", nil, true},
		"short tree":          {"tree " + a[1:] + "\n", nil, true},
		"short parent":        {"tree " + a + "\nparent " + b[1:] + "\n", nil, true},
		"capital parent":      {"tree " + a + "\nparent " + strings.ToUpper(b) + "\n", nil, true},
		"other hash":          {"tree " + a + "\nparent " + strings.Repeat("b", 64) + "\n", nil, true},
		"carriage return":     {"tree " + a + "\nparent " + b + "\r\n", nil, true},
	} {
		got, err := git.ParseParents([]byte(tt.content))
		if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.bad || tt.bad && !errors.Is(err, git.ErrDamaged) {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func FuzzParseParents(f *testing.F) {
	f.Add(commitOf(objectID("a"), objectID("b")))
	f.Add([]byte("tree \nparent \n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		parents, err := git.ParseParents(content)
		if err != nil && parents != nil {
			t.Errorf("ParseParents(%q) = %q, %v", content, parents, err)
		}
		if slices.ContainsFunc(parents, func(id string) bool { return !git.IsObjectID(id) || !strings.Contains(string(content), "parent "+id) }) {
			t.Errorf("ParseParents(%q) = %q", content, parents)
		}
	})
}

func TestHistoryCollect(t *testing.T) {
	t.Parallel()
	a, b, c := objectID("a"), objectID("b"), objectID("c")
	commits := map[string][]byte{a: commitOf(b), b: commitOf(c), c: commitOf()}
	var read []string
	reader := func(id string) ([]byte, error) {
		read = append(read, id)
		return commits[id], nil
	}
	for name, tt := range map[string]struct {
		stop  []string
		limit int
		met   bool
		read  []string
		err   error
	}{
		"everything":      {nil, 3, true, []string{a, b, c}, nil},
		"up to a commit":  {[]string{b}, 3, true, []string{a, b}, nil},
		"never met":       {[]string{objectID("d")}, 3, false, []string{a, b, c}, nil},
		"over the limit":  {nil, 2, false, []string{a, b, c}, git.ErrTooLarge},
		"limit not met":   {[]string{b}, 2, true, []string{a, b}, nil},
		"the tip itself":  {[]string{a}, 1, true, []string{a}, nil},
		"no limit is set": {nil, 0, false, []string{a}, git.ErrTooLarge},
	} {
		read = nil
		h := git.NewHistory(git.HistoryLimits{Commits: tt.limit})
		met, err := h.Collect([]git.Ref{{ID: a, Commit: a}}, tt.stop, reader)
		if diff := cmp.Diff(tt.read, read); diff != "" || met != tt.met || !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, %v; read (-want +got):\n%s", name, met, err, diff)
		}
	}
}
