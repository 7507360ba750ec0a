// Package httpx is the HTTP client of everything that talks HTTP here:
// registries, discovery, archives, OCI registries, git and clouds. A caller
// fills in a [Client] and uses one of four methods, each built on the one before:
//
//   - [Client.Send] makes one attempt and follows its redirects.
//   - [Client.RoundTrip] does the same as an [http.RoundTripper], for libraries
//     that bring their own client. Operations of such libraries are repeated by
//     [Retry.Do].
//   - [Client.Do] makes attempts until one succeeds, and passes the answer on.
//   - [Client.Read] returns the answer with its whole body.
//
// # Redirects
//
//   - At most [Client].MaxRedirects are followed, for GET and HEAD only. 0 means
//     that the caller gets answers that redirect as they are.
//   - Only http and https are followed, and never from https to http. Credentials
//     of the new URL are dropped. [Client].Refuse may tighten this: with
//     [InsecureRedirect], http is only followed from this machine to this
//     machine, and URLs with credentials are refused.
//   - A server elsewhere does not redirect to this machine, to link-local
//     addresses and the like; see package netguard. Names are not resolved.
//   - When the origin (scheme, host and port) changes, all headers are dropped but
//     Accept, Accept-Encoding, User-Agent, Range and If-Range. They are not sent again
//     if a later redirect returns to the first origin. A Referer is never sent.
//   - Whatever is refused is a [*RedirectError], which names both URLs.
//
// Cookies are not kept. The redirect policy and the cookie jar of [Client].HTTP are
// not used, nor is its Timeout.
//
// # Retries
//
// Lost connections, bodies that are cut short, transfers that are too slow, 429,
// and 5xx except 501 are retried; so is a [*TemporaryError] of the caller's.
// Unknown host names, certificates that are not trusted, refused redirects and all
// other statuses are not. The wait before a retry is random and grows, unless the
// server asks for a pause by Retry-After. A pause applies to all requests with the
// same [Retry].Pauses to that host. A pause above one minute, or waits of more than
// five minutes in total, end the retries.
//
// # Slow servers
//
// [Client].AttemptTimeout bounds one attempt including its body, and
// [Client].TotalTimeout a request with all attempts and waits. By [Client].Floor an
// answer must begin within a window of time and then keep to a minimum rate; see
// package minrate.
//
// # Errors
//
// An error is the context's, or one of [*NetworkError], [*StatusError],
// [*RedirectError], [*TooLargeError], [*HeaderError], [ErrTooSlow] and those of the
// caller's functions. Messages hold no credentials and no query values of URLs,
// and nothing from a server that could control a terminal. They do not repeat the
// URL that the caller asked for, only those that it was redirected to.
package httpx
