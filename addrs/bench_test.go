package addrs_test

import (
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

func BenchmarkParseModuleSource(b *testing.B) {
	for name, input := range map[string]string{
		"local":    "../../modules/network",
		"registry": "terraform-aws-modules/vpc/aws//modules/vpc-endpoints",
		"host":     "registry.example.com:8443/acme/net/aws",
		"github":   "github.com/acme/net//modules/vpc?ref=v1.2.0",
		"git":      "git::https://git.example.com/acme/net.git//modules/vpc?ref=v1.2.0",
		"scp":      "git@git.example.com:acme/net.git?ref=v1.2.0",
		"archive":  "https://example.com/net.zip//modules/vpc",
		"error":    "modules/network",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = addrs.ParseModuleSource(input)
			}
		})
	}
}

func BenchmarkRedact(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = addrs.Redact("git::https://user:token@git.example.com/acme/net.git//modules/vpc?ref=v1.2.0&sshkey=x")
	}
}
