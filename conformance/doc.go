// Package conformance checks servers: module registries, provider registries and OCI repositories with
// modules or providers. It sends the requests that OpenTofu, Terraform and Cotter send, and some that they
// should never need, and compares the answers with the protocols:
//
//   - https://opentofu.org/docs/internals/remote-service-discovery/
//   - https://opentofu.org/docs/internals/module-registry-protocol/
//   - https://opentofu.org/docs/internals/provider-registry-protocol/
//   - https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md
//   - https://opentofu.org/docs/cli/oci_registries/
//
// A [Report] lists the rules that were checked, and each [Violation] of them. The checks are stricter than
// clients, which accept many answers that break a rule. In a test of a server:
//
//	client := conformance.Client{HTTPClient: server.Client()}
//	report, err := client.ModuleRegistry(ctx, module)
//	if err == nil {
//		err = report.Err()
//	}
//
// Nothing is uploaded, changed, installed or run. The newest and the oldest version of a module or provider
// are checked, and the platforms of a version up to [MaxPlatforms]. The package of a module is downloaded
// only if it is an archive by HTTPS.
//
// [Kit] has cases for programs that read and write locks or compute hashes. Command cotter-conformance runs a
// program on them, and these checks on a server; docs/spec/conformance.md describes it.
package conformance
