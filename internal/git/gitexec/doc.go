// Package gitexec runs the system's git so that neither a repository nor an
// address can make it do more than what was asked.
//
// A command runs in one of two phases:
//
//   - Reading (the default): the object store of a local repository and nothing
//     else. Global and system configuration are off and no protocol is allowed,
//     so nothing can be fetched lazily.
//   - Network ([Command.Network] is set): the user's own configuration counts,
//     because credential helpers, url.insteadOf, http.extraHeader, proxies and
//     ssh settings live there. Keys of it that run programs or change what is
//     accepted are overridden on the command line. Redirects by http are not
//     followed: the caller judges them. Without a repository to work in, none is
//     looked for around the working directory.
//
// In both phases there are no hooks, no fsmonitor, no background maintenance,
// no replacement objects, no inherited GIT_DIR and the like, no prompts (unless
// [Git.Interactive]), no standard input, no controlling terminal, and no
// localised messages. A cancelled command is killed with everything it started.
//
// A [Repository] fetches single commits that way, into a bare repository of its own
// or one that is kept in a cache, and reads their objects by git cat-file. What a
// cache holds is not trusted: a repository there is used only if it holds just
// what this package and a fetch put there, and objects are checked as they are
// read. Redirects are judged by package httpx, and git is run again with the new
// address. Credentials are in git's environment, from which a credential helper
// reads them: neither in arguments nor on disk.
//
// [Git.HTTPSettings] says whether requests by http can be made without git, for
// all that the user's configuration and environment say about them.
//
// What it does not do:
//
//   - It trusts the git program it finds, the user's configuration, and that of
//     [Command.Repo].
//   - It does not check arguments: values from outside pass [CheckURL],
//     [CheckRef] or [IsObjectID] first, and stand behind "--end-of-options".
//   - It bounds neither the objects that git downloads nor git's own memory.
package gitexec
