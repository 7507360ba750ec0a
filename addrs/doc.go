// Package addrs parses and renders the addresses of module and provider installation: registry hostnames,
// module source addresses, the path of a module in the tree of calls, provider addresses, and platforms. It
// performs no I/O.
//
// The grammar is that of OpenTofu 1.12, including its quirks, because an address is an identity: stock tools
// that read modules.json and the lock must derive the same text. A source address is the first of these that
// matches: a local path, which begins with ./ or ../ (or the same in backslashes); a registry address,
// [HOST/]NAMESPACE/NAME/SYSTEM[//SUBDIR]; or a remote package, which is a URL with any scheme, or a shorthand for GitHub,
// Bitbucket, GCS, S3, git over ssh (git@host:path) or an absolute path, with or without a forced getter
// (git::...) and //SUBDIR. URLs are not normalized, and it is not checked whether they can be fetched.
//
// It is stricter than the stock tools about these, which are errors:
//
//   - a subdirectory outside of its package, also in the forms ".." and "///x";
//   - a path with an element "." or "..", in any escaping, or with a control character, and an address of S3 or
//     Google Cloud Storage in a form that these do not document; see [Location];
//   - a registry host with a negative port or an empty label, or that is not valid UTF-8.
//
// bitbucket.org/OWNER/REPO becomes git::https without a request: Bitbucket has only git since 2020.
//
// A remote address can contain a password or a token. The String methods return the exact text, for fetching
// and for modules.json. For display, use [Redact] or a ForDisplay method; packages fmt and log/slog print the
// types in this form too, and so do the errors of this package. All types marshal as text, without
// credentials. Unmarshaling it returns the same value, and the empty text is the zero value.
package addrs
