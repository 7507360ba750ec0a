package addrs_test

import (
	"errors"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestLocation(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		address, url, host, port string
		path                     []string
		bucket                   string // SERVICE or ENDPOINT, REGION, NAME and KEY
	}{
		{address: "https://H.example.:0443/a/b.zip?x=..", url: "https://H.example.:0443/a/b.zip?x=..", host: "h.example", port: "443", path: []string{"a", "b.zip"}},
		{address: "https://127.1/a", url: "https://127.0.0.1/a", host: "127.0.0.1", path: []string{"a"}},
		{address: "https://h/a%2Fb/%25/c%20;d/", url: "https://h/a%2Fb/%25/c%20;d/", host: "h", path: []string{"a%2Fb", "%25", "c ;d"}},
		{address: "git::ssh://git@h/a%2Fb.git", url: "ssh://git@h/a%2Fb.git", host: "h", path: []string{"a", "b.git"}},
		{address: "file:///srv/a/../b%20c", url: "file:///srv/b%20c", path: []string{"srv", "b c"}},
		{address: "https://h", url: "https://h", host: "h"},
		{address: "s3::http://S3.amazonaws.com:80/b/k%2Fl.zip", url: "https://S3.amazonaws.com/b/k%2Fl.zip", host: "s3.amazonaws.com", path: []string{"b", "k", "l.zip"}, bucket: "amazonaws.com us-east-1 b k/l.zip"},
		{address: "s3::https://a.b.s3.eu-west-1.amazonaws.com/k/", url: "https://a.b.s3.eu-west-1.amazonaws.com/k/", host: "a.b.s3.eu-west-1.amazonaws.com", path: []string{"k"}, bucket: "amazonaws.com eu-west-1 a.b k/"},
		{address: "s3::http://h:9000/b/k?region=x", url: "http://h:9000/b/k?region=x", host: "h", port: "9000", path: []string{"b", "k"}, bucket: "http://h:9000 x b k"},
		{address: "gcs::https://www.googleapis.com/storage/v1/acme/a%2Fb", url: "https://www.googleapis.com/storage/v1/acme/a%2Fb", host: "www.googleapis.com", path: []string{"storage", "v1", "acme", "a", "b"}, bucket: "googleapis.com  acme a/b"},
	} {
		at, err := addrs.ParseModulePackage(tt.address).Location()
		if err != nil {
			t.Errorf("%q: %v", tt.address, err)
			continue
		}
		if at.URL().String() != tt.url || at.Host() != tt.host || at.Port() != tt.port {
			t.Errorf("%q is %q at %q port %q", tt.address, at.URL(), at.Host(), at.Port())
		}
		if diff := cmp.Diff(tt.path, at.Path()); diff != "" {
			t.Errorf("the path of %q (-want +got):\n%s", tt.address, diff)
		}
		b := at.Bucket()
		if got := b.Service + b.Endpoint + " " + b.Region + " " + b.Name + " " + b.Key; strings.TrimSpace(got) != tt.bucket {
			t.Errorf("the bucket of %q is %q, want %q", tt.address, got, tt.bucket)
		}
	}
}

