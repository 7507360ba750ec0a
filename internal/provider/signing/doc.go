// Package signing checks the documents by which registries prove the packages of providers: the SHA-256
// sums of the archives of all platforms, and a detached OpenPGP signature by one of the keys that the
// registry offers. As in stock tools, a key proves that its owner signed, but not who the owner is.
//
// One good signature is enough. Expired keys are accepted with a warning unless [Options].RefuseExpired
// is set: registries often offer an old copy of a key whose validity was extended. Revoked keys are
// refused, even if another copy is not revoked. Unlike stock tools, SHA-1, DSA and RSA below 2048 bits
// are refused unless [Options].AllowWeak is set. MD5 is always refused.
package signing
