// Package atomicfile reads and replaces small files atomically. After a crash at any point, a
// file has either the old or the new content, and no process reads a mixture.
//
//   - The new content is written to a temporary file with a random name in the same directory,
//     which is created with O_EXCL. The file is synced and renamed to the target, and then the
//     directory is synced. [Prepare] writes and syncs the file, so that only the rename can still
//     fail; [Pending.Commit] does the rest.
//   - The target must be a regular file or not exist. If it is a symbolic link, directory, device
//     or pipe, it is never followed or replaced, and the error is [ErrIrregular]. [Read] has the
//     same rule. It also has a size limit and does not block on pipes.
//   - An existing file keeps its permission bits. A new file gets 0644, regardless of the umask.
//     Owner, ACLs and hard links are not kept.
//   - With [Options.Swap], the target must still have the content that the caller has read, or
//     still not exist, right before the rename. Otherwise the error is [ErrChanged]. A change in
//     the microseconds between that comparison and the rename is not detected; writers that need
//     more must use a lock.
//   - An error leaves no temporary file behind. A crash may leave one; [Sweep] removes the
//     temporary files of one target.
//
// Errors are of type *fs.PathError with the target's name.
//
// # Steps
//
// Each change that Cotter makes on disk is a [Step] with a name, here and in the packages that move
// whole directories. Tests can stop a real process between any two steps, make any one of them
// fail, or record their order. Outside of tests there is no hook, and a step costs only an atomic
// load and a call.
package atomicfile
