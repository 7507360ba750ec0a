package getmodules_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
)

var someDigest = "sha256:" + strings.Repeat("0123456789abcdef", 4)

func TestOCIAddress(t *testing.T) {
	t.Parallel()
	long := "sha512:" + strings.Repeat("0123456789abcdef", 8)
	tests := []struct{ address, host, repository, reference string }{
		{"oci://r.example.com/net", "r.example.com", "net", "latest"},
		{"oci://r.example.com/net?", "r.example.com", "net", "latest"},
		{"oci::oci://r.example.com/net", "r.example.com", "net", "latest"},
		{"oci://R.Example.com:5000/a/b-c/d__e.f?tag=v1.0_x", "r.example.com:5000", "a/b-c/d__e.f", "v1.0_x"},
		{"oci://[::1]:5000/net?digest=" + someDigest, "[::1]:5000", "net", someDigest},
		{"oci://localhost/net?digest=" + strings.ReplaceAll(long, ":", "%3A"), "localhost", "net", long},
	}
	for _, test := range tests {
		host, repository, reference, err := getmodules.OCIReference(test.address)
		if err != nil || host != test.host || repository != test.repository || reference != test.reference {
			t.Errorf("OCIReference(%q) = %q, %q, %q, %v, want %q, %q, %q", test.address, host, repository, reference, err,
				test.host, test.repository, test.reference)
		}
	}
}

func TestOCIAddressRefused(t *testing.T) {
	t.Parallel()
	tests := []struct{ address, says string }{
		{"oci::https://r.example.com/net", "second scheme"},
		{"oci::r.example.com/net", "second scheme"},
		{"oci://", "no host"},
		{"oci:r.example.com/net", "no host"},
		{"oci:///net", "no host"},
		{"oci://u:hunter2@r.example.com/net", "credentials"},
		{"oci://r.example.com", "no repository"},
		{"oci://r.example.com/", "no repository"},
		{"oci://r.example.com/net#hunter2", "#"},
		{"oci://r.example.com/net:1.0", "?tag="},
		{"oci://r.example.com/net@" + someDigest, "?digest="},
		{"oci://r.example.com/Acme/Net", "lower case"},
		{"oci://r.example.com/net/", "name of a repository"},
		{"oci://r.example.com/a//b", "name of a repository"},
		{"oci://r.example.com/a%2Fb", "name of a repository"},
		{"oci://r.example.com/a%20b", "name of a repository"},
		{"oci://r.example.com/-a", "name of a repository"},

		{"oci://r.example.com/net?tag=a&digest=" + someDigest, "exclude"},
		{"oci://r.example.com/net?tag=a&tag=a", "2 times"},
		{"oci://r.example.com/net?digest=" + someDigest + "&digest=" + someDigest, "2 times"},
		{"oci://r.example.com/net?tag=", "tag is empty"},
		{"oci://r.example.com/net?tag", "tag is empty"},
		{"oci://r.example.com/net?digest=", "digest is empty"},
		{"oci://r.example.com/net?ref=v1", `"ref"`},
		{"oci://r.example.com/net?Tag=v1", `"Tag"`},
		{"oci://r.example.com/net?=v1", `""`},
		{"oci://r.example.com/net?archive=zip", "archive"},
		{"oci://r.example.com/net?checksum=sha256:00", "checksum"},
		{"oci://r.example.com/net?tag=%zz", "malformed"},
		{"oci://r.example.com/net?tag=a;b", "malformed"},
		{"oci://r.example.com/net?tag=a/b", "name of a tag"},
		{"oci://r.example.com/net?tag=.a", "name of a tag"},
		{"oci://r.example.com/net?tag=" + strings.Repeat("a", 129), "name of a tag"},
		{"oci://r.example.com/net?tag=" + someDigest, "name of a tag"},
		{"oci://r.example.com/net?digest=latest", "not a digest"},
		{"oci://r.example.com/net?digest=" + strings.ToUpper(someDigest), "not a digest"},
		{"oci://r.example.com/net?digest=sha256:" + strings.ToUpper(someDigest[7:]), "not a digest"},
		{"oci://r.example.com/net?digest=" + someDigest[:70], "not a digest"},
		{"oci://r.example.com/net?digest=md5:d41d8cd98f00b204e9800998ecf8427e", "not a digest"},
	}
	for _, test := range tests {
		_, _, err := fetchURL(t, &getmodules.Fetcher{}, test.address)
		if !errors.Is(err, getmodules.ErrOCIAddress) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%q: error is %v, want ErrOCIAddress with %q", test.address, err, test.says)
		}
		_, err = new(getmodules.Fetcher).OCIRepository(t.Context(), getmodules.Request{Package: pkgOf(test.address)})
		if !errors.Is(err, getmodules.ErrOCIAddress) {
			t.Errorf("OCIRepository(%q): error is %v, want ErrOCIAddress", test.address, err)
		}
	}
}

func FuzzOCIAddress(f *testing.F) {
	f.Add("oci://r.example.com/net?tag=1.0.0")
	f.Add("oci://r.example.com:5000/a/b?digest=" + someDigest)
	f.Add("oci::oci://[::1]/a?tag=x&")
	f.Fuzz(func(t *testing.T, address string) {
		host, repository, reference, err := getmodules.OCIReference(address)
		if err != nil {
			return
		}
		unsafe := strings.ContainsAny(host+reference, "/?#@ \n") || strings.ContainsAny(repository, "?#@:% \n") ||
			strings.Contains(repository, "//") || strings.Contains(repository, "..")
		if unsafe || host == "" || reference == "" {
			t.Errorf("OCIReference(%q) = %q, %q, %q", address, host, repository, reference)
		}
	})
}
