package advice_test

import (
	"testing"

	"github.com/cotterpin/cotter/internal/cli/advice"
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
