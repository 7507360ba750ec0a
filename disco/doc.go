// Package disco finds the URL of a host's service, such as its module registry, by remote service discovery
// (https://opentofu.org/docs/internals/remote-service-discovery/). A JSON document at
// https://HOST/.well-known/terraform.json maps service identifiers ("modules.v1") to URLs. The package also adds
// the credentials for a host to requests. It does not find them: see [CredentialsSource].
//
// A [Client] sends one request to each host, which concurrent callers share, and remembers the answer and the
// host's credentials; failures are not remembered. If a host refuses its credentials with 401,
// [Client.Refused] asks their source once more. Services that the user configured replace the document.
//
// It is stricter than the stock tools:
//
//   - A service URL must be https. Plain http is allowed only for a registry on this machine: its host must be a
//     loopback address or "localhost", as must the document's, unless the user configured the service. Other
//     hosts may not point to this machine or to link-local addresses.
//   - At most 3 redirects are followed, and only to https. Credentials are sent only over https, and not after a
//     redirect to another scheme, host or port. Cookies are not sent.
//   - A document of more than 1 MiB is an error, and so is a duplicate property.
package disco
