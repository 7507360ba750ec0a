package getmodules_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

func gitmodules(path, url string) gitFile {
	return gitFile{path: ".gitmodules", content: fmt.Sprintf("[submodule \"x\"]\n\tpath = %s\n\turl = %s\n", path, url)}
}

// TestSubmodules checks that submodules, including nested ones, are fetched from relative
// and from full addresses.
func TestSubmodules(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	inner := newGitRepo(t, s.root, "inner.git")
	innerCommit := inner.commit("main", gitFile{path: "deep.tf", content: "deep"})
	middle := newGitRepo(t, s.root, "middle.git")
	middleCommit := middle.commit("main", gitmodules("lib/inner", "./../inner.git"), gitFile{path: "middle.tf", content: "middle"}, gitFile{path: "lib/inner", mode: "160000", content: innerCommit})
	middle.commit("main", gitFile{path: "later.tf"})
	for name, url := range map[string]string{"relative": "../middle.git", "full": s.URL + "/middle.git"} {
		outer := newGitRepo(t, s.root, name+".git")
		outer.commit("main", gitmodules("modules/middle", url), gitFile{path: "main.tf", content: "x"}, gitFile{path: "modules/middle", mode: "160000", content: middleCommit}, gitFile{path: "modules/other.tf"})
		pkg, dir, err := fetchTree(t, newGitFetcher(t), getmodules.Request{Package: s.address(outer, ""), Submodules: true})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		files := tree(t, dir)
		maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasSuffix(name, ".gitmodules") })
		want := map[string]string{
			"main.tf": "x", "modules": "dir", "modules/middle": "dir", "modules/middle/lib": "dir", "modules/middle/lib/inner": "dir",
			"modules/middle/lib/inner/deep.tf": "deep", "modules/middle/middle.tf": "middle", "modules/other.tf": "",
		}
		if diff := cmp.Diff(want, files); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(pkg.Gitlinks) != 0 || len(pkg.Warnings) != 0 {
			t.Errorf("%s: gitlinks %q, warnings %q", name, pkg.Gitlinks, pkg.Warnings)
		}
		// Submodules are left out unless the request asks for them.
		pkg, dir, err = fetchTree(t, newGitFetcher(t), getmodules.Request{Package: s.address(outer, "")})
		if err != nil || !slices.Equal(pkg.Gitlinks, []string{"modules/middle"}) || len(tree(t, dir)) != 4 {
			t.Errorf("%s, without submodules: %v, %v", name, pkg, err)
		}
	}
}

// TestHostileSubmodules checks that entries of .gitmodules are not trusted.
func TestHostileSubmodules(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	good := newGitRepo(t, s.root, "good.git")
	commit := good.commit("main", gitFile{path: "main.tf"})
	gone := strings.Repeat("c", 40)
	for name, tt := range map[string]struct {
		files []gitFile
		fails error // nil: git may refuse it first, with a different error
		says  string
	}{
		"no .gitmodules":      {[]gitFile{{path: "sub", mode: "160000", content: commit}}, getmodules.ErrSubmodule, "has no URL"},
		"other path":          {[]gitFile{gitmodules("other", "../good.git"), {path: "sub", mode: "160000", content: commit}}, getmodules.ErrSubmodule, "has no URL"},
		"path ends in CR":     {[]gitFile{gitmodules("\"sub\\r\"", "../good.git"), {path: "sub", mode: "160000", content: commit}}, getmodules.ErrSubmodule, ""},
		"file":                {[]gitFile{gitmodules("sub", "file://"+good.dir), {path: "sub", mode: "160000", content: commit}}, getmodules.ErrSubmodule, "remote module"},
		"path on the machine": {[]gitFile{gitmodules("sub", good.dir), {path: "sub", mode: "160000", content: commit}}, getmodules.ErrSubmodule, ""},
		"option":              {[]gitFile{gitmodules("sub", "-u./x"), {path: "sub", mode: "160000", content: commit}}, nil, ""},
		"command":             {[]gitFile{{path: ".gitmodules", content: "[submodule \"x\"]\npath = sub\nurl = ../good.git\nupdate = !touch /tmp/owned\n"}, {path: "sub", mode: "160000", content: gone}}, nil, ""},
		"ext":                 {[]gitFile{gitmodules("sub", "ext::sh -c touch% /tmp/owned"), {path: "sub", mode: "160000", content: commit}}, getmodules.ErrSubmodule, ""},
		"out of the host":     {[]gitFile{gitmodules("sub", "../../../../etc"), {path: "sub", mode: "160000", content: commit}}, getmodules.ErrSubmodule, "above the root of the host"},
		"commit is not there": {[]gitFile{gitmodules("sub", "../good.git"), {path: "sub", mode: "160000", content: gone}}, getmodules.ErrRevisionNotFound, gone},
		"broken file":         {[]gitFile{{path: ".gitmodules", content: "[submodule \"x\n"}, {path: "sub", mode: "160000", content: commit}}, getmodules.ErrSubmodule, ".gitmodules"},
		"file is a link":      {[]gitFile{{path: ".gitmodules", mode: "120000", content: "x"}, {path: "x", content: "y"}, {path: "sub", mode: "160000", content: commit}}, nil, ""},
		"two at one path": {[]gitFile{{path: ".gitmodules", content: "[submodule \"a\"]\npath = sub\nurl = ../good.git\n[submodule \"b\"]\npath = sub\nurl = ../gone.git\n"},
			{path: "sub", mode: "160000", content: commit}}, getmodules.ErrSubmodule, "two submodules"},
		"odd name": {[]gitFile{gitmodules("\"a\\nb\"", "../good.git"), {path: "a\nb", mode: "160000", content: commit}}, getmodules.ErrUnsafeEntry, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newGitRepo(t, s.root, strings.ReplaceAll(name, " ", "-")+".git")
			r.commit("main", append(tt.files, gitFile{path: "main.tf", content: "x"})...)
			_, dir, err := fetchTree(t, newGitFetcher(t), getmodules.Request{Package: s.address(r, ""), Submodules: true})
			if err == nil || tt.fails != nil && !errors.Is(err, tt.fails) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Fetch = %v, want %v and %q", err, tt.fails, tt.says)
			}
			if _, err := os.Lstat(dir); err == nil {
				t.Error("something was left behind")
			}
			if _, err := os.Lstat("/tmp/owned"); err == nil {
				t.Error("a command of the repository was run")
			}
		})
	}
}

