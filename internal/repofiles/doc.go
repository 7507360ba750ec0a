// Package repofiles opens the files that the functions of a user's own configuration may read.
//
// The author of a pull request can write file("/proc/self/environ") into the source of a module
// call. Cotter would then send the tokens in that file to a server of the author's choice. So the
// functions can read only files of the repository that the root module is in.
//
// # The directory
//
// [Find] returns the directory that holds these files: the nearest directory with an entry named
// .git, at or above the root module. It is the root module's own directory instead if
//
//   - there is no such directory,
//   - git would not use the repository, because it belongs to another user, or
//   - that directory is the user's home directory or above it, as with a repository of dotfiles.
//
// If the root module's own directory is the user's home directory or above it, names that begin
// with a dot cannot be opened either, because programs keep credentials there. If it is the root
// of a file system or inside version control metadata, no file can be opened.
//
// # Names
//
// A name is absolute or relative to the root module's directory. Symbolic links are followed one
// component at a time. The path that they result in counts, so a link may point anywhere within
// the directory, also by an absolute target. These are refused with an [*eval.RefusedError]:
//
//   - everything outside of the directory. Nothing outside is looked at, so the result does not
//     depend on whether a file exists there;
//   - version control metadata, such as .git, at any depth and in any spelling
//     ([pathsafe.IsVersionControl]), and directories with another name that are git repositories.
//     Checkouts keep tokens there.
//
// [Dir.Open] opens only regular files, and never waits for a pipe. Each directory on the way is
// held open, and is compared with the entry that was checked. So replacing a directory by a link
// at the same time does not help.
package repofiles
