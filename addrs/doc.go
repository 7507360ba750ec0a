// Package addrs parses and renders the addresses of module installation:
// registry hostnames, module source addresses of all three kinds (local path,
// registry, remote package), and the path of a module in the tree of calls.
//
// The grammar is that of OpenTofu 1.12, quirks included, because an address
// is an identity: it is written into modules.json and into the lock, and a
// stock binary that reads them must arrive at the same text. A source address
// is tried as, in this order,
//
//   - a local path, if it begins with ./ or ../ (or with the same in
//     backslashes), which always succeeds;
//   - a registry address, [HOST/]NAMESPACE/NAME/SYSTEM[//SUBDIR];
//   - a remote package: a URL with any scheme, taken verbatim; else a
//     shorthand for GitHub, git over ssh (git@host:path), Bitbucket, GCS or
//     S3, or an absolute file path, which is rewritten into a URL. Each may
//     have a forced getter in front (git::...) and a //SUBDIR behind.
//
// # Stricter than the stock tools
//
// Everything that the stock parser accepts is accepted with the same result,
// but for these:
//
//   - A subdirectory whose cleaned form is ".." or absolute (which "///x"
//     makes) is an error, since it selects a directory outside of the package.
//     Stock tools reject only what begins with "../".
//   - A negative port in a registry host is an error, and so are two kinds of
//     host whose Source string could not be read back: one with an empty label
//     after the mapping of international names (a full-width dot beside a dot),
//     and one that is not valid UTF-8, at which the stock parser crashes.
//   - bitbucket.org/OWNER/REPO[/SUBDIR] becomes git::https without the network
//     request by which stock tools ask whether the repository is a Mercurial
//     one, for Bitbucket has hosted nothing but git since 2020.
//
// # What this package does not do
//
//   - It performs no I/O: nothing here resolves a name, follows a link, or
//     looks whether a directory exists.
//   - It does not judge whether a remote package can be fetched. "foo:bar" is
//     a remote address with the getter "foo", and fails when it is fetched.
//   - It does not decode or normalise the URL of a remote package. Two
//     addresses that differ in case, port or the order of the query are two
//     packages.
//   - A subdirectory is a lexical path. It stays inside of its package as
//     text, with forward slashes; a symbolic link, or a backslash on Windows,
//     is for whoever opens it to deal with.
//   - It does not expand globs in a subdirectory.
//
// # Secrets
//
// A remote address may hold a password or a token, since users write them
// there. The String methods give the exact text, for fetching and for
// modules.json. Whatever is shown to people goes through [Redact],
// [ModulePackage.Redacted] or a ForDisplay method; the errors of this package
// already do so.
package addrs
