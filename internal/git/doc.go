// Package git says what a client of git repositories does here, and has what all
// clients share: names of objects and refs, the objects of a commit, and the
// meaning of failures.
//
// A [Repository] is reached by one of these:
//
//   - package gitexec: the git that is installed, with the user's configuration;
//   - package inprocess: by protocol version 2 over HTTP for what needs nothing of
//     the user's configuration, and by go-git for everything else: ssh, git://,
//     repositories of this machine, and servers that speak an older version.
//
// Both give the same commits and objects. Which one is used for an address is for
// the caller to decide.
//
// Which ref a name means is decided by [Candidates] alone. The rule is git's own,
// by gitrevisions(7), as "git fetch URL NAME" applies it to the refs of a server:
// of the full names that a short name may stand for, the first that the
// repository has.
package git
