// Package httpx is the HTTP client for everything that uses HTTP in Cotter: registries,
// discovery, archives, OCI registries, git and clouds. A caller fills in a [Client] and uses one
// of four methods. Do and Read are based on Send:
//
//   - [Client.Send] makes one attempt and follows its redirects.
//   - [Client.RoundTrip] does the same as an [http.RoundTripper], for libraries that have their
//     own client. [Retry.Do] repeats the operations of such libraries.
//   - [Client.Do] makes attempts until one succeeds, and passes the answer to a function.
//   - [Client.Read] returns the answer with its whole body.
//
// A [Download] writes a large body to a file, with a limit, a hash and progress. It can continue an
// interrupted transfer.
//
// # Redirects
//
//   - At most [Client].MaxRedirects are followed, and only for GET and HEAD. If it is 0, the
//     caller gets redirecting answers unchanged.
//   - Redirects are followed only to http and https URLs, and never from https to http.
//     Credentials in the new URL are dropped. [Client].Refuse may restrict this further: with
//     [InsecureRedirect], http is followed only from this machine to this machine, and URLs with
//     credentials are refused.
//   - A server elsewhere must not redirect to this machine, to link-local addresses and similar
//     ones; see the next section.
//   - A [Rule] in the request's context may deny URLs. It is applied to every URL before it is
//     requested: the first one and the targets of redirects.
//   - If the origin (scheme, host and port) changes, all headers are dropped except Accept,
//     Accept-Encoding, User-Agent, Range and If-Range. Dropped headers are not sent again if a later
//     redirect returns to the first origin. A Referer is never sent.
//   - A refused redirect is a [*RedirectError], which has both URLs.
//
// # Hosts that others name
//
// A server or a package must not name hosts that only have a meaning on this machine; see package
// hostname. [PointedTo] marks the requests to what they name, and redirects do so themselves. Such a
// URL is judged by its text, and then by the address to which its name resolves: a connection to a
// refused address is closed before anything is sent. Each limit has its own connections, so a request
// never uses one that was opened under another limit. Hosts and ports of [WithNames] are allowed. An
// origin is judged by its text alone, so that the outcome does not depend on what was requested before.
//
// Through a proxy, only the text is judged, because the proxy resolves names. The same is true if the
// transport of [Client].HTTP is not an [*http.Transport]. What its own DialContext returns is judged by
// its remote address.
//
// Cookies are not kept. The redirect policy, the cookie jar and the Timeout of [Client].HTTP are
// not used.
//
// # Retries
//
// These failures are retried: lost connections, truncated bodies, transfers that are too slow,
// the statuses 429 and 5xx except 501, and a [*TemporaryError] of the caller's functions. These
// are not: unknown host names, untrusted certificates, refused redirects and all other statuses.
// The wait before a retry is random and grows, unless the server asks for a pause with
// Retry-After. A pause applies to all requests to that host with the same [Retry].Pauses. Retries
// end if a server asks for a pause of more than one minute, or if the waits exceed five minutes
// in total.
//
// [Download.Resume] requests the missing part of a content with Range, and with If-Range so that the
// server sends the whole content if it has changed. The content is identified by a strong ETag or by
// Last-Modified. Without either, an interrupted transfer starts again. Its retries are counted from
// zero again whenever it has advanced.
//
// # Slow servers
//
// [Client].AttemptTimeout limits one attempt including its body, and [Client].TotalTimeout limits
// a request with all attempts and waits. With [Client].Floor, an answer must begin within a
// window of time and then keep a minimum rate; see [Floor].
//
// # Errors
//
// An error is the context's error, one of [*NetworkError], [*StatusError], [*RedirectError],
// [*DeniedError], [*TooLargeError], [*HeaderError] and [ErrTooSlow], or an error of the caller's
// functions and files.
// Messages do not contain credentials, query values of URLs, or text from a server that could
// control a terminal. They do not contain the URL that the caller requested, only those that it
// was redirected to.
package httpx
