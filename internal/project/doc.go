// Package project is the state of one project on disk: the modules directory
// (".terraform/modules"), the dependency lock beside the configuration, and what
// Cotter keeps there between runs. It says who may change them, how a change
// takes effect as a whole or not at all, and what an earlier run has left
// that a later one may rely on.
//
// It knows nothing of module calls, versions or hashes, and reads nothing inside
// the packages that it moves.
//
// # Files
//
// Stock tools know modules.json and one directory for each call of a module
// outside the project, named by the call's key. Beside them is ".cotter":
//
//	.cotter/lock       locked by the process that changes the directory
//	.cotter/stage/     packages on their way in, never read by others
//	.cotter/journal    a change that is being made; sealed
//	.cotter/retired/   what the change has replaced, until it is complete
//	.cotter/tree/      whole packages, of which calls reach parts by links
//	.cotter/sums/      the per-file sums of installed packages, by t1 hash
//	.cotter/lock.hcl   a copy of the lock as the last run left it; sealed
//
// # Proof
//
// Everything below the project directory can come from a repository. A sealed
// file counts only if this user wrote it for this project: it carries a code
// under the user's key (package userkey) that covers the content and the real
// path of the project directory and of the modules directory. Without that the
// file counts as absent, and a [Finding] says so. The other files prove
// themselves: packages and sums by their hashes, which are compared with the
// lock. modules.json is a hint. Irregular files in the place of ours are
// removed and never followed; files that are read have a limit.
//
// # A change
//
// [Project.Commit] makes a change in this order. A line is durable before the
// next one begins.
//
//  1. Staged packages, and the new lock, lock copy and manifest as temporary
//     files. All that can fail for want of space or permission fails here.
//  2. The journal: what will be moved where, and the lock as it was.
//  3. modules.json moves to .cotter/retired.
//  4. Packages: the old one moves to .cotter/retired, the new one to its place.
//  5. The lock is replaced, if it still has the bytes that were read.
//  6. The lock copy is replaced.
//  7. The new modules.json moves to its place: the change is complete.
//  8. The journal is removed; then .cotter/retired.
//
// # States
//
// Stock tools find modules by modules.json alone, so they see the old tree until
// step 3, "Module not installed" from there until step 7, and then the new
// tree: never a mixture.
//
//	state                          next Open          View (verify)      stock tools see
//	no journal                     -                  -                  what is installed
//	journal, no proof              removes it         ignores it         what is installed
//	journal, before step 3         undoes             Unfinished         the old tree
//	journal, steps 3 to 6          undoes             Unfinished         no modules
//	journal, after step 7          removes it         complete           the new tree
//	journal, and modules.json of   gives the change   Unfinished         what that program installed
//	another program                up, moves nothing
//
// To undo a change is to move everything back, the lock included if it still
// has the bytes that the change gave it. So a run that was killed has never
// happened; the package cache still has what it fetched. The same is done after
// an error in steps 3 to 7: lock, copy and manifest are as they were. An undo
// that is interrupted is done again by the next Open.
//
// # Locks
//
// Two locks serialise processes: one on the project directory, for the
// dependency lock, and one on .cotter/lock, for the modules directory, which
// TF_DATA_DIR can put anywhere. If directories cannot be locked, or another
// program keeps the lock on the project directory, replacing the dependency lock
// relies on the comparison in step 5 alone.
package project
