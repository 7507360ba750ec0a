package advice_test

import (
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/registryclient"
)

// TestRegistryLogin checks the names of variables: "_" stands for a dot, and "__" for a hyphen. None has a port.
func TestRegistryLogin(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"my-registry.example.com": "Run `tofu login my-registry.example.com`, set TF_TOKEN_my__registry_example_com, or add a `credentials \"my-registry.example.com\"` block with a token to the CLI configuration.",
		"xn--bcher-kva.example":   "Run `tofu login xn--bcher-kva.example`, set TF_TOKEN_xn____bcher__kva_example, or add a `credentials \"xn--bcher-kva.example\"` block with a token to the CLI configuration.",
		"example.com:8443":        "Add a `credentials \"example.com:8443\"` block with a token to the CLI configuration.",
	} {
		if got := advice.RegistryLogin(host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}

// TestTrustAuthority checks that SSL_CERT_FILE is advised only where Go reads it.
func TestTrustAuthority(t *testing.T) {
	t.Parallel()
	for system, want := range map[string]string{
		"linux":   "Behind a TLS proxy, set SSL_CERT_FILE to the file with its certificates; for git, set GIT_SSL_CAINFO or http.sslCAInfo too.",
		"freebsd": "Behind a TLS proxy, set SSL_CERT_FILE to the file with its certificates; for git, set GIT_SSL_CAINFO or http.sslCAInfo too.",
		"darwin":  "Behind a TLS proxy, add its certificate to the system keychain, as trusted; for git, set GIT_SSL_CAINFO or http.sslCAInfo too.",
		"windows": "Behind a TLS proxy, add its certificate to the trusted root certificates of Windows; for git, set GIT_SSL_CAINFO or http.sslCAInfo too.",
	} {
		if got := advice.TrustAuthority(true, system); got != want {
			t.Errorf("%s: %q, want %q", system, got, want)
		}
	}
}

// TestHostOf has addresses with "::" in their host.
func TestHostOf(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"[2001:db8::1]:8443": &registryclient.RequestError{URL: "https://[2001:db8::1]:8443/v1/modules"},
		"[2001:db8::2]":      &getmodules.FetchError{Package: "git::https://[2001:db8::2]/net.git"},
		"[2001:db8::3]":      &git.HostError{URL: "ssh://git@[2001:db8::3]/net.git"},
	} {
		if got := advice.HostOf(err); got != want {
			t.Errorf("the host of %T is %q, want %q", err, got, want)
		}
	}
}
