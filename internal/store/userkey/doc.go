// Package userkey proves that a file was written by this user. A repository can contain files at any
// place below the project directory, and a restored CI cache at any place below the cache. So a file
// that later runs rely on has a message authentication code (HMAC-SHA-256) with a key that only this
// user has. The code also covers a purpose, so a file proves nothing in another place.
//
// The key is a file of the user's state directory with mode 0600, or derived from a secret of a CI
// system. It does not protect against programs that run as the same user, because they can read it.
package userkey
