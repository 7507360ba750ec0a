package addrs_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

func TestRedactText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":           "",
		"no address": "no address",
		"fatal: unable to access 'https://u:p@h.com/n.git?token=x/': no":     "fatal: unable to access 'https://h.com/n.git?token=REDACTED': no",
		`header: "Location: https://h.com/x?X-Amz-Signature=a&b=c" is bad`:   `header: "Location: https://h.com/x?X-Amz-Signature=REDACTED&b=REDACTED" is bad`,
		"two: https://tok@a.com/ and git::ssh://git:tok@b.com/n?ref=v1 here": "two: https://a.com/ and git::ssh://b.com/n?ref=v1 here",
		"cut: ://u:p@h.com/n":                "cut: ://h.com/n",
		"git::ssh://root@h.com:22/n?ref=v1":  "git::ssh://root@h.com:22/n?ref=v1",
		`source = "ssh://git@h.com" # x@y`:   `source = "ssh://git@h.com" # x@y`,
		"fine: https://h.com/n.git?ref=v1/x": "fine: https://h.com/n.git?ref=v1/x",
	} {
		if got := addrs.RedactText(text); got != want {
			t.Errorf("RedactText(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestRedacted(t *testing.T) {
	t.Parallel()
	tests := []struct{ pkg, want string }{
		{"https://ghp_X@h", "https://h"},
		{"https://x-access-token:ghs_X@h/n.git", "https://h/n.git"},
		{"git::https://u:p@h.com:8443/n.git?ref=v1", "git::https://h.com:8443/n.git?ref=v1"},
		{"git::ssh://git@h.com/n.git?depth=1&sshkey=QUJD==", "git::ssh://git@h.com/n.git?depth=1&sshkey=REDACTED"},
		// The user of ssh is part of the location.
		{"ssh://root@127.0.0.1:2222/n.git", "ssh://root@127.0.0.1:2222/n.git"},
		{"git::ssh://a_b.c@[::1]:22/n.git", "git::ssh://a_b.c@[::1]:22/n.git"},
		{"https://[2001:db8::1]/a@b.zip", "https://[2001:db8::1]/a@b.zip"},
		{"https://a::b/c@h.com/n.zip", "https://h.com/n.zip"},
		{"git::ssh://git:tok@h.com/n.git", "git::ssh://h.com/n.git"},
		{"git::ssh://git%3Atok@h.com/n.git", "git::ssh://h.com/n.git"},
		{"git::ssh://git@tok@h.com/n.git", "git::ssh://h.com/n.git"},
		{"git::xssh://tok@h.com/n.git", "git::xssh://h.com/n.git"},
		{"git::https://h/ssh://u:tok@h.com/n.git", "git::https://h/ssh://h.com/n.git"},
		{"https://h/n.zip?token=X", "https://h/n.zip?token=REDACTED"},
		{"https://h/n.zip?X-Amz-Signature=X&archive=zip", "https://h/n.zip?X-Amz-Signature=REDACTED&archive=zip"},
		{"https://h/n.zip?sig=X;ref=v1", "https://h/n.zip?sig=REDACTED;ref=v1"},
		{"oci://r.com/n?tag=1.0.0", "oci://r.com/n?tag=1.0.0"},
		{"oci://r.com/a/n@sha256:0123?digest=sha256:45", "oci://r.com/a/n@sha256:0123?digest=sha256:45"},
		{"git::https://h/n?version=~>1.2&rev=a&checksum=md5:0", "git::https://h/n?version=~>1.2&rev=a&checksum=md5:0"},
		{"file:///srv/m@1", "file:///srv/m@1"},
		{"git::git::https://t@h/n", "git::git::https://h/n"},
		{"https://h/n#X", "https://h/n#REDACTED"},
		{"./a#b/c?d=e@f", "./a#b/c?d=e@f"},
		{"../https://u:p@h/n?token=X#X", "../https://h/n?token=REDACTED#REDACTED"},
		{"https://h/n?ref=v1#X", "https://h/n?ref=v1#REDACTED"},
		{"", ""},
		// Values that are hidden in or after other values.
		{"https://h/n?ref=v1?token=X", "https://h/n?ref=v1?token=REDACTED"},
		{"https://h/n?X", "https://h/n?REDACTED"},
		{"https://h/n?archive", "https://h/n?archive"},
		{"https://h/n?&&", "https://h/n?&&"},
		{"https://h/n?Ref=X", "https://h/n?Ref=REDACTED"},
		{"https://h/n?checksum=file:https://u:p@h/s", "https://h/n?checksum=REDACTED"},
		{"https://h/n?ref=https%3A%2F%2Ftok%40h", "https://h/n?ref=REDACTED"},
		{"https://h/n?ref=%zz", "https://h/n?ref=REDACTED"},
		// Strings that are not valid URLs.
		{"https://u:p/w@h/n", "https://h/n"},
		{"https://u:p#w@h/n", "https://h/n"},
		{"https://u:p?w@h/n", "https://h/n"},
		{"https://a@b@h/n", "https://h/n"},
		{"https://u:p%zz@h/n", "https://h/n"},
		{"git@h.com:acme/n.git", "h.com:acme/n.git"},
		{"git::u:p@h.com:acme/n.git", "git::h.com:acme/n.git"},
		{"https:tok@h/n", "h/n"},
		{"//tok@h/n", "//h/n"},
		{"https://h/https://tok@h/n", "https://h/https://h/n"},
	}
	for _, test := range tests {
		source := addrs.ModuleSourceRemote{Package: addrs.ParseModulePackage(test.pkg)}
		if got := source.Package.Redacted(); got != test.want || source.ForDisplay() != test.want {
			t.Errorf("ModulePackage(%q).Redacted() = %q, ForDisplay() = %q, want %q", test.pkg, got, source.ForDisplay(), test.want)
		}
	}
}

// Errors quote addresses that do not parse, so they must not contain secrets, however they are
// printed. net/url quotes the URL in its errors, and parts of it in the errors that they wrap.
func TestErrorsHoldNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "S3CRET"
	urls := []string{
		"git::ssh://" + secret + "@h.com:acme/n.git",
		"git::https://u:" + secret + "@h.com:acme/n.git//../x",
		"https://u:" + secret + "/x@h.com/n.git",
		"b b:" + secret + "@h.com:acme/n.git?a;b",
		"https://user:" + secret + "@example.com/a/b/c//../d",
		"https://h/n//../" + secret + "?ref=v1&token=" + secret,
	}
	sources := append([]string{"acme/net/aws?token=" + secret, "github.com/acme?token=" + secret, secret + "@reg.example.com/acme/net/aws"}, urls...)
	for name, test := range map[string]struct {
		parse  func(string) error
		inputs []string
	}{
		"ParseModuleSource":         {func(input string) error { _, err := addrs.ParseModuleSource(input); return err }, sources},
		"ParseModuleSourceRegistry": {func(input string) error { _, err := addrs.ParseModuleSourceRegistry(input); return err }, sources},
		"ParseProviderSource":       {func(input string) error { _, err := addrs.ParseProviderSource(input); return err }, slices.Concat(sources, []string{"user:" + secret + "@example.com/a/b", "u:" + secret + "@h"})},
		"ParseHostname":             {func(input string) error { _, err := addrs.ParseHostname(input); return err }, slices.Concat(sources, []string{"user:" + secret + "@example.com"})},
		"Location":                  {func(input string) error { _, err := addrs.ParseModulePackage(input).Location(); return err }, urls},
	} {
		for _, input := range test.inputs {
			err := test.parse(input)
			parseError, ok := errors.AsType[*addrs.ParseError](err)
			if !ok {
				t.Errorf("%s(%q): error %v, want a *ParseError", name, input, err)
				continue
			}
			for _, verb := range []string{"%v", "%+v", "%#v", "%q"} {
				text := strings.ReplaceAll(fmt.Sprintf(verb+verb, err, *parseError), "../"+secret, "")
				if strings.Contains(text, secret) {
					t.Errorf("%s(%q) with %s: %s", name, input, verb, text)
				}
			}
			if foreign, ok := errors.AsType[*url.Error](err); ok {
				t.Errorf("%s(%q): the error wraps %v", name, input, foreign)
			}
		}
	}
}

func TestMaybeLocalMessage(t *testing.T) {
	t.Parallel()
	_, err := addrs.ParseModuleSource("mods/net")
	const want = `invalid module source address "mods/net": it is not recognized as a registry address or a remote package; ` +
		`a path to a local module must begin with "./" or "../"`
	if err == nil || err.Error() != want {
		t.Errorf("error = %v\nwant %s", err, want)
	}
}

// TestRedactIsFast uses a text that a server could send in a single header. With quadratic time,
// it would take minutes.
func TestRedactIsFast(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a:b//", "x//y:z", "a://u:p@", "?a&b", "#", "::"} {
		long := "https://h.com/" + strings.Repeat(unit, (1<<18)/len(unit))
		if got := addrs.RedactText(long); strings.Contains(got, "u:p") {
			t.Errorf("of many %q there is left %.200q", unit, got)
		}
	}
}

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

