// Package httpapi asks http services the way that all registry protocols need
// it: bounded answers, retries, and credentials that stay where they belong.
//
// What it holds to:
//
//   - Redirects are followed up to a number, to https only. A request that
//     began on plain http on a loopback address may stay there.
//   - A redirect to another origin (scheme, host or port) loses every header
//     but those that say what is wanted, and does not get them back where it
//     returns. net/http alone keeps credentials across ports and from https to
//     http, and custom headers everywhere. No redirect sends a Referer.
//   - A redirect does not lead from elsewhere to this machine, nor to link-local
//     addresses; see package reach.
//   - Cookies are not kept.
//   - A download must keep to a least rate; see package minrate.
//   - A body beyond its limit is an error, and so is one that ends early.
//   - What a server says is never repeated raw; see [Printable].
//   - 429 and 5xx except 501 are asked again, as are lost connections and
//     bodies cut short; with random, growing waits or those that Retry-After
//     asks for. A server that asks for more than [MaxRetryAfter] is not asked
//     again. All requests with the same [Client].Pauses keep to a pause that one
//     was asked for.
//
// It does not check which addresses a host name resolves to.
package httpapi
