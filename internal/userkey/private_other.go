//go:build !unix

package userkey

import "io/fs"

// isPrivate reports whether only this user has access to a file. File modes do not
// say so on this system. The file is private because it is in the user's profile.
func isPrivate(fs.FileInfo) bool { return true }
