//go:build !unix

package userkey

import "io/fs"

// isPrivate always returns true. File modes do not show the access rights on this system, but the
// file is private because it is in the user's profile.
func isPrivate(fs.FileInfo) bool { return true }
