// Package worktree answers questions about a checkout of a git repository: what has changed in it since a
// revision, what its lock was in earlier commits, and which commit it has checked out.
//
// The configuration and the attributes of a checkout can name programs: filters, textconv, a pager,
// aliases. Git is only run in a [Tree], whose owner was checked, and in such a way that it runs none of
// them. Nothing is fetched. [HeadCommit] runs no git at all, because it
// reads clones that can come from anywhere; its answer is a hint.
package worktree
