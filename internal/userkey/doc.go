// Package userkey proves that a file was written by this user.
//
// A repository can contain files at any place below the project directory, and a restored CI
// cache can contain files at any place below the cache. So if later runs rely on a file, it has a
// message authentication code (HMAC-SHA-256) made with a key that only this user has:
//
//   - [Key.Seal] puts a line with the code before a file's content. [Key.Open] verifies and
//     removes the line, or fails with [ErrUnproven].
//   - [Key.Name] derives a file name from a statement. Only someone with the key can create a
//     file of that name, even an empty one.
//
// The code also covers a purpose, so a file proves nothing in another place. Callers include the
// project's directory in the purpose.
//
// The key is 32 random bytes in the file "key" of the user's state directory. The file is created
// on first use and readable only by the user (mode 0600). The directory must comply with
// [pathsafe.CheckOwners], so that no other user can exchange the file. A secret text, such as one that a CI
// system stores, can be used instead ([FromSecret]). Without either, a random key of the process
// is used, which proves nothing to later processes ([Random]).
//
// The package does not encrypt anything. It does not protect against programs that run as the
// same user, because they can read the key.
package userkey
