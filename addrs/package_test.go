package addrs_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

func TestGetterAndURL(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pkg    addrs.ModulePackage
		getter string
		url    string
	}{
		{"git::https://h.com/n.git?ref=x", "git", "https://h.com/n.git?ref=x"},
		{"GIT::https://h.com/n.git", "GIT", "https://h.com/n.git"},
		{"git::git::https://h.com/n.git", "git", "git::https://h.com/n.git"},
		{"HTTPS://h.com/n.zip", "https", "https://h.com/n.zip"},
		{"oci://r.com/a/n:1.0", "oci", "oci://r.com/a/n:1.0"},
		{"file:///srv/m", "file", "file:///srv/m"},
		{"foo:bar/baz", "foo", "foo:bar/baz"},
		{"mods/net", "", "mods/net"},
		{"", "", ""},
	}
	for _, test := range tests {
		if got := test.pkg.Getter(); got != test.getter {
			t.Errorf("ModulePackage(%q).Getter() = %q, want %q", test.pkg, got, test.getter)
		}
		u, err := test.pkg.URL()
		if err != nil || u.String() != test.url {
			t.Errorf("ModulePackage(%q).URL() = %v, %v, want %q", test.pkg, u, err, test.url)
		}
	}
}

// net/url quotes the URL in its errors, and parts of it in what they wrap.
func TestURLErrorHoldsNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "S3CRET"
	pkg := addrs.ModulePackage("git::https://u:" + secret + "/x@h.com/n.git")
	u, err := pkg.URL()
	var parseError *addrs.ParseError
	if !errors.As(err, &parseError) {
		t.Fatalf("URL() = %v, %v, want a *ParseError", u, err)
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the error %q holds the secret", err)
	}
	if foreign := new(url.Error); errors.As(err, &foreign) {
		t.Errorf("the error wraps %v", foreign)
	}
	if got := pkg.Getter(); got != "git" {
		t.Errorf("Getter() = %q, want git", got)
	}
}