// TestSubmodulesPointNoFurtherThanServers checks the hosts and transports in .gitmodules. The
// repository's server is elsewhere, judging by its name, and all names are those of one server.
func TestSubmodulesPointNoFurtherThanServers(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	good := newGitRepo(t, s.root, "good.git")
	commit := good.commit("main", gitFile{path: "main.tf"})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	for name, tt := range map[string]struct {
		url     string
		refused bool
	}{
		"relative":           {"../good.git", false},
		"the same host":      {"http://mods.example.com:PORT/good.git", false},
		"another host":       {"http://other.example.com:PORT/good.git", true},
		"another port":       {"http://mods.example.com:1/good.git", true},
		"this machine":       {"http://127.0.0.1:PORT/good.git", true},
		"this machine, name": {"https://localhost:PORT/good.git", true},
		"this machine, ssh":  {"ssh://git@127.0.0.1:PORT/good.git", true},
		"metadata":           {"https://169.254.169.254/good.git", true},
		"git daemon":         {"git://other.example.com:PORT/good.git", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			dialed := map[string]bool{}
			f := newWireFetcher(t)
			f.HTTPClient = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				mu.Lock()
				defer mu.Unlock()
				dialed[address] = true
				return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
			}}}
			f.HTTPClientForGit = true
			r := newGitRepo(t, s.root, strings.ReplaceAll(name, " ", "-")+".git")
			url := strings.ReplaceAll(tt.url, "PORT", port)
			r.commit("main", gitmodules("sub", url), gitFile{path: "sub", mode: "160000", content: commit}, gitFile{path: "main.tf", content: "x"})
			address := addrs.ParseModulePackage("git::http://mods.example.com:" + port + "/" + filepath.Base(r.dir))
			_, _, err := fetchTree(t, f, getmodules.Request{Package: address, Submodules: true})
			if refused := errors.Is(err, getmodules.ErrRefusedLocation); refused != tt.refused || !refused && err != nil {
				t.Errorf("Fetch = %v, want refused: %v", err, tt.refused)
			}
			if want := map[string]bool{"mods.example.com:" + port: true}; !cmp.Equal(want, dialed) {
				t.Errorf("connections to %v, want %v", dialed, want)
			}
		})
	}
}

