// Package userkey proves that a file was written by this user.
//
// A repository can bring files to any place below the project directory, and a
// restored CI cache can bring files to any place below the cache. Files that an
// earlier run left for later ones, and that a later one acts upon, therefore
// carry a message authentication code (HMAC-SHA-256) under a key that only
// this user has:
//
//   - [Key.Seal] puts a line with the code in front of a file's content, and
//     [Key.Open] takes it off again or fails with [ErrUnproven].
//   - [Key.Name] derives a file name from a statement. Whoever does not have the
//     key cannot make a file of that name, so an empty file is proof enough.
//
// Both take a purpose, which is part of what the code covers: a file is no proof
// in another place. Callers put the project's directory into it.
//
// The key is 32 random bytes in the file "key" of the user's state directory,
// readable by the user alone (mode 0600), made on first use. A secret text, such
// as a CI system keeps, can take its place ([FromSecret]). Without either, a
// random key of the process proves nothing to later processes ([Random]).
//
// It does not encrypt, and does not protect against programs that run as the
// same user: those can read the key.
package userkey
