// Package gitwire lists refs, and fetches the pack of one commit or of the commits of a history
// from git servers, by protocol version 2, in this process. It does not look into
// packs; package inprocess reads them. After any error of this package, callers should use the
// installed git.
//
// A [Client] sends its requests by a [Transport], such as [HTTP] or
// [Session].
//
// The formats are those of gitprotocol-common(5), gitprotocol-v2(5) and gitprotocol-http(5).
//
// The package does not support:
//
//   - SHA-256 object names, protocol versions 0 and 1, and dumb HTTP
//   - authentication, proxies and certificates, except through the transport
//   - retries
//   - negotiation: the first request contains everything that the client has
package gitwire
