// Package signing checks the documents by which registries prove the packages of providers: a
// document with the SHA-256 sums of the archives of all platforms, and its detached OpenPGP
// signature.
//
// # Signatures
//
// [Check] accepts a binary detached signature by one of the keys that a registry offers. As in
// stock tools, the provider's registry decides which keys these are: a key proves that its owner
// signed the document, but not who the owner is.
//
//   - Keys are tried one by one. A key that cannot be read does not prevent the use of others.
//   - A file may have several signatures. One good signature is enough.
//   - A key or signature that has expired is accepted with a warning, unless
//     [Options].RefuseExpired is set. Registries often offer an old copy of a key whose owner has
//     extended its validity.
//   - A revoked key is refused, even if another copy of it is not revoked.
//   - Signatures with the hash SHA-1 and signatures by DSA keys or RSA keys below 2048 bits are
//     refused, unless [Options].AllowWeak is set. Stock tools accept them. MD5 is always refused.
//
// # Sums
//
// [ParseSums] reads the format of sha256sum: lines of 64 hexadecimal digits, a space, a space or
// an asterisk, and a name. Blank lines are skipped, CRLF and upper-case digits are accepted, and
// the last line need not end with a line feed. Malformed lines are tolerated, as in stock tools,
// but then the sums of other files are not used; see [Sums.All].
package signing
