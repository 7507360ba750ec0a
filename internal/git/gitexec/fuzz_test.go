package gitexec_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// FuzzExcerpt checks that the excerpt of git's error output contains neither secrets nor
// control characters.
func FuzzExcerpt(f *testing.F) {
	f.Add("fatal: could not read from https://user:", "@h.com/n.git\n")
	f.Add("remote: 10% (1/2)\rremote: \x1b[2J", "\r\n")
	f.Add("https://h.com/x?token=", "&ref=v1'")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "s/cr%t value"
		for _, said := range []string{before + secret + after, before + url.QueryEscape(secret) + after} {
			got := gitexec.Excerpt(said, secret)
			if strings.Contains(got, secret) || len(got) > gitexec.MaxStderr {
				t.Errorf("Excerpt(%q) = %q", said, got)
			}
			for _, r := range got {
				if r != '\n' && !strconv.IsPrint(r) {
					t.Errorf("Excerpt(%q) = %q, with %q in it", said, got, r)
				}
			}
		}
	})
}

func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{"https://h/x", "https://-x/y", "ssh://-o@h/x", "file:///x", "https:///x", "https://h/-x", "https://h/x%0ay", "https:h", "ext::sh"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := url.Parse(raw)
		if err != nil || git.CheckURL(u, []string{"https", "ssh"}) != nil {
			return
		}
		text := u.String()
		if u.Host == "" || strings.HasPrefix(text, "-") || strings.HasPrefix(u.Host, "-") || strings.Contains(text, "::") && !strings.Contains(text, "://") {
			t.Errorf("CheckURL(%q) = nil, of %q", raw, text)
		}
		if strings.ContainsFunc(u.Path+u.Host, func(r rune) bool { return r < ' ' }) {
			t.Errorf("CheckURL(%q) = nil, with control characters", raw)
		}
	})
}
