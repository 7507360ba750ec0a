package sanitize_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/text/sanitize"
)

func TestLog(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\nb :: c\r\n: :\n":         "a\nb :: c\r\n: :\n",
		"git::https://x #1 ## [x]":   "git::https://x #1 ## [x]",
		"::add-mask::x\n::error::y":  ":\\:add-mask::x\n:\\:error::y",
		" \t::error::x":              " \t:\\:error::x",
		"\u00a0\u3000::error::x":     "\u00a0\u3000:\\:error::x",
		"a\r::error::x":              "a\r:\\:error::x",
		":::error::x":                ":\\::error::x",
		"##[group]x":                 "##\\[group]x",
		"a ###[error]x ##[a]":        "a ###\\[error]x ##\\[a]",
		"##vso[task.x]y":             "##vso\\[task.x]y",
		"x ##TeamCity[message]":      "x ##TeamCity\\[message]",
		"section_start:1:x\r\x1b[0K": "section_start:1:x\r\\\x1b[0K",
		"\x1b[1;31mError:\x1b[0m x":  "\x1b[1;31mError:\x1b[0m x",
	} {
		if got := logged(t, text, len(text)); got != want {
			t.Errorf("Log(%q) = %q, want %q", text, got, want)
		}
		if got := logged(t, text, 1); got != want {
			t.Errorf("Log(%q) in single bytes = %q, want %q", text, got, want)
		}
	}
}

func logged(t *testing.T, text string, size int) string {
	t.Helper()
	var got strings.Builder
	log := sanitize.Log{To: &got}
	for len(text) > 0 {
		n := min(size, len(text))
		if written, err := log.Write([]byte(text[:n])); written != n || err != nil {
			t.Fatalf("Write = %d, %v, want %d", written, err, n)
		}
		text = text[n:]
	}
	return got.String()
}

// command is what build servers read as a command.
var command = regexp.MustCompile(`(^|[\n\r])[\pZ\s]*::|(?i)##[a-z]*\[|\r\x1b`)

func FuzzLog(f *testing.F) {
	for _, text := range []string{"::error::x", "a\r ::x", "##[x]", "##vso[", "\u00a0::", "\r\x1b[0K", "##a#[:"} {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		got := logged(t, text, max(size, 1))
		if command.MatchString(got) {
			t.Errorf("Log(%q) = %q, which has a command", text, got)
		}
		if without := strings.ReplaceAll(got, `\`, ""); without != strings.ReplaceAll(text, `\`, "") {
			t.Errorf("Log(%q) = %q, which has another text", text, got)
		}
	})
}
