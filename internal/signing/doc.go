// Package signing checks what registries publish to prove the packages of providers:
// a document with the SHA-256 sums of the archives of all platforms, and its detached
// OpenPGP signature.
//
// # Signatures
//
// [Check] accepts a binary detached signature by one of the keys that a registry
// offers. As in stock tools, the registry of a provider decides which keys these are:
// a key proves that its owner signed the document, not who the owner is.
//
//   - Keys are tried one by one. One that cannot be read does not hide another.
//   - A file may have several signatures, of which one has to be good.
//   - A key or a signature that has expired is accepted with a warning, unless
//     [Options].RefuseExpired is set. Registries often offer an old copy of a key
//     whose owner has extended its life.
//   - A revoked key is refused, even if another copy of it is not revoked.
//   - The hash SHA-1, RSA keys below 2048 bits and DSA keys are refused unless
//     [Options].AllowWeak is set; stock tools accept them. MD5 is always refused.
//
// # Sums
//
// [ParseSums] reads the format of sha256sum: lines of 64 hexadecimal digits, a
// space, a space or an asterisk, and a name. Blank lines are skipped, CRLF and
// upper-case digits are accepted, and the last line need not end. Other lines are
// tolerated, as in stock tools, but then the document says nothing about other
// files than the one that is checked; see [Sums.All].
package signing
