package addrs_test

import (
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestParseMemory parses addresses again and again, as each run does with those of a configuration and its lock.
// It is not parallel, because it measures what the process allocates.
func TestParseMemory(t *testing.T) {
	const times, most = 1000, 2 << 10 // bytes
	for _, source := range []string{
		"git::file:///srv/repos/net.git?ref=v1.0.0", "git::https://git.example.com/acme/net.git//modules/a?ref=v1.0.0", "git@git.example.com:acme/net.git",
		"https://example.com/net.zip", "oci://registry.example.com/acme/net?tag=1.0.0", "s3::https://s3.amazonaws.com/bucket/net.zip", "registry.example.com/acme/net/aws", "./a/b",
	} {
		allocated := testenv.Allocated(func() {
			for range times {
				_, err := addrs.ParseModuleSource(source)
				testenv.Must(t, err)
			}
		})
		if each := allocated / times; each > most {
			t.Errorf("ParseModuleSource(%q) allocates %d bytes, want at most %d", source, each, most)
		}
	}
}
