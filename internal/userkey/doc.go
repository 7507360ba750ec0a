// Package userkey proves that a file was written by this user.
//
// A repository can contain files at any place below the project directory, and a
// restored CI cache can contain files at any place below the cache. Files that a
// run leaves for later runs to rely on therefore have a message authentication
// code (HMAC-SHA-256) under a key that only this user has:
//
//   - [Key.Seal] puts a line with the code before a file's content, and
//     [Key.Open] removes it, or fails with [ErrUnproven].
//   - [Key.Name] derives a file name from a statement. A file of that name, even
//     an empty one, can be made only with the key.
//
// The code also covers a purpose, so a file proves nothing at another place.
// Callers make the project's directory a part of it.
//
// The key is 32 random bytes in the file "key" of the user's state directory,
// readable by the user alone (mode 0600) and made on first use. A secret text,
// such as one that a CI system stores, can be used instead ([FromSecret]). Without
// either, a random key of the process proves nothing to later processes ([Random]).
//
// The package does not encrypt, and does not protect against programs that run as
// the same user, since they can read the key.
package userkey
