// Package disco finds out where a host offers a service, such as its module
// registry, by remote service discovery: a JSON document at
// https://HOST/.well-known/terraform.json maps service identifiers
// ("modules.v1") to URLs. It also gives requests the credentials for a host.
//
// The format is that of OpenTofu and Terraform:
// https://opentofu.org/docs/internals/remote-service-discovery/. The document
// is read by github.com/opentofu/svchost/disco; as the API of that package is
// experimental, none of its types appears here.
//
// # What it does
//
//   - A [Client] asks each host once, however many callers want to know, and
//     remembers the answer. It does not remember failures. A caller that is
//     cancelled returns at once and does not disturb the others.
//   - Services that the user configured for a host take the place of its
//     document; nothing is asked then.
//   - Service URLs are resolved against the URL of the document, after
//     redirects. A "/" is added to the path of each where it lacks one at the
//     end, so that endpoints can be resolved against it.
//
// # Stricter than the stock tools
//
//   - A service URL has to be https. Plain http is only for a registry on this
//     machine: the service's host and, unless the service was configured by
//     the user, the document's host both have to be a loopback address or
//     "localhost". A host elsewhere does not point to this machine by https
//     either, nor to link-local addresses.
//   - Redirects go to https only, at most 3 of them. Credentials do not follow
//     to another scheme, host or port.
//   - Credentials are sent over https only, and cookies not at all.
//   - A document beyond 1 MiB is an error however it is sent; so is one that
//     has a property twice.
//   - Lost connections, 429 and 5xx are tried again, as registryclient does.
//
// # What it does not do
//
//   - It does not look for credentials. See [CredentialsSource].
//   - It does not look at the addresses that a host name resolves to: a
//     document may point to a server in a private network.
//   - It reads no OAuth client definitions (the service "login.v1").
package disco
