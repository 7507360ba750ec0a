// Package git defines the interface of a client of git repositories, and contains what all
// clients share: names of objects and refs, the objects of a commit, and the meaning of error
// messages.
//
// These packages implement [Repository]:
//
//   - package gitexec, which runs the installed git with the user's configuration;
//   - package inprocess, which uses protocol version 2 for repositories that do not need the user's
//     configuration, and for all on machines without git.
//
// Both return the same commits and objects. The caller decides which package to use for an
// address.
//
// # Reachable commits
//
// A server can send commits that are not part of its repository: those of forks and pull
// requests, and those that were replaced. [FindReach] alone decides whether a commit is in the
// history of a branch or a tag; the clients only fetch histories for it.
//
//   - Only refs/heads/ and refs/tags/ count. All other refs (pull and merge requests, changes,
//     notes, a detached HEAD) do not.
//   - A commit is reachable if a tip is the commit or points to it, or if a chain of parents
//     connects a tip with it. All commits of the chain were compared with their names. The list
//     of refs is the server's own statement.
//   - A commit is unreachable if the whole history of all branches and tags was read without
//     meeting it, or if the server says that it does not have the commit.
//   - In all other cases it is unknown: if a limit is exceeded, if the repository is shallow, or
//     if the server does not send histories. Times in commits are never used.
//
// Clients that list what they have (packages gitwire and inprocess) list the wanted commits, so
// that the server leaves out what is in their history. The installed git requests the newest
// 100 and then 3,000 generations. The refs that the commits were locked for are requested
// first, then the default branch, then all branches and tags, then the whole history. Trees and
// files are left out if the server supports that; a server that refuses the filter tree:0 is
// asked with blob:none and then without a filter. Each transfer counts towards the limits.
//
// # Names of refs
//
// [Candidates] alone defines which ref a name means. It follows git's own rule, which
// gitrevisions(7) describes, as "git fetch URL NAME" applies it to the refs of a server: a
// short name can stand for several full names, and means the first of them that the repository
// has.
package git
