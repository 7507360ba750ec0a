// Package addrs parses and renders the addresses of module and provider installation:
// registry hostnames, module source addresses of all three kinds (local path, registry,
// remote package), the path of a module in the tree of calls, provider addresses, and
// platforms.
//
// The grammar is that of OpenTofu 1.12, including its quirks, because an address is an
// identity. It is written to modules.json and the lock, and stock tools that read these
// files must derive the same text. A source address is parsed as the first of these kinds
// that matches:
//
//   - A local path begins with ./ or ../ (or with the same in backslashes). Any text after
//     that is valid.
//   - A registry address has the form [HOST/]NAMESPACE/NAME/SYSTEM[//SUBDIR].
//   - A remote package is a URL with any scheme, which is not changed. Or it is a
//     shorthand, which is rewritten to a URL: for GitHub, git over ssh (git@host:path),
//     Bitbucket, GCS or S3, or an absolute file path. Each can be preceded by a forced
//     getter (git::...) and followed by //SUBDIR.
//
// # Stricter than the stock tools
//
// Everything that the stock parser accepts is accepted with the same result, with these
// exceptions:
//
//   - A subdirectory whose cleaned form is ".." or absolute (from "///x") is an error,
//     because it is a directory outside of the package. Stock tools reject only those that
//     begin with "../".
//   - A path of a URL with an element "." or "..", in any escaping, or with a control character is
//     an error, because clients and servers differ in which place that is. So is an address of
//     S3 or Google Cloud Storage in a form that these do not document. See [Location].
//   - A negative port in a registry host is an error. So are two kinds of host whose
//     Source string could not be parsed again: one with an empty label after the mapping
//     of international names (a full-width dot next to a dot), and one that is not valid
//     UTF-8, for which the stock parser panics.
//   - bitbucket.org/OWNER/REPO[/SUBDIR] becomes git::https without a network request.
//     Stock tools send one to check for a Mercurial repository, but Bitbucket has hosted
//     only git since 2020.
//
// # What this package does not do
//
//   - It performs no I/O: it does not resolve names, follow links, or check whether
//     directories exist.
//   - It does not check whether a remote package can be fetched. "foo:bar" is a remote
//     address with the getter "foo", for which fetching fails.
//   - It does not normalize the URL of a remote package. Addresses that differ in case, port or
//     the order of the query are different packages, even if their [Location] is the same.
//   - A subdirectory is a lexical path with forward slashes that does not leave its
//     package. Slashes at its beginning, as in "REPO///modules/a", are kept as stock tools keep
//     them, and mean nothing. Callers that open it must handle symbolic links, and backslashes on
//     Windows.
//   - It does not expand globs in a subdirectory.
//
// # Secrets
//
// A remote address can contain a password or a token, because users write them there. The
// String methods return the exact text, for fetching and for modules.json. For display, use
// [Redact], [ModulePackage.Redacted] or a ForDisplay method; packages fmt and log/slog print the
// types in this form too, with all verbs and handlers. The errors of this package contain only
// redacted addresses in their messages.
//
// # Text and JSON
//
// All types marshal as text, so that JSON has addresses as strings and as keys of maps.
// Unmarshaling the text returns the same value, and the empty text is the zero value. Programs store
// this text, so it never has credentials: addresses of remote packages lose them. Unmarshaling
// parses with the default registry of OpenTofu. [Hostname] is a plain string type, which is not
// checked when it is unmarshaled; use [ParseHostname].
package addrs
