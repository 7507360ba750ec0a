//go:build !unix

package userkey

import "io/fs"

// isPrivate reports whether only this user has access to a file. Elsewhere than
// on Unix that is a matter of the directory, which is in the user's profile.
func isPrivate(fs.FileInfo) bool { return true }
