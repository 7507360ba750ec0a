// Package hg fetches module packages from Mercurial repositories with the installed hg, for
// [getmodules.Fetcher].Getters:
//
//	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{"hg": hg.Getter{}}}
//
// An address has the form hg::URL, with the scheme https, http or ssh, or file in the user's own
// configuration. The argument rev is a changeset, tag, bookmark or branch; the default is the branch
// "default", or else the tip. The server resolves it, and the 40 digits of the changeset become the package's
// revision. All other arguments are passed to the server. A fragment is refused, because hg would take it for
// a branch.
//
// go-getter's getter is not used: it passes passwords in arguments, which every user can read, may prompt,
// lets the user's extensions and filters change the files, and does not report the changeset. Here the URL is
// in the configuration of a private repository, and the arguments have only the name of the remote and a
// checked revision. The history up to the changeset is pulled, because Mercurial cannot transfer less, and no
// working copy is created.
//
// The pull uses the user's configuration, extensions and hooks, except for extensions that keep file contents
// elsewhere. The files are then read without it, so they are the same on every machine. The repository cannot
// bring its own configuration, and subrepositories are left out. hg has no terminal and no standard input,
// and ends with the context, like all processes that it started. It follows HTTP redirects by its own rules.
// [getmodules.Limits] limits the stored history and the files, but not hg's memory.
package hg
