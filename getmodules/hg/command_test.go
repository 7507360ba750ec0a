package hg_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/hg"
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
		Path: script(t, `
echo "$@" >>`+log+`
echo "env $HGPLAIN ${HGRCPATH-unset} ${HGPLAINEXCEPT-unset} ${SSH_ASKPASS-unset}" >>`+log+`
for last; do :; done
case "$*" in
*" init "*) mkdir -p "$last/.hg";;
*" identify "*) printf `+id+`;;
*" archive "*) mkdir "$last" && echo x >"$last/main.tf" && cat .hg/hgrc >>`+log+`;;
esac`),
		Env: []string{"PATH=" + os.Getenv("PATH"), "HGRCPATH=/mine", "HGPLAINEXCEPT=alias", "SSH_ASKPASS=ask"},
	}
	f := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"hg": g}}
	dir := filepath.Join(t.TempDir(), "package")
	req := getmodules.Request{Package: addrs.ParseModulePackage("hg::https://someone:hunter22@h.example/n?rev=v1&key=secret22"), Dir: dir}
	pkg, err := f.Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if want := "hg::https://h.example/n?rev=" + id; pkg.Revision != id || pkg.Resolved.String() != want {
		t.Errorf("got %s at %s, want %s", pkg.Revision, pkg.Resolved, want)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	runs, config, _ := strings.Cut(string(text), "[paths]")
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

// standIn returns a getter that runs a script instead of hg, which takes a tenth of a
// second to start. The script has one changeset, whose files are written by the shell
// command in files.
func standIn(t *testing.T, files string) map[string]getmodules.Getter {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for hg is a shell script, and /bin/sh is not there")
	}
	path := script(t, `
for last; do :; done
case "$*" in
*" identify "*) printf `+strings.Repeat("ab", 20)+`;;
*" archive "*) mkdir "$last" && cd "$last" && `+files+`;;
esac`)
	return map[string]getmodules.Getter{"hg": hg.Getter{Path: path}}
}

func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hg")
	// The lock keeps a concurrent fork from inheriting the open file: a file that is open
	// for writing cannot be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
