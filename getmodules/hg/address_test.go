package hg_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/cotterpin/cotter/getmodules/hg"
)

// FuzzAddress checks that no address can pass an option to hg or add a line to its
// configuration.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{
		"https://h.example/n?rev=v1&x=y", "https://u:p@h.example/n", "ssh://hg@h.example//srv/n?rev=a%20b", "file:///srv/n", "https://h.example/n?rev=-x",
		"https://h.example/n%0a[hooks]", "https://u%0a:p%0d@h.example/n", "https://h.example/?a%0a=b%0a", "ssh://-oProxyCommand=x/n", "https:n", "//h/n", "-x",
		"https://h.example/n?rev=\u0085", "https://h.example/n#x", "https://h%0a.example/n", "file://--config/n", "file:",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := url.Parse(raw)
		if err != nil {
			return
		}
		remote, rev, err := hg.ParseAddress(u)
		if err != nil {
			return
		}
		scheme, _, _ := strings.Cut(remote, "://")
		if scheme != "https" && scheme != "http" && scheme != "ssh" && scheme != "file" {
			t.Errorf("%q becomes %q", raw, remote)
		}
		if strings.ContainsFunc(remote+rev, unicode.IsControl) || strings.HasPrefix(rev, "-") {
			t.Errorf("%q becomes %q at %q", raw, remote, rev)
		}
	})
}
