//go:build !unix

package userkey

import "io/fs"

// isPrivate reports whether only this user has access to a file. This system does
// not tell; the directory is in the user's profile.
func isPrivate(fs.FileInfo) bool { return true }
