// Package atomicfile reads and replaces small files atomically: after a crash at any
// point a file holds either the old bytes or the new ones, and no process reads a
// mixture.
//
//   - The new bytes go into a temporary file of a random name in the same
//     directory, created with O_EXCL, which is synced and then renamed to
//     the target; then the directory is synced. [Prepare] does the first half,
//     after which only the rename can fail, and [Pending.Commit] the second.
//   - The target may be absent or a regular file. A symbolic link, directory,
//     device or pipe in its place is refused with [ErrIrregular], never
//     followed or replaced. [Read] refuses the same. It also has a size limit and
//     does not block on pipes.
//   - An existing file keeps its permission bits; a new one gets 0644,
//     whatever the umask. Owner, ACLs and hard links are not kept.
//   - With [Options.Swap] the target must still hold the bytes that the caller
//     read, or still be absent, right before the rename; else the error is
//     [ErrChanged]. A change in the microseconds between that comparison and the
//     rename goes unnoticed; writers that need more take a lock.
//   - An error leaves no temporary file behind. A crash may leave one: [Sweep]
//     removes those of one target.
//
// Errors are *fs.PathError with the target's name.
package atomicfile
