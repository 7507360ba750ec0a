package getmodules_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

var errNotAllowed = errors.New("not allowed")

// refusing returns a function that sets a request's Allow to one that rejects addresses
// containing text.
func refusing(text string) func(*getmodules.Request) {
	return func(req *getmodules.Request) {
		req.Allow = func(pkg addrs.ModulePackage) error {
			if strings.Contains(pkg.String(), text) {
				return errNotAllowed
			}
			return nil
		}
	}
}

// TestAllowPages checks that Allow is called for the addresses that pages point to, before
// any request to them. It is not called for the address of the request itself.
func TestAllowPages(t *testing.T) {
	t.Parallel()
	site := newSite(t, map[string]http.HandlerFunc{"/a.zip": serve(sampleZip())})
	site.routes["/page"] = leadTo(site.URL + "/middle")
	site.routes["/middle"] = leadTo(site.URL + "/a.zip")
	for text, asked := range map[string]int{"/middle": 1, "/a.zip": 2} {
		before := len(site.asked())
		_, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/page", refusing(text))
		if !errors.Is(err, errNotAllowed) || !strings.Contains(err.Error(), "points to "+site.URL+text) {
			t.Errorf("refusing %s: %v, want the refusal and the address", text, err)
		}
		if got := len(site.asked()) - before; got != asked {
			t.Errorf("refusing %s: %d requests, want %d", text, got, asked)
		}
	}
	if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/page", refusing("/page")); err != nil {
		t.Errorf("refusing the page itself: %v", err)
	}
}

func TestAllowSubmodules(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	inner := newGitRepo(t, s.root, "inner.git")
	id := inner.commit("main", gitFile{path: "main.tf"})
	outer := newGitRepo(t, s.root, "outer.git")
	outer.commit("main", gitmodules("sub", "../inner.git"), gitFile{path: "sub", mode: "160000", content: id})
	req := getmodules.Request{Package: s.address(outer, ""), Submodules: true}
	refusing("inner")(&req)
	if _, _, err := fetchTree(t, newGitFetcher(t), req); !errors.Is(err, errNotAllowed) || !strings.Contains(err.Error(), `"sub"`) {
		t.Errorf("Fetch = %v, want the refusal and the submodule's path", err)
	}
	refusing("outer")(&req)
	if _, _, err := fetchTree(t, newGitFetcher(t), req); err != nil {
		t.Errorf("refusing the package itself: %v", err)
	}
}
