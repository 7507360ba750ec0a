// Package gitdir reads what has to be known of a git repository before git is run in it: where it is,
// whether the user may use it, and the settings in a configuration file.
//
// Other users can create repositories in directories such as /tmp, whose configuration can name programs
// to run. [Check] is git's rule against that: the checkout, .git and the git directory must belong to
// the user (or to the one of SUDO_UID), unless safe.directory allows it (git-config(1)). It reads nothing
// of the repository. Unlike git, it ignores the value ".", and knows "/*" and links in every version.
// [Find] also looks above mount points and GIT_CEILING_DIRECTORIES.
package gitdir
