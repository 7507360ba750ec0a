package addrs_test

import (
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

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
