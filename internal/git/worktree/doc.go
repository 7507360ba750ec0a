// Package worktree answers questions about a checkout of a git repository: what has changed in it
// since a revision, what a file was in earlier commits, and which commit it has checked out.
//
// A [Tree] is the user's own checkout, in which Cotter runs. Package gitdir finds it and checks its
// owner, before git or this package reads anything in it. Its configuration and its attributes can
// name programs: filters, textconv, external diffs, a pager, aliases. Only such subcommands of git
// are run in it that run none of them, and files are compared without git (see
// [Tree.ChangedSince]). Nothing is fetched.
//
// # Earlier locks
//
// Stock tools drop module blocks when they rewrite a project's lock. If such a lock was committed,
// the blocks are only in the history. [FindLock] reads it from HEAD along the first parents. A merge
// counts as a change of the lock if it differs from its first parent. Renamed files and directories
// are not followed. These versions are passed over: those that do not parse, such as a committed
// merge conflict, those that are too large to be locks, and those without the blocks. At most
// [MaxLockCommits] changes of the lock are read, for a limited time.
//
// The history is as trustworthy as the lock itself: anyone who can change one can change the other.
// So entries from it count as entries that nothing has confirmed.
//
// # Installed clones
//
// [HeadCommit] reads which commit a clone has checked out that a stock tool has installed. It runs
// no git command, because a clone in a project can come from anywhere. The answer is a hint: nothing
// proves that the files of the clone are those of the commit. Only a directory .git is read, not the
// file .git of a submodule or an additional working tree. Symbolic links are not followed. Refs in
// the reftable format are not read.
package worktree
