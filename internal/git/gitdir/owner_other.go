//go:build !unix && !windows

package gitdir

// ownedByUser returns false: on these systems a repository needs safe.directory.
func ownedByUser(string, []string) (own bool, owner string) { return false, "" }
