package git_test

import (
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/testenv"
)

// refNames are valid and invalid names. TestCheckRef compares the results with those of
// git check-ref-format.
var refNames = []string{
	"main", "v1.0.0", "feat/x", "refs/tags/v1", "a-b", "a@b", "ü", "a..b", ".a", "a/.b", "a.lock", "a.lock/b", "a/b.lock",
	"a.", "a/", "/a", "a//b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a@{b", "@", "a\x7f", "a\x01", "a\nb", "", "a.b/c",
	"+a", "a+b", "'", "\"", "$(x)", "`x`", "HEAD", "{}", "@a", "a@", "..", ".", "lock", ".lock", "\xff",
}

func TestCheckRef(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "git")
	for _, name := range refNames {
		want := exec.Command("git", "check-ref-format", "--allow-onelevel", name).Run() == nil
		if err := git.CheckRef(name); (err == nil) != want {
			t.Errorf("CheckRef(%q) = %v, but git says %v", name, err, want)
		}
	}
	for _, name := range []string{"-", "-a", "--upload-pack=touch x", strings.Repeat("a", 2000)} {
		if git.CheckRef(name) == nil {
			t.Errorf("CheckRef(%q) = nil", name)
		}
	}
}

func FuzzCheckRef(f *testing.F) {
	for _, name := range refNames {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if git.CheckRef(name) != nil {
			return
		}
		if name[0] == '-' || strings.ContainsAny(name, " :*?\x00\n") || strings.Contains(name, "..") {
			t.Errorf("CheckRef(%q) = nil", name)
		}
	})
}

func TestObjectIDs(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("0123456789abcdef", 4)
	for s, want := range map[string]string{
		full: "full", full[:40]: "full", full[:63]: "short", full[:41]: "short", full[:39]: "short", full[:4]: "short", "dead": "short",
		"": "", full[:3]: "", full + "0": "", strings.ToUpper(full): "", "deag": "", "-123": "",
	} {
		got := ""
		if git.IsObjectID(s) {
			got += "full"
		}
		if git.IsShortID(s) {
			got += "short"
		}
		if got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	allowed := []string{"https", "ssh", "file"}
	tests := []struct {
		raw string
		ok  bool
	}{
		{"https://h.example/n.git", true},
		{"https://h.example:8443/a/b.git?x=1", true},
		{"ssh://git@h.example/n.git", true},
		{"ssh://git@[::1]:22/n.git", true},
		{"file:///srv/n.git", true},
		{"http://h.example/n.git", false},
		{"ext::sh -c x", false},
		{"fd::7", false},
		{"/srv/n.git", false},
		{"n.git", false},
		{"", false},
		{"https:h.example/n.git", false},
		{"https:///n.git", false},
		{"https://:443/n.git", false},
		{"https://h.example", false},
		{"https://h.example//", false},
		{"https://h.example/-n", false},
		{"https://h.example/%0a", false},
		{"https://u%0Ahost=other.example@h.example/n", false},
		{"https://u:p%0A@h.example/n", false},
		{"ssh://-oProxyCommand=x/n", false},
		{"ssh://-l@h.example/n", false},
		{"ssh://a%40corp@h.example/n", true},
		{"ssh://other.example%2Fx@h.example/n", false},
		{"ssh://x%40%5Bother.example%5D@h.example/n", false},
		{"https://to%2Fken@h.example/n", true},
		{"file://host/n", false},
		{"file:///", false},
	}
	for _, tt := range tests {
		u, err := url.Parse(tt.raw)
		if err != nil {
			t.Fatal(err)
		}
		if err := git.CheckURL(u, allowed); (err == nil) != tt.ok {
			t.Errorf("CheckURL(%q) = %v, want success %v", tt.raw, err, tt.ok)
		}
	}
}
