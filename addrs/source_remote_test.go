package addrs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

func TestParseModuleSourceRemote(t *testing.T) {
	t.Parallel()
	tests := []struct{ raw, want string }{
		{"git::https://example.com/net.git//vpc?ref=v1.2.0", "git::https://example.com/net.git//vpc?ref=v1.2.0"},
		{"github.com/acme/net//vpc", "git::https://github.com/acme/net.git//vpc"},
		{"https://example.com/net.zip", "https://example.com/net.zip"},
		{"oci://example.com/net", "oci://example.com/net"},
		{"./net", ""},
		{"../net", ""},
		{"acme/net/aws", ""},
		{"registry.example.com/acme/net/aws", ""},
		{"net", ""},
		{"", ""},
	}
	for _, test := range tests {
		got, err := addrs.ParseModuleSourceRemote(test.raw)
		if test.want == "" {
			if _, ok := errors.AsType[*addrs.ParseError](err); !ok {
				t.Errorf("ParseModuleSourceRemote(%q) = %v, %v, want a *ParseError", test.raw, got, err)
			}
			continue
		}
		if err != nil || got.String() != test.want {
			t.Errorf("ParseModuleSourceRemote(%q) = %v, %v, want %s", test.raw, got, err, test.want)
		}
		if same, err := addrs.ParseModuleSource(test.raw); err != nil || same != addrs.ModuleSource(got) {
			t.Errorf("ParseModuleSource(%q) = %v, %v, want the same", test.raw, same, err)
		}
	}
}

// A ParseError has no credentials, however it is printed.
func TestParseErrorHidesCredentials(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	remote := func(raw string) error { _, err := addrs.ParseModuleSourceRemote(raw); return err }
	registry := func(raw string) error { _, err := addrs.ParseModuleSourceRegistry(raw); return err }
	provider := func(raw string) error { _, err := addrs.ParseProviderSource(raw); return err }
	host := func(raw string) error { _, err := addrs.ParseHostname(raw); return err }
	for name, err := range map[string]error{
		"subdirectory": remote("git::https://user:" + secret + "@example.com/net.git//../x"),
		"registry":     registry("https://user:" + secret + "@example.com/a/b/c"),
		"provider":     provider("https://user:" + secret + "@example.com/a/b"),
		"host":         host("user:" + secret + "@example.com"),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%q"} {
			parse, _ := errors.AsType[*addrs.ParseError](err)
			if text := fmt.Sprintf(verb+verb, err, *parse); strings.Contains(text, secret) {
				t.Errorf("%s with %s shows the password: %s", name, verb, text)
			}
		}
	}
}
