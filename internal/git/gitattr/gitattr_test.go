package gitattr_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git/gitattr"
)

func TestConversion(t *testing.T) {
	t.Parallel()
	rules, err := gitattr.Parse(map[string][]byte{
		"":      []byte("[attr]windows text eol=crlf\n*.bat windows\n*.bin binary eol=crlf\n"),
		"a":     []byte("*.bat -text\n[attr]unix eol=crlf\n*.sh unix\n"),
		"a/b":   []byte("/keep.bat !text !eol\n*.txt eol=crlf\n*.txt eol=lf\n"),
		"a/b c": []byte("\"x y\" eol=crlf\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"x.bat": "1\r\n", "c/x.bat": "1\r\n", "x.bin": "1\n", "x.sh": "1\n", "a/x.sh": "1\n",
		"a/x.bat": "1\n", "a/b/x.bat": "1\n", "a/b/keep.bat": "1\n", "a/b/x.txt": "1\n", "a/b c/x y": "1\r\n", "x.BAT": "1\n",
	} {
		conversion, err := rules.Conversion(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := conversion.Apply([]byte("1\n"), ""); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestNoValue(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"working-tree-encoding", "-working-tree-encoding"} {
		rules, err := gitattr.Parse(map[string][]byte{"": []byte("a " + set + "\n")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rules.Conversion("a"); err == nil {
			t.Errorf("%s: there is no error, and git fails", set)
		}
		if _, err := rules.Conversion("b"); err != nil {
			t.Errorf("%s: another file: %v", set, err)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	lines := func(n int, line string) []byte { return []byte(strings.Repeat(line+"\n", n)) }
	tests := map[string]struct {
		content []byte
		tooMany bool
	}{
		"rules":              {lines(20_000, "a text"), false},
		"more rules":         {lines(20_001, "a text"), true},
		"others":             {lines(50_000, "a diff merge"), false},
		"bytes":              {[]byte(strings.Repeat("#", gitattr.MaxFileBytes)), false},
		"more bytes":         {[]byte(strings.Repeat("#", gitattr.MaxFileBytes+1)), true},
		"a long line":        {[]byte("a" + strings.Repeat(" ", 3000) + "eol=crlf"), false},
		"what others define": {lines(20_001, "a mine"), false},
	}
	for name, test := range tests {
		if _, err := gitattr.Parse(map[string][]byte{"": test.content}); errors.Is(err, gitattr.ErrTooLarge) != test.tooMany {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSlowPattern uses patterns for which backtracking would take exponential time.
func TestSlowPattern(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{strings.Repeat("*a", 40) + "*b", "/" + strings.Repeat("**/a", 40) + "/b"} {
		rules, err := gitattr.Parse(map[string][]byte{"": []byte(pattern + " text\n")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rules.Conversion(strings.Repeat("a", 200)); err != nil && !errors.Is(err, gitattr.ErrTooLarge) {
			t.Error(err)
		}
		if _, err := rules.Conversion(strings.Repeat("a/", 100) + "a"); err != nil && !errors.Is(err, gitattr.ErrTooLarge) {
			t.Error(err)
		}
	}
}

func FuzzConversion(f *testing.F) {
	f.Add("*.txt text=auto eol=crlf\n[attr]x ident\n\"a\\142\" x", "d/a.txt", "$Id$\n")
	f.Add("**/a/[[:alpha:]-]* working-tree-encoding=UTF-16", "b/a/c", "\u00e4\r\n")
	f.Fuzz(func(t *testing.T, rules, name, content string) {
		r, err := gitattr.Parse(map[string][]byte{"": []byte(rules), "d": []byte(rules)})
		if err != nil {
			return
		}
		conversion, err := r.Conversion(name)
		if err != nil {
			return
		}
		got, err := conversion.Apply([]byte(content), "0123")
		if err == nil && conversion.IsNone() && string(got) != content {
			t.Errorf("no conversion made %q of %q", got, content)
		}
	})
}
