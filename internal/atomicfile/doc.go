// Package atomicfile replaces a file's content as a whole: after a crash at
// any point the file holds either the old bytes or the new ones, and no one
// ever reads a part.
//
//   - The new bytes go into a temporary file of a random name in the same
//     directory, created with O_EXCL, which is synced and then renamed over
//     the target; then the directory is synced.
//   - The target may be absent or a regular file. A symbolic link, directory,
//     device or pipe in its place is refused with [ErrIrregular], never
//     followed or replaced.
//   - An existing file keeps its permission bits; a new one gets 0644,
//     whatever the umask. Owner, ACLs and hard links are not kept.
//   - With [Options.Swap] the target must still hold the bytes that the caller
//     read, or be absent still, right before the rename; else the error is
//     [ErrChanged]. Between that look and the rename another writer has
//     microseconds left; writers that need more take a lock.
//   - On an error no temporary file stays. After a crash one may.
//
// Errors are *fs.PathError with the target's name.
package atomicfile
