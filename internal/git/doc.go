// Package git defines the interface of a client of git repositories, and contains what all clients
// share. Package gitexec runs the installed git with the user's configuration; package inprocess uses
// protocol version 2 where that is not needed, or where there is no git.
//
// [Candidates] alone defines which ref a name means, by the rule of gitrevisions(7). [FindReach] alone
// decides whether a commit is in the history of a branch or a tag: servers also send commits of forks,
// of pull requests, and those that were replaced. A chain of parents, whose commits were compared with
// their names, must connect a tip with it; times in commits are never used. If a limit is exceeded, or
// the repository is shallow, the answer is unknown.
package git
