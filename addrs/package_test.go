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
		pkg    string
		getter string
		url    string
	}{
		{"git::https://h.com/n.git?ref=x", "git", "https://h.com/n.git?ref=x"},
		{"GIT::https://h.com/n.git", "GIT", "https://h.com/n.git"},
		{"git::git::https://h.com/n.git", "git", "git::https://h.com/n.git"},
		{"git::https://u@127.1:8443/n.git?ref=x", "git", "https://u@127.0.0.1:8443/n.git?ref=x"},
		{"https://0x7f000001/n.zip", "https", "https://127.0.0.1/n.zip"},
		{"https://B\u00fccher.example./n.zip", "https", "https://B%C3%BCcher.example./n.zip"},
		{"HTTPS://h.com/n.zip", "https", "https://h.com/n.zip"},
		{"oci://r.com/a/n:1.0", "oci", "oci://r.com/a/n:1.0"},
		{"file:///srv/m", "file", "file:///srv/m"},
		{"foo:bar/baz", "foo", "foo:bar/baz"},
		{"mods/net", "", "mods/net"},
		{"", "", ""},
	}
	for _, test := range tests {
		if got := addrs.ParseModulePackage(test.pkg).Getter(); got != test.getter {
			t.Errorf("ModulePackage(%q).Getter() = %q, want %q", test.pkg, got, test.getter)
		}
		at, err := addrs.ParseModulePackage(test.pkg).Location()
		if err != nil || at.URL().String() != test.url {
			t.Errorf("the URL of %q is %v, %v, want %q", test.pkg, at.URL(), err, test.url)
		}
	}
}

// net/url quotes the URL in its errors, and parts of it in the errors that they wrap.
func TestLocationErrorHoldsNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "S3CRET"
	pkg := addrs.ParseModulePackage("git::https://u:" + secret + "/x@h.com/n.git")
	at, err := pkg.Location()
	var parseError *addrs.ParseError
	if !errors.As(err, &parseError) {
		t.Fatalf("Location() = %v, %v, want a *ParseError", at, err)
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

func TestArguments(t *testing.T) {
	t.Parallel()
	tests := []struct{ address, with, without, value string }{
		{"git::https://h.com/n.git", "git::https://h.com/n.git?ref=a%2Fb", "git::https://h.com/n.git", ""},
		{"git::https://h.com/n.git?", "git::https://h.com/n.git?ref=a%2Fb", "git::https://h.com/n.git?", ""},
		{"git::https://h.com/n.git?ref=v1&depth=1", "git::https://h.com/n.git?depth=1&ref=a%2Fb", "git::https://h.com/n.git?depth=1", "v1"},
		{"git::https://h.com/n.git?x=%zz&r%65f=v%201&ref=v2", "git::https://h.com/n.git?x=%zz&ref=a%2Fb", "git::https://h.com/n.git?x=%zz", "v 1"},
		{"https://h.com/n.zip?ref#ref=1", "https://h.com/n.zip?ref=a%2Fb#ref=1", "https://h.com/n.zip#ref=1", ""},
		{"https://h.com/n.zip#x?ref=1", "https://h.com/n.zip?ref=a%2Fb#x?ref=1", "https://h.com/n.zip#x?ref=1", ""},
		{"C:\\n?ref=%zz", "C:\\n?ref=a%2Fb", "C:\\n", "%zz"},
	}
	for _, test := range tests {
		p := addrs.ParseModulePackage(test.address)
		if got := p.String(); got != test.address {
			t.Errorf("ParseModulePackage(%q).String() = %q", test.address, got)
		}
		if got := p.Arg("ref"); got != test.value {
			t.Errorf("%q: Arg = %q, want %q", test.address, got, test.value)
		}
		if got := p.WithArg("ref", "a/b").String(); got != test.with {
			t.Errorf("%q: WithArg = %q, want %q", test.address, got, test.with)
		}
		if got := p.Without("ref").String(); got != test.without {
			t.Errorf("%q: Without = %q, want %q", test.address, got, test.without)
		}
	}
}

func TestRef(t *testing.T) {
	t.Parallel()
	commit := strings.Repeat("0123456789", 4)
	tests := []struct {
		address, name, revision string
		exact                   bool
	}{
		{"git::https://h.com/n.git", "", "", false},
		{"git::https://h.com/n.git?ref=main", "main", "main", false},
		{"git::https://h.com/n.git?ref=" + commit, commit, commit, true},
		{"git::https://h.com/n.git?tag=v1", "", "", false},
		{"hg::https://h.com/n?rev=" + commit, commit, commit, true},
		{"oci://r.com/n?tag=v1", "v1", "", false},
		{"oci://r.com/n?tag=v1&digest=sha256:0", "sha256:0", "sha256:0", true},
		{"https://h.com/n.zip?ref=v1", "", "", false},
	}
	for _, test := range tests {
		p := addrs.ParseModulePackage(test.address)
		name, exact := p.Ref()
		if name != test.name || exact != test.exact || p.Revision() != test.revision {
			t.Errorf("%q: Ref = %q, %t, Revision = %q, want %q, %t, %q", test.address, name, exact, p.Revision(), test.name, test.exact, test.revision)
		}
	}
}

func TestReplaceArg(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		address, value, want string
		ok                   bool
	}{
		{"git::https://example.com/net.git//sub?ref=v1.2.0", "v1.3.0", "git::https://example.com/net.git//sub?ref=v1.3.0", true},
		{"github.com/acme/net?depth=1&ref=v1.2.0", "v1.3.0", "github.com/acme/net?depth=1&ref=v1.3.0", true},
		{"git@github.com:acme/net.git?ref=v1.2.0&depth=1#x", "v1.3.0", "git@github.com:acme/net.git?ref=v1.3.0&depth=1#x", true},
		{"github.com/acme/net?ref=net%2Fv1.2.0", "net/v1.3.0", "github.com/acme/net?ref=net/v1.3.0", true},
		{"github.com/acme/net?ref=v1", "v1&x=y", "github.com/acme/net?ref=v1%26x%3Dy", true},
		{"github.com/acme/net?ref=~> 1.2", "~> 2.0", "github.com/acme/net?ref=~> 2.0", true}, // as it was written
		{"github.com/acme/net?ref=%3E%3D+1.2", ">= 2.0", "github.com/acme/net?ref=%3E%3D+2.0", true},
		{"github.com/acme/net?ref=a&ref=b", "c", "", false},
		{"github.com/acme/net?rev=a", "c", "", false},
		{"github.com/acme/net", "c", "", false},
	} {
		got, ok := addrs.ReplaceArg(tt.address, "ref", tt.value)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("ReplaceArg(%q, %q) = %q, %t; want %q, %t", tt.address, tt.value, got, ok, tt.want, tt.ok)
		}
	}
}