// A user name alone can be a token, so it stays hidden. Only warnings and policies leave out the names that are certainly
// none.
func TestHoldsSecret(t *testing.T) {
	t.Parallel()
	for pkg, want := range map[string]bool{
		"git::https://acme@dev.azure.com/acme/project/_git/net":       false,
		"git::https://git@h.com/acme/n.git":                           false,
		"git::https://oauth2@h.com/acme/n.git":                        false,
		"git::https://x-access-token@h.com/acme/n.git":                false,
		"git::https://x-token-auth@h.com/acme/n.git":                  false,
		"git::https://acme@dev.azure.com/other/project/_git/net":      true,
		"git::https://ghp_X@h.com/acme/n.git":                         true,
		"git::https://acme:p@dev.azure.com/acme/project/_git/net":     true,
		"git::https://git:p@h.com/acme/n.git":                         true,
		"git::https://git:@h.com/acme/n.git":                          true,
		"git::https://oauth2@h.com/acme/n.git?token=x":                true,
		"git::https://@h.com/n.git":                                   true,
		"git::https://h.com/n.git?ref=v1":                             false,
		"https://acme@h.com/acme/n.zip?checksum=file:https://u:p@h/s": true,
	} {
		parsed := addrs.ParseModulePackage(pkg)
		if got := parsed.HoldsSecret(); got != want {
			t.Errorf("ModulePackage(%q).HoldsSecret() = %v, want %v", pkg, got, want)
		}
		if strings.Contains(parsed.Redacted(), "@") || strings.Contains(parsed.ForLock(true).String(), "@") {
			t.Errorf("%q is shown as %q and locked as %q", pkg, parsed.Redacted(), parsed.ForLock(true))
		}
	}
}
