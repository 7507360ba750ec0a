// Package gitdir reads what has to be known of a git repository before git is run in it: where it is,
// whether the user may use it, and the settings in a configuration file. It runs no program.
//
// [Find] finds the repository that contains a directory. [ReadPointer] reads a file .git that names
// the git directory. [ParseConfig] parses a file in git's configuration format: it reads only that
// file, and refuses what git would interpret by guessing. The parser of go-git is not used, because
// it does not terminate on some input.
//
// A directory such as /tmp can be written to by other users, and one of them can create a
// repository there. Git would find it from every directory below, and its configuration can name
// programs to run. So git uses a repository only if it belongs to the user, or if the user or the
// administrator allows it with safe.directory (git-config(1)). [Check] is that rule. It reads nothing
// of the repository, so it must come before every other use of a repository that [Find] returns.
//
// # Owner
//
// These must belong to the user: the file .git if it is a file, the top directory of the
// checkout, and the git directory. The owner of a symbolic link counts, not that of its target.
// Root may also use what belongs to the user that SUDO_UID names.
//
// On Windows, the owner must be the user of the process, or the group Administrators if the user
// is a member of it. A file system without owners, such as FAT or some network shares, needs
// safe.directory. So does a home directory that belongs to the system.
//
// # safe.directory
//
// If the owner is another user, the values of safe.directory are read in git's order from the
// system's configuration, from the user's, and from GIT_CONFIG_COUNT and GIT_CONFIG_PARAMETERS
// (git -c). GIT_CONFIG_NOSYSTEM, GIT_CONFIG_SYSTEM and GIT_CONFIG_GLOBAL have their usual
// meaning. The repository's own configuration is never read. A value can be:
//
//   - the absolute path of the top directory of the checkout, or of a link to it. It may begin
//     with "~/", "~USER/" or "%(prefix)/".
//   - such a path with a final "/*", which allows all repositories below that directory
//   - "*", which allows all repositories
//   - empty, which discards all values before it
//
// # Differences from git
//
//   - The git program is not needed. The system's configuration is etc/gitconfig in the
//     directory above the one that contains git, or otherwise /etc/gitconfig. A git with another
//     place for it needs GIT_CONFIG_SYSTEM. "%(prefix)" is that directory above git's.
//   - Files named by include.path are read. Those of includeIf are not: git cannot evaluate most
//     conditions either before it has opened the repository.
//   - The value "." has no effect, because it depends on the directory in which git was started.
//   - "/*" and links in values are supported even if the installed git is too old for them.
//   - If the configuration cannot be read, the repository is refused.
//   - Find passes over neither a mount point nor a directory in GIT_CEILING_DIRECTORIES as git
//     does: it also looks above them. The owner is checked there too.
package gitdir
