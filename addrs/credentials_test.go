package addrs_test

import (
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

func TestWithoutCredentials(t *testing.T) {
	t.Parallel()
	tests := []struct{ pkg, want string }{
		{"git::https://h.com/n.git?ref=v1&depth=1", "git::https://h.com/n.git?ref=v1&depth=1"},
		{"git::https://u:p@h.com/n.git?ref=v1&sshkey=QUJD", "git::https://h.com/n.git?ref=v1"},
		{"git::https://tok@h.com/n.git", "git::https://h.com/n.git"},
		{"git::ssh://git@h.com/n.git?ref=v1", "git::ssh://git@h.com/n.git?ref=v1"},
		{"git::ssh://git:tok@h.com/n.git", "git::ssh://h.com/n.git"},
		{"s3::https://s3.amazonaws.com/b/k.zip?region=eu&aws_access_key_secret=X", "s3::https://s3.amazonaws.com/b/k.zip?region=eu"},
		{"https://h.com/n.zip?X-Amz-Signature=X#X", "https://h.com/n.zip"},
		{"gcs::https://www.googleapis.com/storage/v1/b/n.zip?x=X#17", "gcs::https://www.googleapis.com/storage/v1/b/n.zip#17"},
		{"gcs::https://www.googleapis.com/storage/v1/b/n.zip#17X", "gcs::https://www.googleapis.com/storage/v1/b/n.zip"},
		{"https://h.com/n.zip#17", "https://h.com/n.zip"},
		{"oci://r.com/n@sha256:0123?tag=1", "oci://r.com/n@sha256:0123?tag=1"},
		{"https://h.com/n?checksum=md5:0&ref=a/b", "https://h.com/n?checksum=md5:0&ref=a/b"},
		{"https://h.com/n?checksum=file:https://u:p@h/s&ref=v1", "https://h.com/n?ref=v1"},
		{"https://h.com/n?ref=v1;token=X", "https://h.com/n"},
		{"https://h.com/n?depth=1&ref=v1?token=X", "https://h.com/n?depth=1"},
		{"https://u:p/w@h.com/n", "https://h.com/n"},
	}
	for _, test := range tests {
		got := addrs.ParseModulePackage(test.pkg).WithoutCredentials()
		if got.String() != test.want {
			t.Errorf("ModulePackage(%q).WithoutCredentials() = %q, want %q", test.pkg, got, test.want)
		}
		if again := got.WithoutCredentials(); again != got {
			t.Errorf("ModulePackage(%q).WithoutCredentials() = %q, not itself", got, again)
		}
	}
}

func TestHoldsCredentials(t *testing.T) {
	t.Parallel()
	for pkg, want := range map[string]bool{
		"git::https://u:p@h.com/n.git":                           true,
		"git::https://tok@h.com/n.git":                           true,
		"git::ssh://git:tok@h.com/n.git":                         true,
		"git::ssh://git@h.com/n.git?sshkey=QUJD":                 true,
		"https://u:p@h.com/n.zip":                                true,
		"https://h.com/n.zip?token=x":                            true,
		"https://h.com/n.zip?X-Amz-Signature=x":                  true,
		"https://h.com/n.zip?checksum=file:https://u:p@h.com/s":  true,
		"s3::https://s3.amazonaws.com/b/k?aws_access_key_id=x":   true,
		"git::ssh://git@h.com/n.git?ref=v1":                      false,
		"git::https://h.com/n.git?ref=a@b&depth=1":               false,
		"https://h.com/u:p@n.zip?archive=zip":                    false,
		"https://h.com/n.zip?checksum=file:https://h.com/s":      false,
		"s3::https://s3.amazonaws.com/b/k?region=eu&version=abc": false,
		"file:///a@b":  false,
		"https://h h/": false,
	} {
		if got := addrs.ParseModulePackage(pkg).HoldsCredentials(); got != want {
			t.Errorf("ModulePackage(%q).HoldsCredentials() = %v, want %v", pkg, got, want)
		}
	}
}
