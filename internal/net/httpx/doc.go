// Package httpx is the HTTP client for everything that uses HTTP in Cotter. [Client.Send] makes one attempt
// and follows its redirects, [Client.RoundTrip] does the same as an [http.RoundTripper], [Client.Do] makes
// attempts until one succeeds, and [Client.Read] returns the answer with its whole body. A [Download] writes a
// large body to a file, and can continue an interrupted transfer. [Retry.Do] repeats operations of others.
//
// An error is the context's error, one of the types of this package, or an error of the caller's functions
// and files. Messages have no credentials, no query values of URLs, and no text from a server that could
// control a terminal. They do not contain the URL that the caller requested, only those that it was
// redirected to. Cookies, the redirect policy and the Timeout of [Client].HTTP are not used.
package httpx
