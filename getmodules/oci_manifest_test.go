package getmodules_test

import (
	"errors"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
)

const imageManifest = "application/vnd.oci.image.manifest.v1+json"

var someManifest = `{"schemaVersion":2,"mediaType":"` + imageManifest + `","artifactType":"application/vnd.opentofu.modulepkg",` +
	`"config":{},"layers":[{"mediaType":"archive/zip","digest":"` + someDigest + `","size":10}]}`

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
