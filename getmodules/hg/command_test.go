package hg_test

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/hg"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestArguments records the arguments of hg with a stand-in. They must not contain
// credentials or URLs, and other parts of the address only where expected.
func TestArguments(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for hg is a shell script, and /bin/sh is not there")
	}
	log := filepath.Join(t.TempDir(), "log")
	id := strings.Repeat("ab", 20)
	g := hg.Getter{
		Path: filepath.Join(t.TempDir(), "hg"),
		Env:  []string{"PATH=" + os.Getenv("PATH"), "HGRCPATH=/mine", "HGPLAINEXCEPT=alias", "SSH_ASKPASS=ask"},
	}
	text := `#!/bin/sh
echo "$@" >>` + log + `
echo "env $HGPLAIN ${HGRCPATH-unset} ${HGPLAINEXCEPT-unset} ${SSH_ASKPASS-unset}" >>` + log + `
for last; do :; done
case "$*" in
*" init "*) mkdir -p "$last/.hg";;
*" identify "*) printf ` + id + `;;
*" archive "*) mkdir "$last" && echo x >"$last/main.tf" && cat .hg/hgrc >>` + log + `;;
esac
`
	testenv.WriteProgram(t, g.Path, text)
	f := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"hg": g}}
	dir := filepath.Join(t.TempDir(), "package")
	req := getmodules.Request{Package: addrs.ParseModulePackage("hg::https://someone:hunter22@h.example/n?rev=v1&key=secret22"), Dir: dir}
	pkg, err := f.Fetch(t.Context(), req)
	testenv.Must(t, err)
	if want := "hg::https://h.example/n?rev=" + id; pkg.Revision != id || pkg.Resolved.String() != want {
		t.Errorf("got %s at %s, want %s", pkg.Revision, pkg.Resolved, want)
	}
	logged, err := os.ReadFile(log)
	testenv.Must(t, err)
	runs, config, _ := strings.Cut(string(logged), "[paths]")
	for _, secret := range []string{"hunter22", "someone", "secret22", "h.example"} {
		if strings.Contains(runs, secret) {
			t.Errorf("%q is in the arguments:\n%s", secret, runs)
		}
	}
	for _, want := range []string{
		" identify --template={node} --rev=v1 cotter\nenv 1 /mine unset unset\n",
		" pull --quiet --rev=" + id + " cotter\nenv 1 /mine unset unset\n",
		" --rev=" + id + " -- ",
		" -- ../package\nenv 1  unset unset\n",
	} {
		if !strings.Contains(runs, want) {
			t.Errorf("there is no %q in\n%s", want, runs)
		}
	}
	if want := "\ncotter = https://someone:hunter22@h.example/n?key=secret22\n"; config != want {
		t.Errorf("the configuration is %q, want %q", config, want)
	}
}

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
