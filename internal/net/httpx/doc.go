// Package httpx is the HTTP client for everything that uses HTTP in Cotter. [Client.Send] makes one attempt
// and follows its redirects, [Client.RoundTrip] does the same as an [http.RoundTripper], and [Client.Do] makes
// attempts until one succeeds. A [Document] is a text that is read as a value. A [Download] writes a large body
// to a file, and can continue an interrupted transfer. A [Login] repeats a request with renewed credentials, and
// [Retry.Do] operations of others.
//
// An error is the context's error, one of the types of this package, or an error of the caller's functions
// and files. Messages have no credentials, no query values of URLs, and no text from a server that could
// control a terminal. They do not contain the URL that the caller requested, only those that it was
// redirected to. Cookies, the redirect policy and the Timeout of [Client].HTTP are not used.
package httpx
