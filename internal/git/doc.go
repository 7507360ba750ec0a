// Package git defines the interface of a client of git repositories, and contains what all
// clients share: names of objects and refs, the objects of a commit, and the meaning of error
// messages.
//
// These packages implement [Repository]:
//
//   - package gitexec, which runs the installed git with the user's configuration;
//   - package inprocess, which uses protocol version 2 over HTTP for repositories that do not
//     need the user's configuration. For everything else it uses go-git: ssh, git://,
//     repositories on this machine, and servers that only support an older version.
//
// Both return the same commits and objects. The caller decides which package to use for an
// address.
//
// [Candidates] alone defines which ref a name means. It follows git's own rule, which
// gitrevisions(7) describes, as "git fetch URL NAME" applies it to the refs of a server: a
// short name can stand for several full names, and means the first of them that the repository
// has.
package git
