// Package gitwire lists refs, and fetches packs from git servers, by protocol version 2
// (gitprotocol-common(5), gitprotocol-v2(5), gitprotocol-http(5)), in this process. A [Client] sends its
// requests by a [Transport], such as [HTTP] or [Session].
//
// It does not support SHA-256 object names, older versions of the protocol, dumb HTTP, retries, and
// negotiation: the first request contains everything that the client has. Authentication, proxies and
// certificates are those of the transport.
package gitwire
