// Package conformance checks servers: module registries, provider registries and OCI repositories
// with modules or providers. It sends the requests that OpenTofu, Terraform and Cotter send, and
// some that they should never need, and compares the answers with the protocols:
//
//   - https://opentofu.org/docs/internals/remote-service-discovery/
//   - https://opentofu.org/docs/internals/module-registry-protocol/
//   - https://opentofu.org/docs/internals/provider-registry-protocol/
//   - https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md
//   - https://opentofu.org/docs/cli/oci_registries/
//
// A [Report] lists the rules that were checked and each [Violation] of them. [Rules] lists all
// rules. The checks are stricter than clients, which accept many answers that break a rule: a server
// without violations works with every client that follows the protocols.
//
// In a test of a server:
//
//	client := conformance.Client{HTTPClient: server.Client()}
//	report, err := client.ModuleRegistry(ctx, module)
//	if err == nil {
//		err = report.Err()
//	}
//	if err != nil {
//		t.Error(err)
//	}
//
// # What is not checked
//
// Nothing is uploaded, changed or deleted. The content of modules and providers is downloaded, but
// not installed or run. Of a module or a provider, the newest and the oldest versions are checked,
// and of a version the platforms up to [MaxPlatforms]. A module's download address is checked, but
// its package is downloaded only if it is an archive that can be fetched by HTTPS.
//
// # Cases for locks and hashes
//
// [Kit] has the cases for programs that read and write locks or compute hashes. Command
// cotter-conformance runs a program on them, and the checks above on a server. docs/spec/conformance.md
// describes it.
package conformance
