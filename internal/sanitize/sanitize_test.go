package sanitize_test

import (
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/sanitize"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`plain "text"`: `plain "text"`, "a\x1b[31m": `a\x1b[31m`, "a\nb": `a\nb`, "\u202e": `\u202e`, "ü": "ü", "\xff": `\xff`,
	} {
		if got := sanitize.Escape(text); got != want {
			t.Errorf("Escape(%q) = %q, want %q", text, got, want)
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

func TestContains(t *testing.T) {
	t.Parallel()
	if !sanitize.Contains("abort: Unknown Revision", "unknown revision") || sanitize.Contains("abort", "unknown") {
		t.Error("Contains does not find a phrase without regard to case")
	}
}
