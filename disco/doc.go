// Package disco finds the URL of a host's service, such as its module registry, by remote
// service discovery. A JSON document at https://HOST/.well-known/terraform.json maps
// service identifiers ("modules.v1") to URLs. The package also adds the credentials for a
// host to requests.
//
// The format is that of OpenTofu and Terraform:
// https://opentofu.org/docs/internals/remote-service-discovery/. The document is parsed by
// github.com/opentofu/svchost/disco. The API of that package is experimental, so this
// package does not expose its types.
//
// # What it does
//
//   - A [Client] sends one request to each host, and remembers the answer and the host's
//     credentials; failures are not remembered. In a run of a installer.Installer, it remembers
//     them until the run ends, or the runs that share answers. Otherwise it remembers them as
//     long as it lives; [Client.Fresh] returns a client that asks again.
//   - Concurrent callers share a request, and canceling one caller does not cancel the others.
//   - If a host refuses its credentials with 401, [Client.Refused] asks their source once more.
//   - Services that the user configured for a host replace its document, which is then not
//     requested.
//   - Service URLs are resolved against the URL of the document, after redirects. If a
//     path does not end in "/", a "/" is appended, so that endpoints can be resolved
//     against the URL.
//
// # Stricter than the stock tools
//
//   - A service URL must be https. Plain http is allowed only for a registry on this
//     machine: the service's host must be a loopback address or "localhost". Unless the
//     user configured the service, the document's host must be one too. Other hosts may
//     not point to this machine or to link-local addresses, even by https.
//   - At most 3 redirects are followed, and only to https. Credentials are not sent after
//     a redirect to another scheme, host or port.
//   - Credentials are sent only over https. Cookies are not sent.
//   - A document of more than 1 MiB is an error, and so is a duplicate property.
//   - Lost connections, 429 and 5xx are retried, as in registryclient.
//
// # What it does not do
//
//   - It does not find credentials. See [CredentialsSource].
//   - It does not check the addresses that a host name resolves to: a document can point
//     to a server in a private network.
//   - It does not read OAuth client definitions (the service "login.v1").
package disco