// TestRefusedLocations has addresses that are not accepted because servers could read them in
// several ways. The message says what is wrong.
func TestRefusedLocations(t *testing.T) {
	t.Parallel()
	const dot, control, s3, gcs = `the element "."`, "control character", "an address of S3 is", "an address of Google Cloud Storage is"
	for address, want := range map[string]string{
		"https://h/evil/../acme/x.zip": `the element ".."`, "https://h/evil/..%2facme/x.zip": `".."`, "https://h/evil/%2e%2e/acme/x.zip": `".."`,
		"https://h/evil/%252e%252e/acme/x.zip": `".."`, "https://h/evil/%252e%252e%252facme/x.zip": `".."`, "https://h/evil/..%5cacme/x.zip": `".."`,
		"https://h/evil/..;x/acme/x.zip": `".."`, "https://h/evil/..%20/acme/x.zip": `".."`, "https://h/./x.zip": dot, "https://h/x/.": dot,
		"https://h/acme/ /evil/x.zip": "only spaces or a parameter", "https://h/acme/%2520/x.zip": "only spaces", "https://h/acme/;x/evil/x.zip": "a parameter", "http://%2525/x.zip": "neither a name nor an address", "s3::https://a%25b/bucket/k": "neither a name nor an address", "http://:8/@": "no name", "git::ssh://:A:/0": "neither a name nor an address", "git::ssh://::A:/0": "neither a name nor an address", "git::https://:443/../a": "no name",
		"git::https://h/evil/../acme": `".."`, "git::ssh://git@h/evil/../acme": `".."`, "git::ssh://git@h/evil/%2e%2e/acme": `".."`, "git@h.com:../acme": `".."`,
		"hg::https://h/evil/../acme": `".."`, "oci://h/evil/../acme": `".."`, "s3::https://h/evil/../acme/x.zip": `".."`, "other::foo://h/evil/../acme": `".."`,
		"https://h/bad%00/x.zip": control, "https://h/bad%2500/x.zip": control, "git::ssh://git@h/bad%0a": control, "https://h/%7f": control,
		"s3::https://s3.amazonaws.com": s3, "s3::https://s3.amazonaws.com//x": s3, "s3::https://h": s3, "s3::file:///etc": s3, "s3::/etc": s3, "s3::https:///b/k": s3,
		"s3::https://s3.amazonaws.com/arn:aws:s3:eu-west-1:1:accesspoint:evil/k": s3, "s3::https://h/arn:aws:s3:::evil/k": s3,
		"s3::https://s3.cn-north-1.amazonaws.com/b/k": s3, "s3::https://s3.amazonaws.eu/b/k": s3, "s3::https://s3.aws-cn-global.amazonaws.com/b/k": s3,
		"s3::https://bucket.s3.amazonaws.com/k": s3, "s3::https://b.ec2.us-west-2.amazonaws.com/k": s3, "s3::https://s3-.amazonaws.com/b/k": s3, "s3::https://.s3.x.amazonaws.com/k": s3,
		"gcs::https://storage.googleapis.com/acme/x/evil/x.zip": gcs, "gcs::https://storage.googleapis.com/acme/storage/v1/evil/x.zip": gcs,
		"gcs::https://x.googleapis.com/storage/v1/acme/x.zip": gcs, "gcs::https://www.googleapis.com/storage/v2/acme/x.zip": gcs, "gcs::https://www.googleapis.com/storage/v1": gcs,
		"gcs::https://www.googleapis.com:8443/storage/v1/acme/x.zip": gcs, "gcs::http://127.0.0.1/storage/v1/b/k": gcs, "gcs::file:///etc": gcs,
	} {
		source, err := addrs.ParseModuleSource(address)
		if parseError := (*addrs.ParseError)(nil); !errors.As(err, &parseError) || source != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseModuleSource(%q) = %v, %v, want an error with %q", address, source, err, want)
		}
		if _, err := addrs.ParseModulePackage(address).Location(); strings.Contains(address, "://") && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("the location of %q has the error %v, want one with %q", address, err, want)
		}
	}
}

// FuzzLocation checks that no reading of a path that servers may have is outside of what the location
// says: decoding as often as possible, and resolving dots.
func FuzzLocation(f *testing.F) {
	for _, seed := range []string{
		"https://h/evil/../acme/x.zip", "https://h/a%2f..%2fb", "https://h/a/%252e%252e/b", "https://h/a/..;/b", "git::ssh://git@h/a%2Fb/../c", "s3::https://s3.amazonaws.com/b/%2e%2e/k",
		"gcs::https://www.googleapis.com/storage/v1/acme/a%2Fb", "https://127.1:0443//a", "https://h/a%5c..%5cb", "https://h/%e0%80%ae%e0%80%ae/x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		at, err := addrs.ParseModulePackage(address).Location()
		if err != nil || at.Host() == "" {
			return
		}
		for range 2 {
			sent := at.URL().EscapedPath()
			for range 2 {
				if decoded, err := url.PathUnescape(sent); err == nil {
					sent = decoded
				}
				slashes := strings.ReplaceAll(sent, `\`, "/")
				if at.URL().Opaque == "" && strings.Trim(path.Clean("/"+slashes), "/") != strings.Join(strings.FieldsFunc(slashes, func(c rune) bool { return c == '/' }), "/") {
					t.Errorf("%q sends %q, which a server may read as %q", address, at.URL(), path.Clean("/"+slashes))
				}
			}
			again, err := addrs.LocationOf(at.URL())
			if err != nil || again.Host() != at.Host() || again.Port() != at.Port() {
				t.Fatalf("%q is at %q, but its URL is at %q, %v", address, at.Host(), again.Host(), err)
			}
		}
	})
}
