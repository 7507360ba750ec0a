// Package gitwire asks git servers for refs and for the objects of one commit
// by protocol version 2 over smart HTTP, in this process. It is for what can be
// had without credentials and without the user's git configuration; everything
// else is the business of the system's git, which is also where to turn after
// any error of this package.
//
// A request is one POST. The advertisement of capabilities, which clients
// usually ask for first, is left out: only what every server of version 2
// has is used, servers keep no state between requests, and a server of an older
// version answers with what cannot be mistaken ([ErrOldProtocol]). Only if the
// server redirects is the advertisement asked for, because by git's rules that
// is the one request which may be redirected: it says where to ask.
//
// No Authorization, cookies or other headers of anybody's are sent.
//
// The formats are those of gitprotocol-common(5), gitprotocol-v2(5) and
// gitprotocol-http(5).
//
// What it does not do:
//
//   - object names by SHA-256, protocol versions 0 and 1, dumb HTTP
//   - authentication, proxies and certificates, beyond what the transport does
//   - repeat requests
//   - negotiate: it always asks for a whole commit, without history
package gitwire
