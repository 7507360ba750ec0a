package addrs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

func TestParseHostname(t *testing.T) {
	t.Parallel()
	tests := []struct {
		input, want, display string
	}{
		{"Reg.EXAMPLE.com", "reg.example.com", "reg.example.com"},
		{"reg.example.com:443", "reg.example.com", "reg.example.com"},
		{"reg.example.com:0443", "reg.example.com", "reg.example.com"},
		{"reg.example.com:+8443", "reg.example.com:8443", "reg.example.com:8443"},
		{"reg.example.com:0", "reg.example.com:0", "reg.example.com:0"},
		{"reg.example.com:65535", "reg.example.com:65535", "reg.example.com:65535"},
		{"reg.example.com.", "reg.example.com.", "reg.example.com."},
		{"localhost", "localhost", "localhost"},
		{"127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1:8080"},
		{"Bücher.example:8443", "xn--bcher-kva.example:8443", "bücher.example:8443"},
		{"ｅｘａｍｐｌｅ.com", "example.com", "example.com"},
		{"faß.example", "xn--fa-hia.example", "faß.example"},
		{"XN--BCHER-KVA.example", "xn--bcher-kva.example", "bücher.example"}, // only lower case is refused
	}
	for _, test := range tests {
		host, err := addrs.ParseHostname(test.input)
		if err != nil || string(host) != test.want {
			t.Errorf("ParseHostname(%q) = %q, %v, want %q", test.input, host, err, test.want)
			continue
		}
		if got := host.ForDisplay(); got != test.display {
			t.Errorf("ParseHostname(%q).ForDisplay() = %q, want %q", test.input, got, test.display)
		}
	}
}

func TestParseHostnameErrors(t *testing.T) {
	t.Parallel()
	for _, input := range []string{
		"", ":80", ".", "a..b", "xn--bcher-kva.example", "under_score.com", "*.example.com", "-a.com",
		"a b.com", "reg.example.com:", "reg.example.com:x", "reg.example.com:65536", "reg.example.com:-1",
		"[::1]:80", "::1", "https://reg.example.com", "http:x", "tok@reg.example.com", "reg.ex\xffample.com",
	} {
		host, err := addrs.ParseHostname(input)
		var parseError *addrs.ParseError
		if !errors.As(err, &parseError) || host != "" {
			t.Errorf("ParseHostname(%q) = %q, %v, want a *ParseError", input, host, err)
		}
	}
}

// Printing a host that was never parsed must not panic.
func TestUnparsedHost(t *testing.T) {
	t.Parallel()
	pkg := addrs.ModuleRegistryPackage{Host: "xn--\xff:1", Namespace: "a", Name: "b", TargetSystem: "c"}
	if got := pkg.String(); !strings.HasSuffix(got, ":1/a/b/c") {
		t.Errorf("String() = %q", got)
	}
}
