package getmodules_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
)

const imageManifest = "application/vnd.oci.image.manifest.v1+json"

var someManifest = `{"schemaVersion":2,"mediaType":"` + imageManifest + `","artifactType":"application/vnd.opentofu.modulepkg",` +
	`"config":{},"layers":[{"mediaType":"archive/zip","digest":"` + someDigest + `","size":10}]}`

func TestOCIManifest(t *testing.T) {
	t.Parallel()
	if digest, err := getmodules.CheckOCIManifest(imageManifest, []byte(someManifest), 10); digest != someDigest || err != nil {
		t.Errorf("a right manifest = %q, %v", digest, err)
	}
	tests := []struct {
		name, old, replacement string
		want                   error
	}{
		{"over the limit", `"size":10`, `"size":11`, getmodules.ErrTooLarge},
		{"2^63-1 bytes", `"size":10`, `"size":9223372036854775807`, getmodules.ErrTooLarge},
		{"2^63 bytes", `"size":10`, `"size":9223372036854775808`, getmodules.ErrOCIArtifact},
		{"no bytes", `"size":10`, `"size":0`, getmodules.ErrOCIArtifact},
		{"less than no bytes", `"size":10`, `"size":-1`, getmodules.ErrOCIArtifact},
		{"a fraction", `"size":10`, `"size":1.5`, getmodules.ErrOCIArtifact},
		{"no digest", someDigest, "", getmodules.ErrOCIArtifact},
		{"md5", someDigest, "md5:d41d8cd98f00b204e9800998ecf8427e", getmodules.ErrOCIArtifact},
		{"upper case", someDigest, strings.ToUpper(someDigest), getmodules.ErrOCIArtifact},
		{"a path", someDigest, "../../etc", getmodules.ErrOCIArtifact},
		{"no media type", imageManifest, "", getmodules.ErrOCIArtifact},
		{"an index as well", `"config":{}`, `"manifests":[]`, getmodules.ErrOCIArtifact},
		{"no JSON", `"config":{},`, `"config":{`, getmodules.ErrOCIArtifact},
		{"something behind it", `}]}`, `}]}{}`, getmodules.ErrOCIArtifact},
	}
	for _, test := range tests {
		text := strings.Replace(someManifest, test.old, test.replacement, 1)
		if _, err := getmodules.CheckOCIManifest(imageManifest, []byte(text), 10); !errors.Is(err, test.want) {
			t.Errorf("%s: error is %v, want %v", test.name, err, test.want)
		}
	}
	if _, err := getmodules.CheckOCIManifest("text/html", []byte(someManifest), 10); !errors.Is(err, getmodules.ErrOCIArtifact) {
		t.Errorf("a web page: error is %v, want ErrOCIArtifact", err)
	}
}

func FuzzOCIManifest(f *testing.F) {
	f.Add([]byte(someManifest))
	f.Add([]byte(`{"layers":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		digest, err := getmodules.CheckOCIManifest(imageManifest, text, 1<<20)
		if err == nil && len(digest) < len(someDigest) {
			t.Errorf("%q: digest = %q", text, digest)
		}
		if err != nil && !errors.Is(err, getmodules.ErrOCIArtifact) && !errors.Is(err, getmodules.ErrTooLarge) {
			t.Errorf("%q: error is %v", text, err)
		}
	})
}

func TestSameSite(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want bool
	}{
		{"r.example.com", "r.example.com", true},
		{"registry-1.docker.io", "auth.docker.io", true},
		{"registry.gitlab.com", "GitLab.com", true},
		{"localhost", "localhost", true},
		{"127.0.0.1", "127.0.0.1", true},
		{"127.0.0.1", "126.0.0.1", false},
		{"::1", "::2", false},
		{"r.example.com", "r.example.org", false},
		{"example.com", "example.com.evil.org", false},
		{"com", "example.com", false},
		{"a.co.uk", "b.co.uk", false},
		{"a.github.io", "b.github.io", false},
		{"example.com.", "example.com", false},
		{"", "example.com", false},
	}
	for _, test := range tests {
		if got := getmodules.SameSite(test.a, test.b); got != test.want {
			t.Errorf("SameSite(%q, %q) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
