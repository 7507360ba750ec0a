package getmodules_test

import (
	"errors"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

func TestCheckLocation(t *testing.T) {
	t.Parallel()
	const remote, local = "https://registry.example.com", "http://127.0.0.1:8080"
	tests := []struct {
		pkg, origin string
		allowed     bool
	}{
		{"https://example.com/a.zip", remote, true},
		{"https::https://example.com/a.zip", remote, true},
		{"git::https://example.com/a.git?ref=v1", remote, true},
		{"git::ssh://git@example.com/a.git", remote, true},
		{"oci://example.com/a", remote, true},
		{"https://10.0.0.1/a.zip", remote, true},

		{"https://127.0.0.1/a.zip", remote, false},
		{"https://localhost/a.zip", remote, false},
		{"https://169.254.169.254/a.zip", remote, false},
		{"https://169.254.169.254/a.zip", local, false},
		{"https://2130706433/a.zip", remote, false},
		{"https://127.0.0.1/a.zip", local, true},
		{"https://127.0.0.1/a.zip", "::", false},
		{"git::ssh://git@[::1]/a.git", remote, false},
		{"oci://127.0.0.1:5000/a", remote, false},
		{"s3::https://169.254.169.254/b/k", remote, false},
		{"http://example.com/a.zip", remote, false},
		{"http://127.0.0.1/a.zip", remote, false},
		{"http://example.com/a.zip", local, false},
		{"http://localhost.example.com/a.zip", local, false},
		{"http://127.0.0.1/a.zip", local, true},
		{"http://localhost:99/a.zip", local, true},
		{"http://[::1]:99/a.zip", "https://localhost", true},
		{"git::http://127.0.0.1/a.git", local, true},
		{"git::http://127.0.0.1/a.git", remote, false},
		{"git::http://example.com/a.git", local, false},

		{"file:///etc", local, false},
		{"file://127.0.0.1/etc", local, false},
		{"file::/etc", local, false},
		{"git::file:///etc", local, false},
		{"git::/etc", local, false},
		{"git::git://127.0.0.1/a", local, false},
		{"git::ext::sh -c id", local, false},
		{"git://example.com/a", remote, false},
		{"ssh://git@example.com/a", remote, false},
		{"git::https:///a", remote, false},
		{"https:a.zip", remote, false},
		{"hg::https://example.com/a", remote, false},
		{"s3::https://s3.amazonaws.com/b/k", remote, true},
		{"s3::https://minio.example.com/b/k.zip?region=eu-west-1", remote, true},
		{"gcs::https://www.googleapis.com/storage/v1/b/k", remote, true},
		{"s3::http://127.0.0.1:9000/b/k.zip", local, true},
		{"s3::http://127.0.0.1:9000/b/k.zip", remote, false},
		{"s3::http://minio.example.com/b/k.zip", local, false},
		{"s3::http://minio.example.com/b/k.zip", remote, false},
		{"hg::http://127.0.0.1/a", local, false},
		{"demo::https://example.com/a", remote, false},
		{"oci::https://example.com/a", remote, false},
		{"https::oci://example.com/a", remote, false},
		{"http://127.0.0.1/a.zip", "", false},
		{"http://127.0.0.1/a.zip", "::", false},
	}
	for _, test := range tests {
		req := getmodules.Request{Package: addrs.ParseModulePackage(test.pkg), FromServer: true, Origin: test.origin}
		err := getmodules.CheckLocation(t.Context(), req)
		if test.allowed && err != nil || !test.allowed && !errors.Is(err, getmodules.ErrRefusedLocation) {
			t.Errorf("CheckLocation(%q from %q) = %v, want allowed: %v", test.pkg, test.origin, err, test.allowed)
		}
		if err := getmodules.CheckLocation(t.Context(), getmodules.Request{Package: req.Package}); err != nil {
			t.Errorf("CheckLocation(%q by the user) = %v, want nil", test.pkg, err)
		}
	}
}
