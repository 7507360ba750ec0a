// Package lockhistory finds earlier versions of a project's lock in the history of the git
// repository around it.
//
// Stock tools drop module blocks when they rewrite a lock. If such a lock was committed, the blocks
// are only in the history. [Find] reads it from HEAD along the first parents. A merge counts as a
// change of the lock if it differs from its first parent. Renamed files and directories are not
// followed. These versions are passed over: those that do not parse, such as a committed merge
// conflict, those that are too large to be locks, and those without the blocks.
//
// The repository is used only as package gitowner allows, and only git's plumbing commands are run
// in it; see [gitexec.WorkTree]. Nothing is fetched. At most [MaxCommits] changes of the lock are
// read, for a limited time.
//
// The history is as trustworthy as the lock itself: whoever can change one can change the other.
// So entries from it count as entries that nothing has confirmed.
package lockhistory
