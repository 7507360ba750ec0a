// Package hg fetches module packages from Mercurial repositories with the installed hg,
// for [getmodules.Fetcher].Getters:
//
//	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{"hg": hg.Getter{}}}
//
// # Addresses
//
// hg::URL with the scheme https, http or ssh, or file in the user's own configuration.
// The argument rev is a changeset, tag, bookmark or branch. The default is the branch
// "default", or the tip of a repository without that branch. The server decides what
// a name means, and the 40 digits of the changeset become the package's revision. All
// other arguments are passed to the server. A fragment is refused: hg would take it
// for a branch.
//
// # How hg is run
//
// go-getter has a getter for Mercurial, which is not used: it passes passwords in
// arguments, where every user of the machine can read them. It may prompt on the
// terminal, it lets the user's extensions and filters change the files, and it does
// not report which changeset it fetched.
//
// This package writes the URL and its credentials into the configuration file of a
// private repository. The arguments of hg contain only the name of that file and, after
// "--rev=", a revision that was checked. The history up to the changeset is pulled,
// because Mercurial cannot transfer less; no working copy is made.
//
// The pull uses the user's own configuration, which has certificates, proxies, ssh
// settings and credentials. That includes extensions and hooks, except extensions that
// keep file contents elsewhere. The files are then read without the user's
// configuration, so they are the same on every machine. The fetched repository cannot
// bring configuration. Subrepositories are left out.
//
// hg has no terminal and no standard input, so it cannot prompt. Cancelling ends hg and
// all processes that it started.
//
// # Limits
//
// The stored history may have as many bytes as a download, and the files as many
// as a tree; see [getmodules.Limits]. The memory of hg is not limited. hg follows HTTP
// redirects by its own rules.
package hg