// TestNameOfThisMachine checks that git is not started for a name that resolves to this machine if a
// package from elsewhere has named it.
func TestNameOfThisMachine(t *testing.T) {
	t.Parallel()
	own, err := os.Hostname()
	testenv.Must(t, err)
	if found, err := net.DefaultResolver.LookupNetIP(t.Context(), "ip", own); err != nil || !found[0].Unmap().IsLoopback() {
		t.Skipf("%s does not resolve to this machine", own)
	}
	s := newGitServer(t)
	r := newGitRepo(t, s.root, "named.git")
	r.commit("main", gitFile{path: "main.tf", content: "x"})
	address := addrs.ParseModulePackage("git::" + strings.Replace(s.URL, "127.0.0.1", own, 1) + "/named.git")
	for name, f := range map[string]*getmodules.Fetcher{"git": newGitFetcher(t), "in this process": newWireFetcher(t)} {
		for origin, refused := range map[string]bool{"": false, "http://127.0.0.1": false, "https://mods.example.com": true} {
			_, _, err := fetchTree(t, f, getmodules.Request{Package: address, FromPackage: origin != "", Origin: origin})
			if got := errors.Is(err, getmodules.ErrRefusedLocation); got != refused || !got && err != nil {
				t.Errorf("%s, named by %q: %v, want refused: %v", name, origin, err, refused)
			}
		}
	}
}

// TestEndlessSubmodules checks that submodules cannot be nested too deep.
func TestEndlessSubmodules(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	commit := ""
	for depth := range 12 {
		r := newGitRepo(t, s.root, fmt.Sprintf("r%d.git", depth))
		files := []gitFile{{path: "main.tf", content: "x"}}
		if depth > 0 {
			files = append(files, gitmodules("sub", fmt.Sprintf("../r%d.git", depth-1)), gitFile{path: "sub", mode: "160000", content: commit})
		}
		commit = r.commit("main", files...)
	}
	for repo, wantErr := range map[string]bool{"r10": false, "r11": true} {
		address := addrs.ParseModulePackage("git::" + s.URL + "/" + repo + ".git")
		_, _, err := fetchTree(t, newWireFetcher(t), getmodules.Request{Package: address, Submodules: true})
		if (err != nil) != wantErr || wantErr && !strings.Contains(err.Error(), "nested deeper than 10") {
			t.Errorf("Fetch(%q) = %v", address, err)
		}
	}
}

// fetchTree fetches into a new directory and returns its path.
func fetchTree(t *testing.T, f *getmodules.Fetcher, req getmodules.Request) (*getmodules.Package, string, error) {
	t.Helper()
	parent := t.TempDir()
	req.Dir = filepath.Join(parent, "tree")
	pkg, err := f.Fetch(t.Context(), req)
	gitWantLeft(t, parent, err == nil)
	return pkg, req.Dir, err
}

// TestParseGitmodules checks what the settings mean. Package gitdir tests the syntax.
func TestParseGitmodules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]string{
		"": {},
		"[submodule \"a\"]\n\tpath = lib/a\n\turl = ../a.git\n":                               {"lib/a": "../a.git"},
		"[SubModule \"a b\"] Path=lib/a\r\n URL = \"../a ; b.git\" ; from\r\n\tshallow\n":     {"lib/a": "../a ; b.git"},
		"[submodule \"a\"]\npath = x\nurl = y\n[other]\npath = no\n":                          {"x": "y"},
		"[submodule \"a\"]\npath = one\npath = two\nurl = u\n[submodule \"b\"]\npath = three": {"two": "u", "three": ""},
		"[submodule \"a\"]\npath = x\n[submodule \"a\"]\nurl = u":                             {"x": "u"},
		"[submodule \"a\"]\npath = x\n[submodule \"b\"]\npath = x":                            nil,
		"path = x": nil,
	} {
		got, err := getmodules.ParseGitmodules([]byte(text))
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (want == nil) {
			t.Errorf("ParseGitmodules(%q) = %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func FuzzGitmodules(f *testing.F) {
	f.Add([]byte("[submodule \"x\"]\n\tpath = a/b\n\turl = ../x.git\n"), "git::https://h.example/a/b.git?ref=v1")
	f.Add([]byte("[submodule \"x\"]\npath = \"a\\rb\"\nurl = -u./x\n[include]\npath = /etc/passwd\n"), "git::ssh://git@h.example/a.git?sshkey=QUJD")
	f.Fuzz(func(t *testing.T, text []byte, parent string) {
		urls, err := getmodules.ParseGitmodules(text)
		if err != nil {
			return
		}
		for _, url := range urls {
			pkg, err := getmodules.SubmoduleAddress(addrs.ParseModulePackage(parent), url)
			if err == nil && pkg.Getter() != "git" {
				t.Errorf("SubmoduleAddress(%q, %q) = %q", parent, url, pkg)
			}
		}
	})
}
