package sanitize_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/cotterpin/cotter/internal/text/sanitize"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`plain "text"`: `plain "text"`, "a\x1b[31m": `a\x1b[31m`, "a\nb": `a\nb`, "\u202e": `\u202e`, "ü": "ü", "\xff": `\xff`,
		`C:\x`: `C:\x`, "\u3000日本 \U0001f600": "\u3000日本 \U0001f600", "\ufffd": `\ufffd`, "a\xe2\x28b": `a\xe2(b`, "\U000e0041": `\U000e0041`, "\t": `\t`,
	} {
		if got := sanitize.Escape(text); got != want {
			t.Errorf("Escape(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestEscapeLines(t *testing.T) {
	t.Parallel()
	if got, want := sanitize.EscapeLines("a\tb\r\nc\x00"), "a\tb\\r\nc\\x00"; got != want {
		t.Errorf("EscapeLines = %q, want %q", got, want)
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abcd...", "abc\x1b": `abc\x1b`, "abcü": `abc\xc3...`} {
		if got := sanitize.Excerpt(text, 4); got != want {
			t.Errorf("Excerpt(%q, 4) = %q, want %q", text, got, want)
		}
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"pass a/secret b":               "pass REDACTED b",
		"x=a%2Fsecret":                  "x=REDACTED",
		"https://u:p@h.example/ a@b":    "https://h.example/ a@b",
		"short abc stays":               "short abc stays",
		"two https://u@h https://v@i/x": "two https://h https://i/x",
	} {
		if got := sanitize.Redact(text, []string{"a/secret", "abc", ""}); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	var tail sanitize.Tail
	for range 10_000 {
		if _, err := tail.Write([]byte("line\r\n")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tail.Write([]byte("50% (1/2)\r100% (2/2)\rabort: hunter22\n")); err != nil {
		t.Fatal(err)
	}
	got := tail.Excerpt([]string{"hunter22"})
	if len(got) > sanitize.MaxKept || !strings.HasPrefix(got, "line\n") || !strings.HasSuffix(got, "\nabort: REDACTED") {
		t.Errorf("Excerpt has %d bytes, from %.20q to %q", len(got), got, got[max(0, len(got)-20):])
	}
}

// FuzzTail checks that the excerpt of a program's error output contains neither secrets nor characters
// that control a terminal.
func FuzzTail(f *testing.F) {
	f.Add("fatal: could not read from https://user:", "@h.com/n.git\n")
	f.Add("remote: 10% (1/2)\rremote: \x1b[2J", "\r\n")
	f.Add("https://h.com/x?token=", "&ref=v1'")
	f.Add("", "")
	f.Add("a no-break space follows:", "\u00a0")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "s/cr%t value"
		for _, said := range []string{before + secret + after, before + url.QueryEscape(secret) + after} {
			var tail sanitize.Tail
			if _, err := tail.Write([]byte(said)); err != nil {
				t.Fatal(err)
			}
			got := tail.Excerpt([]string{secret})
			if strings.Contains(got, secret) || len(got) > sanitize.MaxKept {
				t.Errorf("Excerpt(%q) = %q", said, got)
			}
			for _, r := range got {
				if r != '\n' && !unicode.IsGraphic(r) {
					t.Errorf("Excerpt(%q) = %q, with %q in it", said, got, r)
				}
			}
		}
	})
}

func TestContains(t *testing.T) {
	t.Parallel()
	if !sanitize.Contains("abort: Unknown Revision", "unknown revision") || sanitize.Contains("abort", "unknown") {
		t.Error("Contains does not find a phrase without regard to case")
	}
}
